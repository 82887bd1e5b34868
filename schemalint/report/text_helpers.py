"""Text helpers that several reports share."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, islice
from typing import Final

import click

from schemalint.base.phrases import affixed, counted
from schemalint.base.printable import printable
from schemalint.base.redaction import without_secrets
from schemalint.delta.table import HistoryEntry
from schemalint.model.finding import Severity

MOST_SENTENCES: Final = 5
"""Most reasons or locations printed for one statement, which may alter thousands of columns."""

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second"))

MOST_CHARACTERS: Final = 65_000
"""The most characters of a comment, with room for a surrounding text (GitHub accepts 65,536)."""

WORST_FIRST: Final = tuple(sorted(Severity, reverse=True))

COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_UNNAMED: Final = {
    "_LEGACY_ERROR_TEMP_0035": "Operation not allowed",
    "_LEGACY_ERROR_TEMP_1183": 'Cannot use "INTERVAL" type in the table schema',
    "_LEGACY_ERROR_TEMP_1228": "Decimal scale cannot be greater than precision",
    "_LEGACY_ERROR_TEMP_2120": "Do not support array of type",
    "_LEGACY_ERROR_TEMP_2330": "Cannot change nullable column to non-nullable",
    "_LEGACY_ERROR_TEMP_3058": "Found duplicate column(s)",
    "_LEGACY_ERROR_TEMP_3060": "Couldn't find column",
}
"""What Spark's message says, of errors that Spark 4.2 gives no name: these numbers appear in no message."""
_WIDEST: Final = 48
"""The widest a column of cells is padded; a longer cell shifts only the rest of its own row."""

_LONGEST: Final = 60
"""The most characters of a shortened text."""


def styled(text: str, *, color: bool, fg: str | None = None, bold: bool = False) -> str:
    """Style the text for a terminal; without ``color`` return it unchanged."""
    if color and text:
        return click.style(text, fg=fg, bold=bold or None)
    return text


def separated(blocks: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the lines of blocks, with an empty line between them."""
    for number, block in enumerate(blocks):
        if number:
            yield ""
        yield from block


def listed(words: Sequence[str]) -> str:
    """Join words as a sentence does: ``rename, drop and type_change``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def first_few(sentences: Sequence[str]) -> Iterator[str]:
    """Yield the first sentences, then the number of the others: ``and 1,995 more``."""
    yield from islice(sentences, MOST_SENTENCES)
    if len(sentences) > MOST_SENTENCES:
        yield f"and {len(sentences) - MOST_SENTENCES:,} more"


def fitting(parts: Sequence[str], room: int, between: str) -> list[str]:
    """Return the first parts that fit into so many characters, with what stands between them."""
    ends = accumulate(len(part) + len(between) for part in parts)
    return [part for part, end in zip(parts, ends, strict=True) if end <= room]


def as_of_text(read_at: dt.datetime, now: dt.datetime) -> str:
    """Describe the age of a file of live tables: ``live tables as of …, 3 hours ago``."""
    age = duration_text((now - read_at).total_seconds())
    return f"live tables as of {read_at:%Y-%m-%d %H:%M:%S %Z}, {age} ago"


def duration_text(seconds: float) -> str:
    """Format a duration in its largest unit: ``3 hours``."""
    for length, unit in _UNITS:
        if (number := int(seconds // length)) >= 1:
            return counted(number, unit)
    return "less than a second"


def error_name(error: str) -> str:
    """Return the error class, or the beginning of the message of an error that has no name."""
    words = _UNNAMED.get(error)
    if words:
        return f"“{words}” (an error without a name)"
    return error


def shortened(text: str) -> str:
    """Put a text on one line, and cut it if it is long."""
    line = without_secrets(" ".join(text.split()))
    if len(line) <= _LONGEST:
        return line
    return f"{line[: _LONGEST - 1]}…"


def committer_text(entry: HistoryEntry) -> str:
    """Format the user and the engine of a commit, as far as the log records them."""
    return " ".join(filter(None, (affixed("by ", entry.user), affixed("with ", entry.engine))))


def table_rows(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align the cells of rows, safe to print; columns that are empty in all rows are left out."""
    columns = [[_cell(cell) for cell in column] for column in zip(*rows, strict=True)]
    padded = [_padded(column) for column in columns if any(column)]
    return ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]


def _padded(column: list[str]) -> list[str]:
    width = min(max(map(len, column)), _WIDEST)
    return [cell.ljust(width) for cell in column]


def _cell(text: str) -> str:
    indent = len(text) - len(text.lstrip(" "))
    return " " * indent + printable(text[indent:])
