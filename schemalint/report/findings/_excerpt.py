"""The source lines of a location, with marks below or at their left."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from schemalint.base.document.nodes import BOM, LINE_BREAK
from schemalint.base.errors import Location
from schemalint.base.printable import printable
from schemalint.base.redaction import masked

_TAB = " " * 4
# A longer excerpt shows its first lines and its last line.
_MOST_LINES = 6
_FIRST_LINES = 4
# A longer line shows the part around the marks: a struct's type can be a line of a million characters.
_MOST_COLUMNS = 300
_COLUMNS_AROUND = 60


class Row(NamedTuple):
    """A row of the excerpt: a numbered source line, or marks."""

    number: int | None
    text: str
    is_mark: bool = False


def excerpt(source: str, location: Location) -> tuple[Row, ...]:
    """Return the lines of the location and their marks; none if the source has too few lines."""
    lines = split_lines(source)
    first, last = location.line, last_line(location)
    if first > len(lines) or last > len(lines):
        return ()
    end_column = location.end_column if last == location.end_line else len(lines[last - 1]) + 1
    if last == first:
        return tuple(_underlined(lines[first - 1], first, location.column, end_column))
    return tuple(_bracketed(lines, first, last, end_column))


def last_line(location: Location) -> int:
    """Return the last line of the location; an end at column 1 of a later line excludes that line."""
    ends_before_line = location.end_line > location.line and location.end_column == 1
    if ends_before_line:
        return location.end_line - 1
    return location.end_line


@lru_cache(maxsize=8)
def split_lines(source: str) -> tuple[str, ...]:
    """Split a source into lines as locations count them, without line breaks and byte order mark."""
    return tuple(LINE_BREAK.split(source.removeprefix(BOM)))


def _underlined(line: str, number: int, column: int, end_column: int) -> Iterator[Row]:
    line = masked(line)
    if len(line) > _MOST_COLUMNS:
        line, column, end_column = _cropped(line, column, end_column)
    before, width = _width(line[: column - 1]), _width(line[: end_column - 1])
    yield Row(number, _shown(line))
    # An empty location, such as a missing value, still gets a caret.
    yield Row(None, " " * before + "^" * max(width - before, 1), is_mark=True)


def _cropped(line: str, column: int, end_column: int) -> tuple[str, int, int]:
    """Return the part of a line around a range of columns, and the range in that part."""
    start = max(column - 1 - _COLUMNS_AROUND, 0)
    marked = min(end_column - column, _MOST_COLUMNS - 2 * _COLUMNS_AROUND)
    end = column - 1 + marked + _COLUMNS_AROUND
    before, after = "... " if start else "", " ..." if end < len(line) else ""
    first = column - start + len(before)
    return f"{before}{line[start:end]}{after}", first, first + marked


def _bracketed(lines: tuple[str, ...], start: int, end: int, end_column: int) -> Iterator[Row]:
    for number in _numbers(start, end):
        edge = "/" if number == start else "|"
        text = _shown(_start_of(lines[number - 1])) if number else "..."
        yield Row(number, f"{edge} {text}")
    yield Row(None, "|" + "_" * _width(_start_of(lines[end - 1])[: end_column - 1]) + "^", is_mark=True)


def _start_of(line: str) -> str:
    if len(line) <= _MOST_COLUMNS:
        return line
    return f"{masked(line)[:_MOST_COLUMNS]} ..."


def _numbers(start: int, end: int) -> list[int | None]:
    """Return the line numbers to show, None for the omitted lines."""
    if end - start < _MOST_LINES:
        return list(range(start, end + 1))
    return [*range(start, start + _FIRST_LINES), None, end]


def _shown(line: str) -> str:
    return printable(line.replace("\t", _TAB))


def _width(text: str) -> int:
    """Return the width of the shown text in terminal columns."""
    return sum(_char_width(char) for char in _shown(text))


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me"):  # drawn over the previous character
        return 0
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return 2
    return 1
