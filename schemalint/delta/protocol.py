"""Delta's protocol: the features that a table supports, and those that a declared state needs.

A feature is *supported* if it is in the protocol, and *enabled* (or active) if a property or the schema uses
it. Protocols are compared as sets of features, never as pairs of versions (PROTOCOL.md, "Table Features").
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from schemalint.base.values import Itself, frozen
from schemalint.base.values import field as value_field
from schemalint.delta import feature, properties
from schemalint.delta.datatype import TIMESTAMP_NTZ, VARIANT, Atomic, Identity, Struct, walk, walk_fields
from schemalint.delta.feature import FEATURES, TABLE_FEATURES_READER, TABLE_FEATURES_WRITER, SchemaTrigger
from schemalint.delta.invariants import has_invariant
from schemalint.delta.properties import IGNORE_DEFAULTS, VERSION_KEYS

DEFAULT_FEATURES: Final = frozenset({"appendOnly", "invariants"})
"""The features of a new table without further requests: protocol (1, 2), as measured on Delta 4.4.0."""

CLUSTERING: Final = frozenset({"clustering"})
"""The feature that ``CLUSTER BY`` adds; no property adds it (measured on Delta 4.4.0)."""


@frozen
class Protocol:
    """The ``protocol`` action of the log.

    Attributes:
        min_reader: ``minReaderVersion``.
        min_writer: ``minWriterVersion``.
        reader_features: ``readerFeatures``; empty if the action has no list.
        writer_features: ``writerFeatures``; empty if the action has no list.
        lists: Whether the action has a list of reader features, and one of writer features; None if unknown.
    """

    min_reader: int = 1
    min_writer: int = 2
    reader_features: frozenset[str] = frozenset()
    writer_features: frozenset[str] = frozenset()
    lists: tuple[bool, bool] | None = value_field(default=None, compare=False)

    @property
    def has_fitting_lists(self) -> bool:
        """Whether the action has exactly the lists that its versions require (PROTOCOL.md, "Protocol")."""
        required = (self.min_reader >= TABLE_FEATURES_READER, self.min_writer >= TABLE_FEATURES_WRITER)
        return self.lists is None or self.lists == required

    @property
    def features(self) -> frozenset[str]:
        """All supported features: the listed ones and those that a legacy version implies."""
        listed = self.reader_features | self.writer_features
        return listed | feature.implied_by(self.min_reader, self.min_writer)


def activated(
    columns: Struct, properties: Mapping[str, str | None], constraints: Iterable[str] = ()
) -> frozenset[str]:
    """Return the features that columns, properties and constraints enable, without those that they require.

    Source: ``FeatureAutomaticallyEnabledByMetadata`` in Delta's TableFeature.scala.

    Args:
        columns: The table's columns.
        properties: Values by key as Delta stores them; None means that the property is absent.
        constraints: The names of the CHECK constraints.
    """
    triggers = set(_triggers(Itself(columns)))
    if any(True for _ in constraints):
        triggers.add(SchemaTrigger.CONSTRAINT)
    return _enabled_by_schema(triggers) | {
        name for name, by_property in _BY_PROPERTY.items() if _is_enabled(by_property, properties)
    }


def needed_features(
    current: frozenset[str], active: frozenset[str], requested: Iterable[str] = ()
) -> frozenset[str]:
    """Return all features that a table must support, including those that other features require.

    An active feature is not added if the table supports its preview: ``typeWidening`` is not added to
    ``typeWidening-preview`` (measured on Delta 4.4.0).

    Args:
        current: The features that the table supports.
        active: The features that its metadata enables (`activated`).
        requested: The features that the declaration requests by name, in any case.
    """
    features = frozenset(canonical(name) for name in requested)
    added = {
        name
        for name in active
        if (row := FEATURES.get(name)) is None or row.unless is None or row.unless not in current | features
    }
    return feature.closure(current | features | added)


def needed_to_alter(
    current: frozenset[str], active: frozenset[str], requested: Iterable[str] = ()
) -> frozenset[str]:
    """Return the features that Delta gives an existing table; arguments as for `needed_features`.

    Unlike `needed_features`, leaves out active features that Delta adds to an existing table only on request;
    the only one is timestampNtz (source: ``upgradeProtocolFromMetadataForExistingTable``).
    """
    # Nothing enables most previews: they are active only where an older engine adds one for its feature.
    automatic = {
        name for name in active if (row := FEATURES.get(name)) is None or row.automatic or row.preview
    }
    return needed_features(current, frozenset(automatic) | (active & CLUSTERING), requested)


def feature_causes(
    columns: Struct,
    properties: Mapping[str, str | None],
    requested: Iterable[str],
    constraints: Iterable[str] = (),
) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """Return every object that enables or requests features, as (kind, name, features).

    The kind is ``property``, ``feature``, ``constraint`` or ``column``. Arguments as for `activated`;
    ``requested`` has the features that the declaration requests by name.
    """
    causes = [("property", key, activated(Struct(), {key: value})) for key, value in properties.items()]
    causes += [("feature", name, frozenset({canonical(name)})) for name in requested]
    of_constraint = _enabled_by_schema({SchemaTrigger.CONSTRAINT})
    causes += [("constraint", name, of_constraint) for name in constraints]
    if _triggers(Itself(columns)):  # of few tables
        causes += [
            ("column", column.name, _enabled_by_schema(_triggers(Itself(Struct((column,))))))
            for column in columns.fields
        ]
    return tuple(cause for cause in causes if cause[2])


def features_of_new_table(
    active: frozenset[str],
    requested: Iterable[str] = (),
    declared: Mapping[str, str] = MappingProxyType({}),
) -> frozenset[str]:
    """Return the features that Delta gives a new table.

    Measured on Delta 4.4.0: a new table supports `DEFAULT_FEATURES`, or, if its properties request a protocol
    version, the features that this version implies, or none, if its properties set
    `IGNORE_DEFAULTS`; timestampNtz needs no request.

    Args:
        active: The features that the table's metadata enables (`activated`).
        requested: The features that the declaration requests by name, in any case.
        declared: The declared properties; only `VERSION_KEYS` and `IGNORE_DEFAULTS` matter.
    """
    default = frozenset() if properties.is_true(declared.get(IGNORE_DEFAULTS)) else DEFAULT_FEATURES
    versions = requested_versions(declared, default)
    initial = default if versions is None else feature.implied_by(*versions)
    return needed_features(initial, active, requested)


def requested_versions(declared: Mapping[str, str], supported: frozenset[str]) -> tuple[int, int] | None:
    """Return the (reader, writer) versions that properties request; None if none or an invalid one.

    If the properties request only one of the versions, the other is the table's own (measured on Delta
    4.4.0).

    Args:
        declared: The declared properties; only the `VERSION_KEYS` matter.
        supported: The features that the table supports.
    """
    keys = [key for key in VERSION_KEYS if key in declared]
    if not keys or any(properties.property_problem(key, declared[key]) is not None for key in keys):
        return None
    reader_key, writer_key = VERSION_KEYS
    reader, writer = minimum_versions(supported)
    return int(declared.get(reader_key, reader)), int(declared.get(writer_key, writer))


def features_of_versions(declared: Mapping[str, str], supported: frozenset[str]) -> frozenset[str]:
    """Return the features implied by the versions that properties request; empty if they request none.

    Delta adds all of them to an existing table and removes no feature. Arguments as for `requested_versions`.
    """
    versions = requested_versions(declared, supported)
    return frozenset() if versions is None else feature.implied_by(*versions)


def canonical(name: str) -> str:
    """Return a feature name in Delta's spelling; unknown names stay unchanged."""
    row = feature.find_feature(name)
    return row.name if row else name


def minimum_versions(features: Iterable[str]) -> tuple[int, int]:
    """Return the lowest (reader, writer) versions that Delta Spark writes for a set of features.

    Legacy versions only if they imply exactly this set (``Protocol.normalized`` in Delta's actions).
    """
    required = frozenset(features)
    for reader, writer in ((1, 1), (1, 2), (1, 3), (1, 4), (1, 6), (2, 5), (2, 6)):
        if feature.implied_by(reader, writer) == required:
            return reader, writer
    rows = [row for name in required if (row := FEATURES.get(name))]
    readers = (row.legacy[0] if row.legacy else TABLE_FEATURES_READER for row in rows if row.reader)
    return max(readers, default=1), TABLE_FEATURES_WRITER


def above_limits(
    versions: tuple[int, int], max_reader: int | None, max_writer: int | None
) -> Mapping[str, int]:
    """Return the limits that (reader, writer) versions exceed, by name: ``max_reader``, ``max_writer``."""
    limits = {"max_reader": (versions[0], max_reader), "max_writer": (versions[1], max_writer)}
    return {name: limit for name, (version, limit) in limits.items() if limit is not None and version > limit}


def format_limits(limits: Mapping[str, int]) -> str:
    """Return limits as text: ``max_reader: 1 and max_writer: 6``."""
    return " and ".join(f"{name}: {limit}" for name, limit in limits.items())


_BY_PROPERTY: Final = {
    row.name: row.enabled_by_property for row in FEATURES.values() if row.enabled_by_property is not None
}


def _is_enabled(by_property: tuple[str, frozenset[str]], table_properties: Mapping[str, str | None]) -> bool:
    key, values = by_property
    value = properties.property_value(key, table_properties)
    # An invalid value enables nothing. Some values ignore case (`name`), others do not (`v2`).
    if value is None or properties.property_problem(key, value) is not None:
        return False
    return not values or value.lower() in values


def _enabled_by_schema(triggers: Collection[SchemaTrigger]) -> frozenset[str]:
    if not triggers:  # as of most columns
        return frozenset()
    return frozenset(row.name for row in FEATURES.values() if row.enabled_by_schema in triggers)


_TRIGGERS_OF_TYPES: Final = {
    TIMESTAMP_NTZ.name: SchemaTrigger.TIMESTAMP_NTZ,
    VARIANT.name: SchemaTrigger.VARIANT,
}


@lru_cache(maxsize=8)  # the states before and after a change, and with a remedy, often have the same columns
def _triggers(columns: Itself[Struct]) -> frozenset[SchemaTrigger]:
    return frozenset(_triggers_in(columns.value))


def _triggers_in(columns: Struct) -> Iterator[SchemaTrigger]:
    for path, field in walk_fields(columns):
        if not field.nullable or has_invariant(path, field):
            yield SchemaTrigger.NOT_NULL
        if isinstance(field.generated, str):
            yield SchemaTrigger.GENERATED
        if isinstance(field.identity, Identity):
            yield SchemaTrigger.IDENTITY
    for name in {type_.name for _path, type_ in walk(columns) if isinstance(type_, Atomic)}:
        if name in _TRIGGERS_OF_TYPES:
            yield _TRIGGERS_OF_TYPES[name]
        elif name.startswith(("geometry", "geography")):
            yield SchemaTrigger.GEOSPATIAL
