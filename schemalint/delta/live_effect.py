"""What Delta Spark does with a live table in a state that no statement would have made.

A rule about a declared state predicts the error class of the statement that would make the state. If another
writer has made it already, Spark may raise the error later, another one, or none (all measured on Delta
4.4.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

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
        _MANIFEST,
        "RESERVED_CDC_COLUMNS_ON_WRITE",
    }
)
"""The error classes that only statements raise which change metadata: Spark reads the table, and inserts."""

OTHER_CLASS: Final[Mapping[str, str]] = {
    "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS": "RESERVED_CDC_COLUMNS_ON_WRITE",
}
"""The error class of a live table, by that of the statement that would make its state."""
