"""Delta's protocol: which features a table supports, and what a state of it needs.

"Supported" means in the protocol, "enabled" means switched on by a property or by the schema. Protocols are
compared as feature sets, never as pairs of versions (PROTOCOL.md, "Table Features").
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from schemalint.delta import feature, properties
from schemalint.delta.datatype import TIMESTAMP_NTZ, VARIANT, Atomic, Identity, Struct, walk, walk_fields
from schemalint.delta.feature import FEATURES, SchemaTrigger, TableFeature
from schemalint.values import field as value_field
from schemalint.values import frozen

TABLE_FEATURES_READER: Final = 3
TABLE_FEATURES_WRITER: Final = 7

VERSION_KEYS: Final = ("delta.minReaderVersion", "delta.minWriterVersion")
"""The properties that ask for a version of the protocol instead of a feature."""

# What Delta Spark gives a table that asks for nothing (measured on Delta 4.4.0: new tables are (1,2)).
DEFAULT_FEATURES: Final = frozenset({"appendOnly", "invariants"})

CLUSTERING: Final = frozenset({"clustering"})
"""What `CLUSTER BY` adds, with what that requires; no property does (measured on Delta 4.4.0)."""


@frozen
class Protocol:
    """The ``protocol`` action, as it stands in the log.

    Attributes:
        lists: Whether there is a list of reader features, and one of writer features; None if unknown.
    """

    min_reader: int = 1
    min_writer: int = 2
    reader_features: frozenset[str] = frozenset()
    writer_features: frozenset[str] = frozenset()
    lists: tuple[bool, bool] | None = value_field(default=None, compare=False)

    @property
    def has_fitting_lists(self) -> bool:
        """Whether there are lists of features just where the versions say so (PROTOCOL.md, "Protocol")."""
        wanted = (self.min_reader >= TABLE_FEATURES_READER, self.min_writer >= TABLE_FEATURES_WRITER)
        return self.lists is None or self.lists == wanted

    @property
    def features(self) -> frozenset[str]:
        """All supported features: the listed ones, and those that a legacy version implies."""
        listed = self.reader_features | self.writer_features
        return listed | feature.implied_by(self.min_reader, self.min_writer)


def activated(
    columns: Struct, properties: Mapping[str, str | None], constraints: Iterable[str] = ()
) -> frozenset[str]:
    """The features that a schema, its properties and constraints switch on, without what those require.

    Source: ``FeatureAutomaticallyEnabledByMetadata`` in Delta's TableFeature.scala.
    """
    triggers = set(_triggers(columns))
    if any(True for _ in constraints):
        triggers.add(SchemaTrigger.CONSTRAINT)
    return frozenset(
        row.name
        for row in FEATURES.values()
        if row.enabled_by_schema in triggers or _enabled_by(row, properties)
    )


def needed(current: frozenset[str], active: frozenset[str], asked: Iterable[str] = ()) -> frozenset[str]:
    """The features that a table must support: what it has, what is active or asked for, what those require.

    A feature that is merely active is not added beside its preview (``typeWidening`` beside
    ``typeWidening-preview``; measured on Delta 4.4.0).
    """
    named = frozenset(canonical(name) for name in asked)
    added = {
        name
        for name in active
        if (row := FEATURES.get(name)) is None or row.unless is None or row.unless not in current | named
    }
    return feature.closure(current | named | added)


def needed_to_alter(
    current: frozenset[str], active: frozenset[str], asked: Iterable[str] = ()
) -> frozenset[str]:
    """As `needed`, for an existing table, without the features that Delta then adds only when asked to.

    Source: ``upgradeProtocolFromMetadataForExistingTable``; only timestampNtz is not automatic.
    """
    automatic = {name for name in active if (row := FEATURES.get(name)) is None or row.automatic}
    return needed(current, frozenset(automatic) | (active & CLUSTERING), asked)


def causes(
    columns: Struct,
    properties: Mapping[str, str | None],
    asked: Iterable[str],
    constraints: Iterable[str] = (),
) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """What asks for features: (``property``, ``feature``, ``column`` or ``constraint``; its name; these)."""
    found = [("property", key, activated(Struct(), {key: value})) for key, value in properties.items()]
    found += [("feature", name, frozenset({canonical(name)})) for name in asked]
    found += [("constraint", name, activated(Struct(), {}, (name,))) for name in constraints]
    found += [("column", field.name, activated(Struct((field,)), {})) for field in columns.fields]
    return tuple(cause for cause in found if cause[2])


def of_new_table(
    active: frozenset[str], asked: Iterable[str] = (), declared: Mapping[str, str] = MappingProxyType({})
) -> frozenset[str]:
    """The features of a table that Delta creates for what is active, asked for, and declared as properties.

    Measured on Delta 4.4.0: a new table supports appendOnly and invariants, and timestampNtz by itself; where
    properties give a version, it has what that implies instead.
    """
    versions = asked_versions(declared, DEFAULT_FEATURES)
    start = DEFAULT_FEATURES if versions is None else feature.implied_by(*versions)
    return needed(start, active, asked)


def asked_versions(declared: Mapping[str, str], supported: frozenset[str]) -> tuple[int, int] | None:
    """The (reader, writer) versions that properties ask for; None if they name none, or one that is none.

    Args:
        declared: Properties. The version that is not declared is the table's own (measured on Delta 4.4.0).
        supported: The features that the table supports.
    """
    named = {key: declared[key] for key in VERSION_KEYS if key in declared}
    if not named or any(properties.problem(key, value) is not None for key, value in named.items()):
        return None
    reader, writer = (
        int(named.get(key, own)) for key, own in zip(VERSION_KEYS, minimum_versions(supported), strict=True)
    )
    return reader, writer


def features_of_versions(declared: Mapping[str, str], supported: frozenset[str]) -> frozenset[str]:
    """The features that the versions stand for which properties ask for; none where they ask for none.

    Delta adds all of them to an existing table, and takes none away. Arguments as of `asked_versions`.
    """
    versions = asked_versions(declared, supported)
    return frozenset() if versions is None else feature.implied_by(*versions)


def canonical(name: str) -> str:
    """A feature's name as Delta writes it; a name that is not known stays as it is."""
    row = feature.find(name)
    return row.name if row else name


def minimum_versions(features: Iterable[str]) -> tuple[int, int]:
    """The lowest (reader, writer) versions that Delta Spark writes for a set of features.

    A legacy pair only if its bundle is exactly the set (``Protocol.normalized`` in Delta's actions).
    """
    wanted = frozenset(features)
    for reader, writer in ((1, 1), (1, 2), (1, 3), (1, 4), (1, 6), (2, 5), (2, 6)):
        if feature.implied_by(reader, writer) == wanted:
            return reader, writer
    rows = [row for name in wanted if (row := FEATURES.get(name))]
    reader = 1
    for row in rows:
        if row.reader:
            reader = max(reader, row.legacy[0] if row.legacy else TABLE_FEATURES_READER)
    return reader, TABLE_FEATURES_WRITER


def _enabled_by(row: TableFeature, given: Mapping[str, str | None]) -> bool:
    if row.enabled_by_property is None:
        return False
    key, values = row.enabled_by_property
    value = properties.value_of(key, given)
    # A value that Delta refuses switches nothing on: it takes `name` in any case, and `v2` in that one.
    if value is None or properties.problem(key, value) is not None:
        return False
    return not values or value.lower() in values


def _triggers(columns: Struct) -> Iterator[SchemaTrigger]:
    for _path, type_ in walk(columns):
        if type_ == TIMESTAMP_NTZ:
            yield SchemaTrigger.TIMESTAMP_NTZ
        elif type_ == VARIANT:
            yield SchemaTrigger.VARIANT
        elif isinstance(type_, Atomic) and type_.name.startswith(("geometry", "geography")):
            yield SchemaTrigger.GEOSPATIAL
    for _path, field in walk_fields(columns):
        if not field.nullable:
            yield SchemaTrigger.NOT_NULL
        if isinstance(field.generated, str):
            yield SchemaTrigger.GENERATED
        if isinstance(field.identity, Identity):
            yield SchemaTrigger.IDENTITY
