"""How a declared property, or a feature that is asked for, is judged: each falls into exactly one class.

One rule speaks for each class, so that one line of a contract gets one finding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final

from schemalint.delta import feature, properties, protocol
from schemalint.delta.protocol import TABLE_FEATURES_READER, TABLE_FEATURES_WRITER
from schemalint.delta.table import LiveTable, TableState
from schemalint.values import frozen


class PropertyVerdict(Enum):
    """What a declared entry of the table's properties is."""

    FINE = "fine"
    FEATURE = "feature"
    """``delta.feature.<name>``: see `FeatureVerdict`."""
    VERSION = "version"
    """A version of the protocol, or whether the session's defaults count for it: valid by itself."""
    INVALID_VERSION = "invalid version"
    CONSTRAINT = "constraint"
    INTERNAL = "internal"
    """Delta writes it by itself; it refuses some of these from a user, and takes others."""
    UNKNOWN = "unknown"
    NO_PREFIX = "no prefix"
    """One of Delta's keys without ``delta.``: accepted, and it does nothing."""
    INVALID = "invalid"
    """Delta knows the key and refuses the value."""


class FeatureVerdict(Enum):
    """What a feature is that is asked for by name."""

    FINE = "fine"
    STATUS = "status"
    """The property's value is none that asks for a feature; looked at before the name."""
    UNKNOWN = "unknown"
    NOT_SETTABLE = "not settable"
    """Only another statement gives it to the table."""
    PREVIEW = "preview"
    OLD_STATUS = "old status"
    """``enabled``, the older word for ``supported``."""


_GRANTED: Final = (FeatureVerdict.FINE, FeatureVerdict.PREVIEW, FeatureVerdict.OLD_STATUS)


@frozen
class FeatureRequest:
    """A feature that is asked for: in the list of features, or as a property.

    Attributes:
        kind: ``feature`` for an entry of the list, ``property`` for a property.
        entry: The entry that asks, as it is written.
        status: The property's value; ``supported`` in the list.
    """

    kind: str
    entry: str
    name: str
    status: str = "supported"


def judge_property(key: str, value: str) -> PropertyVerdict:
    """The one class of a declared property.

    Args:
        key: As Delta stores it.
        value: As text.
    """
    lower = key.lower()
    if lower.startswith(properties.FEATURE_PREFIX):
        return PropertyVerdict.FEATURE
    if lower.startswith(properties.CONSTRAINT_PREFIX):
        return PropertyVerdict.CONSTRAINT
    valid = properties.problem(key, value) is None
    if properties.is_protocol_key(key):
        return PropertyVerdict.VERSION if valid else PropertyVerdict.INVALID_VERSION
    row = properties.find(key)
    if lower in _INTERNAL or (row is not None and not row.editable):
        return PropertyVerdict.INTERNAL
    if row is None:
        return _unregistered(key)
    if not valid:
        return PropertyVerdict.INVALID
    return PropertyVerdict.INTERNAL if row.written_by_delta else PropertyVerdict.FINE


def value_refusal(key: str, value: str) -> str | None:
    """The error class with which Delta refuses an invalid value; None where it gives none.

    Measured on Delta 4.4.0, by ALTER TABLE: CREATE TABLE gives most of these refusals no class.
    """
    row = properties.find(key)
    if row is not None and row.kind is properties.Kind.INTERVAL:
        return _interval_refusal(value)
    return _VALUE_REFUSALS.get(row.key if row else key, _INVALID)


def lacks_writer_version(declared: Mapping[str, str], supported: frozenset[str]) -> bool:
    """Whether an existing table would get reader version 3 and a writer version below 7, which Delta refuses.

    Args:
        declared: Properties; see `protocol.asked_versions`.
        supported: The features that the table supports.
    """
    versions = protocol.asked_versions(declared, supported)
    if versions is None:
        return False
    reader, writer = versions
    return reader == TABLE_FEATURES_READER and writer < TABLE_FEATURES_WRITER


def feature_requests(state: TableState) -> Iterator[FeatureRequest]:
    """Every feature that a declaration asks for by name, as often as it is written."""
    for name in sorted(state.features):
        yield FeatureRequest("feature", name, name)
    for key, value in state.set_properties.items():
        if key.lower().startswith(properties.FEATURE_PREFIX):
            yield FeatureRequest("property", key, key[len(properties.FEATURE_PREFIX) :], value.lower())


def judge_feature(request: FeatureRequest, live: LiveTable | None, *, new_table: bool) -> FeatureVerdict:
    """The one class of a feature that is asked for.

    Args:
        request: What is asked for.
        live: The table, if it was read: what it supports already need not be set.
        new_table: Whether the table is still to be created.
    """
    if request.status not in _STATUSES:
        return FeatureVerdict.STATUS
    row = feature.find(request.name)
    if row is None or not row.in_spark:
        return FeatureVerdict.UNKNOWN
    supported = live is not None and row.name in live.protocol.features
    if not row.settable and not supported and not (new_table and row.name in _WHEN_CREATED):
        return FeatureVerdict.NOT_SETTABLE
    if row.preview:
        return FeatureVerdict.PREVIEW
    return FeatureVerdict.FINE if request.status == "supported" else FeatureVerdict.OLD_STATUS


def _unregistered(key: str) -> PropertyVerdict:
    if not properties.is_known(key):
        return PropertyVerdict.UNKNOWN
    without = not key.lower().startswith(properties.PREFIX) and properties.suggest(key) is not None
    return PropertyVerdict.NO_PREFIX if without else PropertyVerdict.FINE


def _interval_refusal(text: str) -> str:
    """Months, years and negative intervals are read, and refused by the property alone."""
    if not text.strip():
        return "DELTA_INVALID_CALENDAR_INTERVAL_EMPTY"
    without_months = _MONTHS.sub("week", text.lower())
    return "DELTA_INVALID_INTERVAL" if properties.parse_interval(without_months) is None else _INVALID


_INVALID: Final = "UNSUPPORTED_TABLE_CHANGE"
_VALUE_REFUSALS: Final[Mapping[str, str | None]] = {
    "delta.columnMapping.mode": None,
    "delta.coordinatedCommits.commitCoordinatorConf-preview": None,
    "delta.isolationLevel": "DELTA_INVALID_ISOLATION_LEVEL",
}
_MONTHS: Final = re.compile(r"\b(?:month|year)(?=s?\b)")

# TableFeatureProtocolUtils.FEATURE_PROP_SUPPORTED and FEATURE_PROP_ENABLED, compared ignoring case.
_STATUSES: Final = frozenset({"supported", "enabled"})

# Measured on Delta 4.4.0: CREATE TABLE takes it, ALTER TABLE does not.
_WHEN_CREATED: Final = frozenset({"adaptiveMetadata-preview"})

# Keys that look like properties of the table: the first four stand in the metadata of columns (PROTOCOL.md,
# "Column Mapping" and "Identity Columns"), a commit coordinator writes the fifth, and whoever moves a table
# the rest.
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
    """The features asked for that Delta adds, by its names; the others have findings of their own."""
    return frozenset(
        protocol.canonical(request.name)
        for request in feature_requests(state)
        if judge_feature(request, live, new_table=new_table) in _GRANTED
    )
