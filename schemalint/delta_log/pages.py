"""The page headers of a Parquet column chunk (parquet.thrift, ``PageHeader``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import BinaryIO, Final

from schemalint.delta_log.thrift import I32, STRUCT, Cursor, ThriftError
from schemalint.values import frozen

_USUAL: Final = 4 * 1024
"""Bytes in which a header usually fits; it may hold statistics."""

_MOST: Final = 16 * 1024 * 1024
"""Bytes beyond which pyarrow gives up."""

_TYPE, _SIZE, _LENGTH = 1, 2, 3
_NUM_VALUES: Final = 1


class ParquetError(ValueError):
    """A Parquet file cannot be what it claims to be."""


class LimitError(ParquetError):
    """A Parquet file claims more than is read."""


class PageType(IntEnum):
    """The kinds of pages that matter."""

    DATA = 0
    DICTIONARY = 2
    DATA_V2 = 3


# The struct of each kind, the encoding of its values, and what says how its repetition levels are stored:
# their encoding, or their length in bytes.
_STRUCTS: Final[Mapping[int, int]] = {PageType.DATA: 5, PageType.DICTIONARY: 7, PageType.DATA_V2: 8}
_ENCODING: Final[Mapping[int, int]] = {PageType.DATA: 2, PageType.DICTIONARY: 2, PageType.DATA_V2: 4}
_LEVELS: Final[Mapping[int, int]] = {PageType.DATA: 4, PageType.DATA_V2: 6}


@frozen
class Chunk:
    """Where the pages of a column chunk lie in the file, in bytes, and their codec."""

    start: int
    length: int
    codec: int


@frozen
class Page:
    """What a page header says.

    Attributes:
        type: A `PageType`, or a number that readers do not know.
        start: Where it lies in the file, behind the header.
        size: Bytes, decompressed.
        length: Bytes in the file, behind the header.
        values: With nulls, and those of lists and maps.
        encoding: Of its values.
        levels: The encoding of its repetition levels, or their bytes in a page of `PageType.DATA_V2`.
    """

    type: int
    start: int
    size: int
    length: int
    values: int
    encoding: int
    levels: int


def pages(chunk: Chunk, content: BinaryIO) -> Iterator[Page]:
    """The pages of a column chunk, found as pyarrow finds them.

    Raises:
        ParquetError: A header cannot be read.
    """
    at, end = chunk.start, chunk.start + chunk.length
    while at < end:
        page = _page_at(content, at, end)
        yield page
        at = page.start + page.length


def _page_at(content: BinaryIO, start: int, end: int) -> Page:
    """The page whose header begins there, of which no more is read than twice its length."""
    size = _USUAL
    while True:
        content.seek(start)
        data = content.read(min(size, end - start))
        try:
            return _page(Cursor(data), start)
        except ThriftError as error:
            if len(data) < size or size >= _MOST:
                raise ParquetError(f"a page header cannot be read: {error}") from None
        size *= 2


def _page(cursor: Cursor, start: int) -> Page:
    # As in pyarrow, of a field that is there twice the last one counts, and none of another type.
    numbers = {_TYPE: -1, _SIZE: -1, _LENGTH: -1}
    structs: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for number, type_ in cursor.fields():
        if type_ == I32 and number in numbers:
            numbers[number] = cursor.integer()
        elif type_ == STRUCT:
            structs[number] |= _integers(cursor)
        else:
            cursor.skip(type_)
    if min(numbers.values()) < 0:
        raise ThriftError("its sizes are missing or below zero")
    kind = numbers[_TYPE]
    inside = structs[_STRUCTS.get(kind, 0)]
    return Page(
        kind,
        start + cursor.at,
        numbers[_SIZE],
        numbers[_LENGTH],
        max(inside.get(_NUM_VALUES, 0), 0),
        inside.get(_ENCODING.get(kind, 0), -1),
        inside.get(_LEVELS.get(kind, 0), -1),
    )


def _integers(cursor: Cursor) -> dict[int, int]:
    """The fields of a struct that are integers."""
    found: dict[int, int] = {}
    for number, type_ in cursor.fields():
        if type_ == I32:
            found[number] = cursor.integer()
        else:
            cursor.skip(type_)
    return found
