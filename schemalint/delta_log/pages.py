"""The page headers of a Parquet column chunk (parquet.thrift, ``PageHeader``)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from schemalint.delta_log.thrift import I32, STRUCT, Cursor, ThriftError

_HEADERS: Final = (4 * 1024, 16 * 1024 * 1024)
"""Bytes in which a header usually fits, and beyond which pyarrow gives up: it may hold statistics."""

_TYPE, _SIZE, _LENGTH = 1, 2, 3
_DICTIONARY: Final = 2
_NUM_VALUES: Final = 1


class ParquetError(ValueError):
    """A Parquet file claims more than it can hold, or than is read."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Where the pages of a column chunk lie in the file, in bytes."""

    start: int
    length: int


@dataclass(frozen=True, slots=True)
class Page:
    """What a page header says.

    Attributes:
        size: Bytes, decompressed.
        length: Bytes in the file, behind the header.
        values: With nulls, and those of lists and maps.
    """

    is_dictionary: bool
    size: int
    length: int
    values: int


def pages(chunk: Chunk, content: BinaryIO) -> Iterator[Page]:
    """The pages of a column chunk, found as pyarrow finds them.

    Raises:
        ParquetError: A header cannot be read.
    """
    at, end = chunk.start, chunk.start + chunk.length
    while at < end:
        page, length = _header(content, at, end)
        yield page
        at += length + page.length


def _header(content: BinaryIO, start: int, end: int) -> tuple[Page, int]:
    """A page header, and how many bytes it takes itself."""
    problem = ThriftError()
    for size in _HEADERS:
        content.seek(start)
        cursor = Cursor(content.read(min(size, end - start)))
        try:
            return _page(cursor), cursor.at
        except ThriftError as error:
            problem = error
    raise ParquetError(f"a page header cannot be read: {problem}")


def _page(cursor: Cursor) -> Page:
    # As in pyarrow, of a field that is there twice the last one counts, and none of another type.
    numbers = {_TYPE: -1, _SIZE: -1, _LENGTH: -1}
    values = 0
    for number, type_ in cursor.fields():
        if type_ == I32 and number in numbers:
            numbers[number] = cursor.integer()
        elif type_ == STRUCT:
            values = max(values, _num_values(cursor))
        else:
            cursor.skip(type_)
    if min(numbers.values()) < 0:
        raise ThriftError("its sizes are missing or below zero")
    return Page(numbers[_TYPE] == _DICTIONARY, numbers[_SIZE], numbers[_LENGTH], values)


def _num_values(cursor: Cursor) -> int:
    """The first field of the header of each kind of page."""
    found = 0
    for number, type_ in cursor.fields():
        if number == _NUM_VALUES and type_ == I32:
            found = max(found, cursor.integer())
        else:
            cursor.skip(type_)
    return found
