"""The types of Spark that Delta does not store."""

from __future__ import annotations

from typing import Final

from schemalint.delta.datatype import Atomic, DataType, String

INTERVAL: Final = "interval"
"""How the names of all interval types begin."""

# The beginning of a type's name, and Delta 4.4.0's error for it (measured; CREATE and ADD agree).
_REFUSED: Final = (
    ("time(", "UNSUPPORTED_TIME_TYPE"),
    (f"{INTERVAL} ", "DELTA_UNSUPPORTED_DATA_TYPES"),
    (INTERVAL, "_LEGACY_ERROR_TEMP_1183"),
    ("geometry", "DELTA_GEOSPATIAL_NOT_SUPPORTED"),
    ("geography", "DELTA_GEOSPATIAL_NOT_SUPPORTED"),
)


def storage_error(type_: DataType) -> str | None:
    """Return the error class of a new column of a leaf type; None if Delta stores the type."""
    if isinstance(type_, String):
        return None if type_ == String() else "DELTA_UNSUPPORTED_DATA_TYPES"
    if not isinstance(type_, Atomic):
        return None
    return next((error for prefix, error in _REFUSED if type_.name.startswith(prefix)), None)
