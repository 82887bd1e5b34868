"""Parquet files of strangers, in bounded memory: what their headers claim is looked at before pyarrow.

pyarrow allocates what a footer and a page header say before it compares that with the file, and repeats the
values of a dictionary for all rows of a batch (measured on 26.0: a footer of 50 MB takes more than 10 GB, and
so does one name of 1 MiB in a million rows, a file of a few kilobytes). The format: parquet.thrift.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final

from schemalint.delta_log import limits
from schemalint.delta_log.pages import Chunk, LimitError, ParquetError
from schemalint.delta_log.rowgroups import RowGroup, row_groups
from schemalint.delta_log.sizes import Sizes, column_sizes, entry_sizes

_TAIL: Final = 8
_MAGIC: Final = b"PAR1"
_BUFFER: Final = 256 * 1024
_ONE_LARGE_FOOTER: Final = threading.Lock()


def open_parquet(content: BinaryIO) -> Any:  # noqa: ANN401 - pyarrow has no types
    """A ``pyarrow.parquet.ParquetFile``, to look at its schema.

    Raises:
        ParquetError: The footer is too large, or claims too much.
        ArrowException, OSError: As pyarrow.
    """
    length = _footer_length(content)
    if length <= limits.LARGE_FOOTER:
        return _opened(content)
    with _ONE_LARGE_FOOTER:
        row_groups(_footer(content, length))
        return _opened(content)


class Rows:
    """The rows of a file, in batches of bounded memory.

    Attributes:
        file: The ``pyarrow.parquet.ParquetFile``.
    """

    def __init__(self, content: BinaryIO) -> None:
        """Open it.

        Raises:
            ParquetError: See `open_parquet`; or it has more rows or columns than can be in it.
            ArrowException, OSError: As pyarrow.
        """
        self.file = open_parquet(content)
        self._content = content
        self._groups = row_groups(_footer(content, _footer_length(content)))
        self._size = content.seek(0, io.SEEK_END)
        self._batches = self._bytes = 0
        self._check_groups()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows of some columns as ``pyarrow.RecordBatch``.

        Raises:
            ParquetError: They would take more than the limits.
            ArrowException, OSError: As pyarrow.
        """
        for group in range(self.file.num_row_groups):
            yield from self.group(group, columns)

    def group(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        """The rows of one row group; see `batches`."""
        found = self._groups[group]
        if not found.rows:
            return
        rows = self._rows_at_once(found, columns)
        self._batches += -(-found.rows // rows)
        if self._batches > limits.MAX_BATCHES:
            raise LimitError("it claims too many rows of too large a size")
        for batch in self.file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns)):
            self._bytes += batch.nbytes
            if self._bytes > limits.BYTES_PER_BYTE * self._size:
                raise LimitError(f"its {self._size} bytes stand for more than {self._bytes}")
            yield batch

    def _check_groups(self) -> None:
        if len(self._groups) != self.file.num_row_groups:
            raise ParquetError("its footer says twice what its row groups are")
        rows = sum(group.rows for group in self._groups)
        if rows > limits.ROWS_PER_BYTE * self._size:
            raise LimitError(f"it claims {rows} rows, more than can be in it")
        if sum(chunk.length for group in self._groups for chunk in group.chunks) > self._size:
            raise ParquetError("it claims columns of more bytes than it has")

    def _rows_at_once(self, group: RowGroup, wanted: Sequence[str]) -> int:
        schema = self.file.schema
        if len(group.chunks) != len(schema):
            raise ParquetError("a row group has other columns than the schema")
        held = width = 0
        for number, chunk in enumerate(group.chunks):
            column = schema.column(number)
            if any(f"{column.path}.".startswith(f"{name}.") for name in wanted):
                sizes = self._sizes(chunk, column)
                held, width = held + sizes.held, width + sizes.width
        if held > limits.MAX_PAGES:
            raise LimitError(f"its pages take more than {limits.MAX_PAGES >> 20} MiB at once")
        return max(1, min(limits.BATCH, limits.MAX_BATCH // (width or 1)))

    def _sizes(self, chunk: Chunk, column: Any) -> Sizes:  # noqa: ANN401 - pyarrow has no types
        if not (levels := column.max_repetition_level):
            return column_sizes(chunk, self._content)
        is_text = column.physical_type == "BYTE_ARRAY"
        return entry_sizes(chunk, self._content, levels=levels, is_text=is_text)


def _opened(content: BinaryIO) -> Any:  # noqa: ANN401
    from pyarrow import parquet  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need

    # A column is not to be read into memory as a whole before its pages are.
    return parquet.ParquetFile(content, buffer_size=_BUFFER, pre_buffer=False)


def _footer_length(content: BinaryIO) -> int:
    size = content.seek(0, io.SEEK_END)
    content.seek(max(0, size - _TAIL))
    tail = content.read(_TAIL)
    content.seek(0)
    length = int.from_bytes(tail[:4], "little")
    if size < _TAIL or tail[4:] != _MAGIC or length > size:
        return 0  # pyarrow says what is wrong with it
    if length > limits.MAX_FOOTER:
        raise LimitError(f"its footer is larger than {limits.MAX_FOOTER >> 20} MiB")
    return length


def _footer(content: BinaryIO, length: int) -> bytes:
    content.seek(-_TAIL - length, io.SEEK_END)
    data = content.read(length)
    content.seek(0)
    return data
