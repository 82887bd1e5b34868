"""What Delta Spark does with a live table in a state that no statement would have made.

A rule about a declared state predicts the error class of the statement that would make the state. If another
writer has made it already, Spark may raise the error later, another one, or none (all measured on Delta
4.4.0).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, Literal

from schemalint.delta.engine import DELTA_SPARK
from schemalint.delta.properties import (
    COLUMN_MAPPING_MODE,
    ICEBERG_COMPAT_KEYS,
    TableProperty,
    find_property,
    is_protocol_key,
    property_problem,
)
from schemalint.delta.property_values import Kind, Stops, parse_interval, value_reader
from schemalint.delta.requests import value_refusal
from schemalint.delta.table import LiveTable

_MANIFEST: Final = (
    "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED."
    "PERSISTENT_DELETION_VECTORS_WITH_INCREMENTAL_MANIFEST_GENERATION"
)

CHECKED_ON_CHANGE: Final = frozenset(
    {
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
        "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
        "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA",
        "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
        "DELTA_INCORRECT_ARRAY_ACCESS_BY_NAME",
        "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
        "DELTA_INVALID_PARTITION_COLUMN_NAME",
        "DELTA_NESTED_NOT_NULL_CONSTRAINT",
        "DELTA_UNSUPPORTED_DATA_TYPES",
        _MANIFEST,
        "RESERVED_CDC_COLUMNS_ON_WRITE",
    }
)
"""The error classes that only statements raise which change metadata: Spark reads the table, and inserts."""

OTHER_CLASS: Final[Mapping[str, str]] = {
    "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS": "RESERVED_CDC_COLUMNS_ON_WRITE",
}
"""The error class of a live table, by that of the statement that would make its state."""


def stopped_by(key: str, value: str) -> Stops | None:
    """Return what fails on a live table with this value of a property; None for a value that Delta accepts.

    None also for keys that Delta Spark does not know or stores in the protocol.
    """
    row = find_property(key)
    if row is None or row.engine != DELTA_SPARK or is_protocol_key(key) or not property_problem(key, value):
        return None
    odd = _ODD_VALUES.get((row.key, str(value_reader(row.kind)(value))))
    return odd or (Stops.NOTHING if _is_readable(row, value) else row.stops)


def refusal_of_value(key: str, value: str) -> str | None:
    """Return the error class, or else the Java class, with which statements fail on a table with this value.

    Where both fail, it is the class that ``ALTER TABLE`` gives.
    """
    row, stops = find_property(key), stopped_by(key, value)
    if row is None or stops in (None, Stops.NOTHING, Stops.CHECKPOINTS):
        return None
    if row.key == COLUMN_MAPPING_MODE:
        return "ColumnMappingUnsupportedException"
    if row.kind is Kind.JSON:
        return _json_refusal(value)
    if stops is Stops.WRITES:
        return _JAVA_CLASSES[row.kind]
    if _is_readable(row, value):
        return "ArithmeticException"  # zero, by which Delta divides
    refusal = value_refusal(key, value)
    has_months = row.kind is Kind.INTERVAL and refusal == "UNSUPPORTED_TABLE_CHANGE"
    if has_months:
        return "INTERNAL_ERROR"
    return refusal


def mended_by(key: str, value: str) -> Literal["ALTER TABLE", "RESTORE"] | None:
    """Return the statement that replaces an invalid value; None if Delta Spark refuses both."""
    if stopped_by(key, value) is Stops.NOTHING or key not in _NOT_MENDED_BY_ALTER:
        return "ALTER TABLE"
    if _NOT_MENDED_BY_ALTER[key]:
        return "RESTORE"
    return None


def way_back(table: LiveTable, why: str) -> str:
    """Return the help for what only an earlier version can mend; the first version has none before it."""
    if table.version == 0:
        return f"write the table again, it has no version before: {why}"
    return f"restore the version before: {why}"


def _is_readable(row: TableProperty, value: str) -> bool:
    """Whether Delta can read a value that it does not let users set: a number or an interval out of range."""
    if row.kind is Kind.INTERVAL:
        return parse_interval(value) is not None
    return row.minimum is not None and value_reader(row.kind)(value) is not None


def _json_refusal(value: str) -> str:
    try:
        json.loads(value or "[]")
    except ValueError:
        return "JsonParseException"
    return "MismatchedInputException"


_ODD_VALUES: Final = {
    ("delta.checkpointInterval", "0"): Stops.WRITES_AND_CHANGES,
    ("delta.isolationLevel", "writeserializable"): Stops.NOTHING,
    ("delta.isolationLevel", "snapshotisolation"): Stops.NOTHING,
}
"""Values that Delta reads and that fail all the same, or that it cannot set and that do not fail."""

_JAVA_CLASSES: Final[Mapping[Kind, str]] = {
    Kind.BOOLEAN: "IllegalArgumentException",
    Kind.OPTIONAL_BOOLEAN: "IllegalArgumentException",
    Kind.VERSION: "IllegalArgumentException",
    Kind.INTEGER: "NumberFormatException",
    Kind.COLUMNS: "NoSuchElementException",
}
_NOT_MENDED_BY_ALTER: Final[Mapping[str, bool]] = {
    COLUMN_MAPPING_MODE: False,
    "delta.checkpoint.writeStatsAsJson": True,
    "delta.coordinatedCommits.commitCoordinatorConf-preview": True,
    "delta.coordinatedCommits.tableConf-preview": False,
    "delta.dataSkippingNumIndexedCols": True,
    "delta.deletedFileRetentionDuration": False,
    **dict.fromkeys(ICEBERG_COMPAT_KEYS, True),
    "delta.enableInCommitTimestamps": True,
    "delta.setTransactionRetentionDuration": False,
}
"""The properties that ``ALTER TABLE`` cannot replace, and whether ``RESTORE`` does.

``RESTORE`` replaces a commitCoordinatorConf, and then fails with the error of the old value (measured on
Delta 4.4.0).
"""
