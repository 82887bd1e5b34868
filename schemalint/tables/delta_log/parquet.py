"""Read untrusted Parquet files in bounded memory, by checking their headers before pyarrow reads them.

pyarrow allocates the sizes in a footer or page header before comparing them with the file, and repeats
dictionary values for all rows of a batch (measured on 26.0: a footer of 50 MB takes more than 10 GB, and so
does one name of 1 MiB in a million rows, a file of a few kilobytes). The format is in parquet.thrift.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Final

from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.pages import Chunk, LimitError, ParquetError
from schemalint.tables.delta_log.rowgroups import RowGroup, row_groups
from schemalint.tables.delta_log.sizes import Sizes, column_sizes, entry_sizes

_TAIL: Final = 8
_MAGIC: Final = b"PAR1"
_BUFFER: Final = 256 * 1024
_ONE_LARGE_FOOTER: Final = threading.Lock()


def open_parquet(content: BinaryIO) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Open a ``pyarrow.parquet.ParquetFile``, to read its schema.

    Raises:
        ParquetError: The footer is too large, or claims too many columns.
        ArrowException, OSError: Raised by pyarrow.
    """
    length = _footer_length(content)
    if length <= limits.LARGE_FOOTER:
        return _open(content)
    with _ONE_LARGE_FOOTER:
        row_groups(_footer(content, length))
        return _open(content)


class Rows:
    """The rows of a Parquet file, in batches of bounded memory.

    Attributes:
        file: The ``pyarrow.parquet.ParquetFile``.
    """

    def __init__(self, content: BinaryIO) -> None:
        """Open a file.

        Raises:
            ParquetError: As `open_parquet`, or the file claims more rows or columns than fit into it.
            ArrowException, OSError: Raised by pyarrow.
        """
        self.file = open_parquet(content)
        self._content = content
        self._groups = row_groups(_footer(content, _footer_length(content)))
        self._size = content.seek(0, io.SEEK_END)
        self._batches = self._bytes = 0
        self._check_groups()

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield all rows of some columns as ``pyarrow.RecordBatch``.

        Raises:
            ParquetError: The rows exceed a limit.
            ArrowException, OSError: Raised by pyarrow.
        """
        for group in range(self.file.num_row_groups):
            yield from self.group(group, columns)

    def group(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of one row group; see `batches`."""
        row_group = self._groups[group]
        if not row_group.rows:
            return
        rows = self._rows_per_batch(row_group, columns)
        self._batches += -(-row_group.rows // rows)
        if self._batches > limits.MAX_BATCHES:
            raise LimitError("it claims too many large rows")
        for batch in self.file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns)):
            self._bytes += batch.nbytes
            if self._bytes > limits.BYTES_PER_BYTE * self._size:
                raise LimitError(f"its {self._size} bytes expand to more than {self._bytes}")
            yield batch

    def _check_groups(self) -> None:
        if len(self._groups) != self.file.num_row_groups:
            raise ParquetError("its footer lists its row groups twice")
        rows = sum(group.rows for group in self._groups)
        if rows > limits.ROWS_PER_BYTE * self._size:
            raise LimitError(f"it claims {rows} rows, more than it can hold")
        if sum(chunk.length for group in self._groups for chunk in group.chunks) > self._size:
            raise ParquetError("it claims columns of more bytes than it has")

    def _rows_per_batch(self, group: RowGroup, names: Sequence[str]) -> int:
        schema = self.file.schema
        if len(group.chunks) != len(schema):
            raise ParquetError("a row group has other columns than the schema")
        held = width = 0
        for number, chunk in enumerate(group.chunks):
            column = schema.column(number)
            if any(f"{column.path}.".startswith(f"{name}.") for name in names):
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


def _open(content: BinaryIO) -> Any:  # noqa: ANN401
    from pyarrow import parquet  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need

    # Without pre_buffer=False pyarrow loads whole columns before it reads their pages.
    return parquet.ParquetFile(content, buffer_size=_BUFFER, pre_buffer=False)


def _footer_length(content: BinaryIO) -> int:
    size = content.seek(0, io.SEEK_END)
    content.seek(max(0, size - _TAIL))
    tail = content.read(_TAIL)
    content.seek(0)
    length = int.from_bytes(tail[:4], "little")
    if size < _TAIL or tail[4:] != _MAGIC or length > size:
        return 0  # pyarrow reports what is wrong with the file
    if length > limits.MAX_FOOTER:
        raise LimitError(f"its footer is larger than {limits.MAX_FOOTER >> 20} MiB")
    return length


def _footer(content: BinaryIO, length: int) -> bytes:
    content.seek(-_TAIL - length, io.SEEK_END)
    data = content.read(length)
    content.seek(0)
    return data
