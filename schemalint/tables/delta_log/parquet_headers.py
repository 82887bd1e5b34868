"""Read the headers of a Parquet file: the row groups in its footer, and the page headers of its columns.

They are parsed from the bytes (parquet.thrift): pyarrow ends the process on a column chunk whose statistics
contradict the schema, as they do in damaged files (measured on 26.0).

Values are skipped without storing them: headers are checked before pyarrow allocates the memory they claim.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import IntEnum
from typing import BinaryIO, Final, TypeVar

from schemalint.base.values import frozen
from schemalint.tables.delta_log import log_limits

_FIRST_READ: Final = 4 * 1024
"""Bytes that hold most headers; a header with statistics may be longer."""

_MAX_HEADER: Final = 16 * 1024 * 1024
"""Bytes of the largest header that pyarrow reads."""

# Ids of fields (parquet.thrift): of PageHeader and the structs in it, FileMetaData, RowGroup, ColumnChunk and
# ColumnMetaData.
_TYPE, _SIZE, _LENGTH = 1, 2, 3
_NUM_VALUES: Final = 1
_SCHEMA, _ROW_GROUPS = 2, 4
_COLUMNS, _NUM_ROWS = 1, 3
_META_DATA: Final = 3
_CODEC, _COMPRESSED_SIZE, _DATA, _DICTIONARY = 4, 7, 9, 11

# Types of values, and limits of Thrift's compact protocol (thrift-compact-protocol.md).
_BOOLEANS: Final = frozenset({1, 2})
_BYTE: Final = 3
_I32: Final = 5
_I64: Final = 6
_VARINTS: Final = frozenset({4, _I32, _I64})
_DOUBLE: Final = 7
_BINARY: Final = 8
_LIST: Final = 9
_LISTS: Final = frozenset({_LIST, 10})
_MAP: Final = 11
STRUCT: Final = 12
_MAX_VARINT: Final = 10
_MAX_DEPTH: Final = 32
_LONG_LIST: Final = 15

T = TypeVar("T")


class ParquetError(ValueError):
    """A Parquet file cannot be what it claims to be."""


class LimitError(ParquetError):
    """A Parquet file exceeds a limit of schemalint."""


class PageType(IntEnum):
    """The page types that schemalint distinguishes."""

    DATA = 0
    DICTIONARY = 2
    DATA_V2 = 3


# Field ids by page type: the struct of its header, and in that struct the encoding of the values, and the
# encoding of the repetition levels (in data pages V2 their length in bytes).
_STRUCTS: Final[Mapping[int, int]] = {PageType.DATA: 5, PageType.DICTIONARY: 7, PageType.DATA_V2: 8}
_ENCODING: Final[Mapping[int, int]] = {PageType.DATA: 2, PageType.DICTIONARY: 2, PageType.DATA_V2: 4}
_LEVELS: Final[Mapping[int, int]] = {PageType.DATA: 4, PageType.DATA_V2: 6}


@frozen
class Chunk:
    """The position and length of a column chunk's pages in the file, in bytes, and their codec."""

    start: int
    length: int
    codec: int


@frozen
class Page:
    """The values of a page header.

    Attributes:
        type: A `PageType`, or another number.
        start: Position in the file after the header.
        size: Decompressed size in bytes.
        length: Bytes in the file without the header.
        values: Number of values, including nulls and the entries of lists and maps.
        encoding: The encoding of the values.
        levels: The encoding of the repetition levels; in a page of `PageType.DATA_V2` their length in bytes.
    """

    type: int
    start: int
    size: int
    length: int
    values: int
    encoding: int
    levels: int


def pages(chunk: Chunk, content: BinaryIO) -> Iterator[Page]:
    """Yield the pages of a column chunk, with the same traversal as pyarrow.

    Raises:
        ParquetError: A header cannot be read.
    """
    at, end = chunk.start, chunk.start + chunk.length
    while at < end:
        page = _page_at(content, at, end)
        yield page
        at = page.start + page.length


def _page_at(content: BinaryIO, start: int, end: int) -> Page:
    """Return the page whose header begins at `start`, reading at most twice the header's length."""
    size = _FIRST_READ
    while True:
        content.seek(start)
        data = content.read(min(size, end - start))
        try:
            return _page(Cursor(data), start)
        except ThriftError as error:
            if len(data) < size or size >= _MAX_HEADER:
                raise ParquetError(f"a page header cannot be read: {error}") from None
        size *= 2


def _page(cursor: Cursor, start: int) -> Page:
    # As in pyarrow, the last of repeated fields counts, and a field of another type is ignored.
    numbers = {_TYPE: -1, _SIZE: -1, _LENGTH: -1}
    structs: defaultdict[int, dict[int, int]] = defaultdict(dict)
    for number, type_ in cursor.fields():
        if type_ == _I32 and number in numbers:
            numbers[number] = cursor.integer()
        elif type_ == STRUCT:
            structs[number] |= _integers(cursor)
        else:
            cursor.skip(type_)
    if min(numbers.values()) < 0:
        raise ThriftError("its sizes are missing or negative")
    page_type = numbers[_TYPE]
    header = structs[_STRUCTS.get(page_type, 0)]
    return Page(
        page_type,
        start + cursor.at,
        numbers[_SIZE],
        numbers[_LENGTH],
        max(header.get(_NUM_VALUES, 0), 0),
        header.get(_ENCODING.get(page_type, 0), -1),
        header.get(_LEVELS.get(page_type, 0), -1),
    )


def _integers(cursor: Cursor) -> dict[int, int]:
    """Return the integer fields of a struct."""
    integers: dict[int, int] = {}
    for number, type_ in cursor.fields():
        if type_ == _I32:
            integers[number] = cursor.integer()
        else:
            cursor.skip(type_)
    return integers


@frozen
class RowGroup:
    """A row group; its chunks are in the order of the schema's leaves."""

    rows: int
    chunks: tuple[Chunk, ...]


def row_groups(footer: bytes) -> tuple[RowGroup, ...]:
    """Return the row groups of a footer.

    Raises:
        ParquetError: The footer cannot be read, or has too many elements.
    """
    try:
        return _Footer(footer).row_groups()
    except ThriftError as error:
        raise ParquetError(f"its footer cannot be read: {error}") from None


class _Footer:
    def __init__(self, data: bytes) -> None:
        self._cursor = Cursor(data)
        self._counted = 0

    def row_groups(self) -> tuple[RowGroup, ...]:
        groups: tuple[RowGroup, ...] = ()
        for number, type_ in self._cursor.fields():
            if type_ == _LIST and number == _ROW_GROUPS:
                groups = self._read_list(self._row_group)
            elif type_ == _LIST and number == _SCHEMA:
                self._read_list(lambda: self._cursor.skip(STRUCT))
            else:
                self._cursor.skip(type_)
        return groups

    def _read_list(self, read: Callable[[], T]) -> tuple[T, ...]:
        number, type_ = self._cursor.elements()
        self._counted += number
        if self._counted > log_limits.MAX_CHUNKS:
            raise LimitError(f"its footer has more than {log_limits.MAX_CHUNKS} columns")
        if number and type_ != STRUCT:
            raise ThriftError("a list has the wrong element type")
        return tuple(read() for _ in range(number))

    def _row_group(self) -> RowGroup:
        rows, chunks = 0, tuple[Chunk, ...]()
        for number, type_ in self._cursor.fields():
            if type_ == _LIST and number == _COLUMNS:
                chunks = self._read_list(self._chunk)
            elif type_ == _I64 and number == _NUM_ROWS:
                rows = self._cursor.integer()
            else:
                self._cursor.skip(type_)
        return RowGroup(rows, chunks)

    def _chunk(self) -> Chunk:
        chunk = Chunk(0, 0, 0)
        for number, type_ in self._cursor.fields():
            if type_ == STRUCT and number == _META_DATA:
                chunk = self._chunk_metadata()
            else:
                self._cursor.skip(type_)
        return chunk

    def _chunk_metadata(self) -> Chunk:
        types = {_CODEC: _I32, _COMPRESSED_SIZE: _I64, _DATA: _I64, _DICTIONARY: _I64}
        numbers = dict.fromkeys(types, 0)
        for number, type_ in self._cursor.fields():
            if type_ == types.get(number):
                numbers[number] = self._cursor.integer()
            else:
                self._cursor.skip(type_)
        start = numbers[_DATA]
        if numbers[_DICTIONARY]:  # some writers write 0 if there is no dictionary
            start = min(start, numbers[_DICTIONARY])
        if min(start, numbers[_COMPRESSED_SIZE]) < 0:
            raise ThriftError("a column has a negative position or size")
        return Chunk(start, numbers[_COMPRESSED_SIZE], numbers[_CODEC])


class ThriftError(ValueError):
    """The bytes are not a valid Thrift value, or end within a value."""


class Cursor:
    """A position in the bytes of a header."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the ids and types of a struct's fields; read or skip each value before the next field."""
        number = 0
        while header := self._byte():
            delta = header >> 4
            number = number + delta if delta else self.integer()
            yield number, header & 0x0F

    def integer(self) -> int:
        """Read a number of 16, 32 or 64 bits."""
        raw = self.varint()
        return (raw >> 1) ^ -(raw & 1)

    def varint(self) -> int:
        """Read an unsigned number."""
        number = self._byte()
        if number < 0x80:  # noqa: PLR2004 - the highest bit marks that more bytes follow
            return number
        number &= 0x7F
        for index in range(1, _MAX_VARINT):
            byte = self._byte()
            number |= (byte & 0x7F) << 7 * index
            if byte < 0x80:  # noqa: PLR2004
                return number
        raise ThriftError("a number has more than 64 bits")

    def elements(self) -> tuple[int, int]:
        """Read the number of elements of a list, and their type."""
        header = self._byte()
        count = header >> 4
        return (self.varint() if count == _LONG_LIST else count), header & 0x0F

    def skip(self, type_: int, depth: int = 0, *, in_list: bool = False) -> None:
        """Skip a value."""
        if depth > _MAX_DEPTH:
            raise ThriftError("nested too deeply")
        if type_ in _VARINTS:
            self.varint()
        elif type_ == _BINARY:
            length = self.varint()
            self.at += length
        elif type_ in _BOOLEANS:
            self.at += in_list  # the value of a boolean field is in its type
        elif type_ == _BYTE:
            self.at += 1
        elif type_ == _DOUBLE:
            self.at += 8
        elif type_ in _LISTS:
            count, element_type = self.elements()
            self._skip_all(count, (element_type,), depth)
        elif type_ == _MAP:
            if count := self.varint():
                kinds = self._byte()
                self._skip_all(count, (kinds >> 4, kinds & 0x0F), depth)
        elif type_ == STRUCT:
            for _number, field_type in self.fields():
                self.skip(field_type, depth + 1)
        else:
            raise ThriftError(f"unknown type {type_}")

    def _skip_all(self, count: int, types: tuple[int, ...], depth: int) -> None:
        for _ in range(count):
            for type_ in types:
                self.skip(type_, depth + 1, in_list=True)
            if self.at > len(self.data):
                raise ThriftError("the data ends within a value")

    def _byte(self) -> int:
        try:
            byte = self.data[self.at]
        except IndexError:
            raise ThriftError("the data ends within a value") from None
        self.at += 1
        return byte
