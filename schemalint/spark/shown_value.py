"""Values of the data in messages: short, printable, and without what looks like a secret."""

from __future__ import annotations

from typing import Final

from schemalint.base.printable import visible
from schemalint.base.redaction import without_secrets

SAMPLE: Final = 5
"""The most rows that a message shows."""
_LONGEST_VALUE: Final = 40


def shown_value(value: object) -> str:
    """Return a value of the data for a message."""
    text = str(value)
    if value is None:
        text = "NULL"
    elif isinstance(value, str):
        text = repr(value)
    printable = visible(without_secrets(text))
    if len(printable) <= _LONGEST_VALUE:
        return printable
    return f"{printable[:_LONGEST_VALUE]}…"
