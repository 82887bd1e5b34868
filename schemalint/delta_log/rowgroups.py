"""The row groups in a Parquet footer (parquet.thrift, ``FileMetaData``).

They are read from the bytes: pyarrow ends the process when it is asked for a column chunk whose statistics
contradict the schema, as they do in damaged files (measured on 26.0).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from schemalint.delta_log import limits
from schemalint.delta_log.pages import Chunk, LimitError, ParquetError
from schemalint.delta_log.thrift import I32, I64, LIST, STRUCT, Cursor, ThriftError
from schemalint.values import frozen

# Ids of fields.
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
    """The row groups of a footer.

    Raises:
        ParquetError: It cannot be read, or has too many elements.
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
        found: tuple[RowGroup, ...] = ()
        for number, type_ in self._cursor.fields():
            if type_ == LIST and number == _ROW_GROUPS:
                found = self._all(self._row_group)
            elif type_ == LIST and number == _SCHEMA:
                self._all(lambda: self._cursor.skip(STRUCT))
            else:
                self._cursor.skip(type_)
        return found

    def _all(self, read: Callable[[], T]) -> tuple[T, ...]:
        number, type_ = self._cursor.elements()
        self._counted += number
        if self._counted > limits.MAX_CHUNKS:
            raise LimitError(f"its footer has more than {limits.MAX_CHUNKS} columns")
        if number and type_ != STRUCT:
            raise ThriftError("a list of something else")
        return tuple(read() for _ in range(number))

    def _row_group(self) -> RowGroup:
        rows, chunks = 0, tuple[Chunk, ...]()
        for number, type_ in self._cursor.fields():
            if type_ == LIST and number == _COLUMNS:
                chunks = self._all(self._chunk)
            elif type_ == I64 and number == _NUM_ROWS:
                rows = self._cursor.integer()
            else:
                self._cursor.skip(type_)
        return RowGroup(rows, chunks)

    def _chunk(self) -> Chunk:
        found = Chunk(0, 0, 0)
        for number, type_ in self._cursor.fields():
            if type_ == STRUCT and number == _META_DATA:
                found = self._place()
            else:
                self._cursor.skip(type_)
        return found

    def _place(self) -> Chunk:
        types = {_CODEC: I32, _LENGTH: I64, _DATA: I64, _DICTIONARY: I64}
        places = dict.fromkeys(types, 0)
        for number, type_ in self._cursor.fields():
            if type_ == types.get(number):
                places[number] = self._cursor.integer()
            else:
                self._cursor.skip(type_)
        start = places[_DATA]
        if places[_DICTIONARY]:  # 0 is what some writers say for none
            start = min(start, places[_DICTIONARY])
        if min(start, places[_LENGTH]) < 0:
            raise ThriftError("a column has a place or a size below zero")
        return Chunk(start, places[_LENGTH], places[_CODEC])
