"""Small pieces of text for people, safe to print."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from schemalint.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.delta.table import HistoryEntry

_WIDEST: Final = 48
"""Of a column of text: what is longer moves its own row's rest to the right, and no other row's."""

_LONGEST: Final = 60


def short(text: str) -> str:
    """The text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def when(timestamp: int | None) -> str:
    """Milliseconds since the epoch as a time in UTC; empty if there is none, or none that a calendar has."""
    if timestamp is None:
        return ""
    try:
        found = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=timestamp)
    except OverflowError:
        return ""
    return f"{found:%Y-%m-%d %H:%M:%S} UTC"


def by_whom(entry: HistoryEntry) -> str:
    """Who committed, and with what, as far as the commit tells."""
    engine = f"with {entry.engine}" if entry.engine else ""
    return " ".join(text for text in (f"by {entry.user}" if entry.user else "", engine) if text)


def table_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with their cells one below the other, safe to print; what is empty in all of them is left out."""
    columns = [[_cell(cell) for cell in column] for column in zip(*rows, strict=True)]
    padded = [_padded(column) for column in columns if any(column)]
    return ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _padded(column: list[str]) -> list[str]:
    width = min(max(map(len, column)), _WIDEST)
    return [cell.ljust(width) for cell in column]


def _cell(text: str) -> str:
    indent = len(text) - len(text.lstrip(" "))
    return " " * indent + printable(text[indent:])
