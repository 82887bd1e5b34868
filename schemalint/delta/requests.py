"""Classify declared properties and feature requests: each belongs to exactly one class.

One rule judges each class, so one line of a contract gets at most one finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta import feature, properties, protocol
from schemalint.delta.engine import DELTA_SPARK
from schemalint.delta.feature import TABLE_FEATURES_READER, TABLE_FEATURES_WRITER
from schemalint.delta.property_values import Kind, parse_interval
from schemalint.delta.table import LiveTable, TableState


class PropertyVerdict(Enum):
    """The class of a declared property."""

    VALID = "fine"
    """Delta accepts the property, or it is not a ``delta.`` property."""
    FEATURE = "feature"
    """A feature request, ``delta.feature.<name>``; see `FeatureVerdict`."""
    VERSION = "version"
    """A valid ``delta.minReaderVersion``, ``delta.minWriterVersion`` or ``delta.ignoreProtocolDefaults``."""
    INVALID_VERSION = "invalid version"
    """One of these keys with a value that Delta refuses."""
    CONSTRAINT = "constraint"
    """A CHECK constraint, ``delta.constraints.<name>``."""
    INTERNAL = "internal"
    """Delta writes the property itself; some of these it refuses from users, others it accepts."""
    OTHER_ENGINE = "other engine"
    """A property that only another engine than Delta Spark knows; see `properties.TableProperty.engine`."""
    UNKNOWN = "unknown"
    """A ``delta.`` key that no engine knows."""
    NO_PREFIX = "no prefix"
    """A key of Delta without ``delta.``: Delta stores the property, and it has no effect."""
    INVALID = "invalid"
    """Delta knows the key and refuses the value."""


class FeatureVerdict(Enum):
    """The class of a feature request."""

    VALID = "fine"
    """Delta adds the feature, or the table supports it already."""
    INVALID_STATUS = "status"
    """The property value is neither ``supported`` nor ``enabled``; checked before the name."""
    UNKNOWN = "unknown"
    """Delta Spark 4.4.0 does not know the feature."""
    NOT_SETTABLE = "not settable"
    """A property cannot add the feature; another statement can."""
    PREVIEW = "preview"
    """Delta adds the feature, but may still change it incompatibly."""
    DEPRECATED_STATUS = "old status"
    """Delta adds the feature; the value is ``enabled``, the old word for ``supported``."""


_GRANTED: Final = (FeatureVerdict.VALID, FeatureVerdict.PREVIEW, FeatureVerdict.DEPRECATED_STATUS)


@frozen
class FeatureRequest:
    """A request for a feature by name: an entry in the contract's ``features``, or a property.

    Attributes:
        kind: ``feature`` for an entry in ``features``, ``property`` for ``delta.feature.<name>``.
        entry: The list entry or the property key as written.
        name: The feature name as written.
        status: The property value in lower case; ``supported`` for an entry in ``features``.
    """

    kind: str
    entry: str
    name: str
    status: str = "supported"


def judge_property(key: str, value: str) -> PropertyVerdict:
    """Return the class of a declared property.

    Args:
        key: The key as Delta stores it.
        value: The value as text.
    """
    lower = key.lower()
    if lower.startswith(properties.FEATURE_PREFIX):
        return PropertyVerdict.FEATURE
    if lower.startswith(properties.CONSTRAINT_PREFIX):
        return PropertyVerdict.CONSTRAINT
    valid = properties.property_problem(key, value) is None
    if properties.is_protocol_key(key):
        if valid:
            return PropertyVerdict.VERSION
        return PropertyVerdict.INVALID_VERSION
    row = properties.find_property(key)
    if lower in _INTERNAL or (row is not None and not row.editable):
        return PropertyVerdict.INTERNAL
    if row is None:
        return _unregistered(key)
    if row.engine != DELTA_SPARK:
        return PropertyVerdict.OTHER_ENGINE
    if not valid:
        return PropertyVerdict.INVALID
    if row.written_by_delta:
        return PropertyVerdict.INTERNAL
    return PropertyVerdict.VALID


def value_refusal(key: str, value: str) -> str | None:
    """Return the error class with which Delta refuses an invalid value; None if its error has no class.

    Measured on Delta 4.4.0 for ALTER TABLE; in CREATE TABLE, most of these errors have no class.
    """
    row = properties.find_property(key)
    if row is not None and row.kind is Kind.INTERVAL:
        return _interval_refusal(value)
    name = row.key if row else key
    if value.lower() in _PARSED.get(name, ()):
        return _INVALID
    return _VALUE_REFUSALS.get(name, _INVALID)


def lacks_writer_version(declared: Mapping[str, str], supported: frozenset[str]) -> bool:
    """Whether the properties request reader version 3 with a writer version below 7, which Delta refuses.

    For existing tables. Arguments as for `schemalint.delta.protocol.requested_versions`.
    """
    versions = protocol.requested_versions(declared, supported)
    if versions is None:
        return False
    reader, writer = versions
    return reader == TABLE_FEATURES_READER and writer < TABLE_FEATURES_WRITER


def feature_requests(state: TableState) -> Iterator[FeatureRequest]:
    """Yield every feature request of a declared state, including repeated ones."""
    for name in sorted(state.features):
        yield FeatureRequest("feature", name, name)
    for key, value in state.set_properties.items():
        if key.lower().startswith(properties.FEATURE_PREFIX):
            yield FeatureRequest("property", key, key[len(properties.FEATURE_PREFIX) :], value.lower())


def judge_feature(request: FeatureRequest, live: LiveTable | None, *, new_table: bool) -> FeatureVerdict:
    """Return the class of a feature request.

    Args:
        request: The feature request.
        live: The live table, if known: a feature that it supports already is never `NOT_SETTABLE`.
        new_table: Whether the table does not exist yet.
    """
    if request.status not in _STATUSES:
        return FeatureVerdict.INVALID_STATUS
    row = feature.find_feature(request.name)
    if row is None or not row.in_spark:
        return FeatureVerdict.UNKNOWN
    supported = live is not None and row.name in live.protocol.features
    if not row.settable and not supported and not (new_table and row.name in _WHEN_CREATED):
        return FeatureVerdict.NOT_SETTABLE
    if row.preview:
        return FeatureVerdict.PREVIEW
    if request.status == "supported":
        return FeatureVerdict.VALID
    return FeatureVerdict.DEPRECATED_STATUS


def _unregistered(key: str) -> PropertyVerdict:
    if not properties.is_known(key):
        return PropertyVerdict.UNKNOWN
    lacks_prefix = (
        not key.lower().startswith(properties.PREFIX) and properties.suggest_property(key) is not None
    )
    if lacks_prefix:
        return PropertyVerdict.NO_PREFIX
    return PropertyVerdict.VALID


def _interval_refusal(text: str) -> str:
    """Return the error class for an interval.

    Delta can parse months, years and negative intervals; the property then refuses them with another class.
    """
    if not text.strip():
        return "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"
    without_months = re.sub(_MONTHS, "week", text.lower())
    if parse_interval(without_months) is None:
        return "DELTA_INVALID_INTERVAL"
    return _INVALID


_INVALID: Final = "UNSUPPORTED_TABLE_CHANGE"
_VALUE_REFUSALS: Final[Mapping[str, str | None]] = {
    "delta.columnMapping.mode": None,
    "delta.coordinatedCommits.commitCoordinatorConf-preview": None,
    "delta.isolationLevel": "DELTA_INVALID_ISOLATION_LEVEL",
}
# In lower case, the values that Delta parses before the property refuses them.
_PARSED: Final = {"delta.isolationLevel": frozenset({"snapshotisolation", "writeserializable"})}
_MONTHS: Final = r"\b(?:month|year)(?=s?\b)"

# TableFeatureProtocolUtils.FEATURE_PROP_SUPPORTED and FEATURE_PROP_ENABLED; Delta ignores their case.
_STATUSES: Final = frozenset({"supported", "enabled"})

# CREATE TABLE accepts these features as properties, ALTER TABLE does not (measured on Delta 4.4.0).
_WHEN_CREATED: Final = frozenset({"adaptiveMetadata-preview"})

# Keys that look like table properties. The first four belong to field metadata (PROTOCOL.md, "Column Mapping"
# and "Identity Columns"); a commit coordinator writes the fifth; a service that moves tables writes the last
# two.
_INTERNAL: Final = frozenset(
    {
        "delta.columnmapping.id",
        "delta.columnmapping.physicalname",
        "delta.columnmapping.nested.ids",
        "delta.identity.highwatermark",
        "delta.coordinatedcommits.tableconf-preview",
        "delta.redirectreaderwriter-preview",
        "delta.redirectwriteronly-preview",
    }
)


def granted_features(state: TableState, live: LiveTable | None, *, new_table: bool) -> frozenset[str]:
    """Return the requested features that Delta adds, in Delta's spelling; rules report the other requests.

    Arguments as for `judge_feature`.
    """
    return frozenset(
        protocol.canonical(request.name)
        for request in feature_requests(state)
        if judge_feature(request, live, new_table=new_table) in _GRANTED
    )
