"""Parts of sentences that are there or not."""

from __future__ import annotations

from collections.abc import Sequence


def affixed(before: str, value: object, after: str = "") -> str:
    """Return a value between two texts; nothing if the value is empty, 0 or None."""
    if value:
        return f"{before}{value}{after}"
    return ""


def counted(number: int, noun: str) -> str:
    """Format a number with its noun: ``1 error``, ``2 errors``."""
    return f"{number} {plural(number, noun)}"


def plural(number: int, noun: str) -> str:
    """Return a noun as it stands after a number."""
    if number == 1:
        return noun
    return f"{noun}s"


def first_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """Join the first names, and count the others: ``a, b and 3 more``."""
    return between.join(names[:most]) + affixed(" and ", max(len(names) - most, 0), " more")
