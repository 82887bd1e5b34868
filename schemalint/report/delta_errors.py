"""The name of an error of Delta or Spark for people."""

from __future__ import annotations

from typing import Final

_UNNAMED: Final = {
    "_LEGACY_ERROR_TEMP_0035": "Operation not allowed",
    "_LEGACY_ERROR_TEMP_1183": 'Cannot use "INTERVAL" type in the table schema',
    "_LEGACY_ERROR_TEMP_1228": "Decimal scale cannot be greater than precision",
    "_LEGACY_ERROR_TEMP_2330": "Cannot change nullable column to non-nullable",
    "_LEGACY_ERROR_TEMP_3058": "Found duplicate column(s)",
    "_LEGACY_ERROR_TEMP_3060": "Couldn't find column",
}
"""What Spark's message says, of errors that Spark 4.2 gives no name: these numbers appear in no message."""


def error_name(error: str) -> str:
    """Return the error class, or the beginning of the message of an error that has no name."""
    words = _UNNAMED.get(error)
    return f"“{words}” (an error without a name)" if words else error
