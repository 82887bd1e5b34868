"""Read the row groups in a Parquet footer (parquet.thrift, ``FileMetaData``).

They are parsed from the bytes: pyarrow ends the process on a column chunk whose statistics contradict the
schema, as they do in damaged files (measured on 26.0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from schemalint.base.values import frozen
from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.pages import Chunk, LimitError, ParquetError
from schemalint.tables.delta_log.thrift import I32, I64, LIST, STRUCT, Cursor, ThriftError

# Field ids.
_SCHEMA, _ROW_GROUPS = 2, 4
_COLUMNS, _NUM_ROWS = 1, 3
_META_DATA: Final = 3
_CODEC, _LENGTH, _DATA, _DICTIONARY = 4, 7, 9, 11

T = TypeVar("T")


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
            if type_ == LIST and number == _ROW_GROUPS:
                groups = self._read_list(self._row_group)
            elif type_ == LIST and number == _SCHEMA:
                self._read_list(lambda: self._cursor.skip(STRUCT))
            else:
                self._cursor.skip(type_)
        return groups

    def _read_list(self, read: Callable[[], T]) -> tuple[T, ...]:
        number, type_ = self._cursor.elements()
        self._counted += number
        if self._counted > limits.MAX_CHUNKS:
            raise LimitError(f"its footer has more than {limits.MAX_CHUNKS} columns")
        if number and type_ != STRUCT:
            raise ThriftError("a list has the wrong element type")
        return tuple(read() for _ in range(number))

    def _row_group(self) -> RowGroup:
        rows, chunks = 0, tuple[Chunk, ...]()
        for number, type_ in self._cursor.fields():
            if type_ == LIST and number == _COLUMNS:
                chunks = self._read_list(self._chunk)
            elif type_ == I64 and number == _NUM_ROWS:
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
        types = {_CODEC: I32, _LENGTH: I64, _DATA: I64, _DICTIONARY: I64}
        numbers = dict.fromkeys(types, 0)
        for number, type_ in self._cursor.fields():
            if type_ == types.get(number):
                numbers[number] = self._cursor.integer()
            else:
                self._cursor.skip(type_)
        start = numbers[_DATA]
        if numbers[_DICTIONARY]:  # some writers write 0 if there is no dictionary
            start = min(start, numbers[_DICTIONARY])
        if min(start, numbers[_LENGTH]) < 0:
            raise ThriftError("a column has a negative position or size")
        return Chunk(start, numbers[_LENGTH], numbers[_CODEC])
