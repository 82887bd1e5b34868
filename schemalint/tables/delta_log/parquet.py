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

from schemalint.base.values import frozen
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.parquet_headers import (
    Chunk,
    Cursor,
    LimitError,
    Page,
    PageType,
    ParquetError,
    RowGroup,
    pages,
    row_groups,
)

_TAIL: Final = 8
_MAGIC: Final = b"PAR1"
_BUFFER: Final = 256 * 1024
_ONE_LARGE_FOOTER: Final = threading.Lock()


# parquet.thrift, `CompressionCodec` and `Encoding`; this module or pyarrow cannot read the other values.
_CODECS: Final = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_UNCOMPRESSED: Final = 0
_RLE: Final = 3
_DELTA_BYTE_ARRAY: Final = 7

_PREFIX: Final = 4  # bytes of a length before its data
_ENTRY: Final = 16  # bytes assumed for an entry at least


def open_parquet(content: BinaryIO) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Open a ``pyarrow.parquet.ParquetFile``, to read its schema.

    Raises:
        ParquetError: The footer is too large, or claims too many columns.
        ArrowException, OSError: Raised by pyarrow.
    """
    length = _footer_length(content)
    if length <= log_limits.LARGE_FOOTER:
        return _open(content)
    with _ONE_LARGE_FOOTER:
        row_groups(_footer(content, length))
        return _open(content)


class Rows:
    """The rows of a Parquet file, in batches of bounded memory."""

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

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Yield the name and the values of some columns of structs, for one batch of rows after the other.

        Raises:
            ParquetError: The rows exceed a limit.
            ArrowException, OSError: Raised by pyarrow.
        """
        for group in range(self.file.num_row_groups):
            yield from self.group(group, columns)

    def group(self, group: int, columns: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """Yield the rows of one row group; see `batches`."""
        from pyarrow import types  # noqa: PLC0415 (loaded with the file)

        row_group = self._groups[group]
        if not row_group.rows:
            return
        rows = self._rows_per_batch(row_group, columns)
        self._batches += -(-row_group.rows // rows)
        if self._batches > log_limits.MAX_BATCHES:
            raise LimitError("it claims too many large rows")
        for batch in self.file.iter_batches(batch_size=rows, row_groups=[group], columns=list(columns)):
            self._bytes += batch.nbytes
            if self._bytes > log_limits.BYTES_PER_BYTE * self._size:
                raise LimitError(f"its {self._size} bytes expand to more than {self._bytes}")
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if types.is_struct(column.type):  # `add.path` may also be the name of a whole column
                    yield name, column

    def _check_groups(self) -> None:
        if len(self._groups) != self.file.num_row_groups:
            raise ParquetError("its footer lists its row groups twice")
        rows = sum(group.rows for group in self._groups)
        if rows > log_limits.ROWS_PER_BYTE * self._size:
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
        if held > log_limits.MAX_PAGES:
            raise LimitError(f"its pages take more than {log_limits.MAX_PAGES >> 20} MiB at once")
        return max(1, min(log_limits.BATCH, log_limits.MAX_BATCH // (width or 1)))

    def _sizes(self, chunk: Chunk, column: Any) -> _Sizes:  # noqa: ANN401 - pyarrow has no types
        if not (levels := column.max_repetition_level):
            return _column_sizes(chunk, self._content)
        is_text = column.physical_type == "BYTE_ARRAY"
        return _entry_sizes(chunk, self._content, levels=levels, is_text=is_text)


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
    if length > log_limits.MAX_FOOTER:
        raise LimitError(f"its footer is larger than {log_limits.MAX_FOOTER >> 20} MiB")
    return length


def _footer(content: BinaryIO, length: int) -> bytes:
    content.seek(-_TAIL - length, io.SEEK_END)
    data = content.read(length)
    content.seek(0)
    return data


@frozen
class _Sizes:
    """The memory that a column chunk takes, in bytes.

    Attributes:
        held: Memory held while batches are read, independent of their number of rows.
        width: Additional memory per row, at most.
    """

    held: int
    width: int


def _column_sizes(chunk: Chunk, content: BinaryIO) -> _Sizes:
    """Return the sizes of a column with one value in each row.

    Raises:
        ParquetError: A page header cannot be read.
    """
    largest = dictionary = width = 0
    for page in pages(chunk, content):
        largest = max(largest, page.size + page.length)
        if page.type == PageType.DICTIONARY:
            dictionary = max(dictionary, page.size)
        elif page.encoding == _DELTA_BYTE_ARRAY:  # a value may repeat the previous one and add a few bytes
            width = max(width, page.size)
        else:
            width = max(width, page.size // max(page.values, 1))
    return _Sizes(largest + dictionary, max(width, dictionary))


def _entry_sizes(chunk: Chunk, content: BinaryIO, *, levels: int, is_text: bool) -> _Sizes:
    """Return the sizes of a column with many entries per row, as in lists and maps.

    A single row may have all entries. Only the repetition levels show how many rows there are, not the
    headers. In a checkpoint nearly all rows are null, and each null counts as an entry.

    Args:
        chunk: The column chunk.
        content: The file.
        levels: The largest repetition level.
        is_text: Whether the values are byte arrays.

    Raises:
        ParquetError: A page cannot be read, or the pages are too large.
        ArrowException, OSError: Raised by pyarrow.
    """
    size = continued = counted = 0
    width = _ENTRY
    for page in pages(chunk, content):
        size += page.size + page.length
        if size > log_limits.MAX_PAGES:
            raise LimitError(f"its pages take more than {log_limits.MAX_PAGES >> 20} MiB at once")
        if page.type == PageType.DICTIONARY:
            width = max(width, _longest(page, chunk, content) if is_text else page.size)
            continue
        if page.encoding == _DELTA_BYTE_ARRAY:
            width = max(width, page.size)
        encoded = _levels(page, chunk, content) if levels == 1 and counted <= log_limits.MAX_LEVELS else None
        counted += len(encoded or b"")
        if encoded and counted <= log_limits.MAX_LEVELS:
            continued += min(_sum_levels(encoded), page.values)
        else:
            continued += page.values
    return _Sizes(size + continued * width, width)


def _longest(page: Page, chunk: Chunk, content: BinaryIO) -> int:
    """Return the length of the longest text of a dictionary in bytes, or an upper bound."""
    data = _data(page, chunk, content)
    if data is None or len(data) > log_limits.MAX_DICTIONARY:
        return page.size
    at = longest = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + _PREFIX], "little")
        longest, at = max(longest, length), at + _PREFIX + length
    return min(longest, page.size)


def _levels(page: Page, chunk: Chunk, content: BinaryIO) -> bytes | None:
    """Return the repetition levels of a page; None if their encoding is unknown."""
    if page.type == PageType.DATA_V2:  # the levels precede the compressed data
        content.seek(page.start)
        if page.levels >= 0:
            return content.read(min(page.levels, page.length))
        return None
    if page.type != PageType.DATA or page.levels != _RLE:
        return None
    data = _data(page, chunk, content)
    return data and data[_PREFIX : _PREFIX + int.from_bytes(data[:_PREFIX], "little")]


def _data(page: Page, chunk: Chunk, content: BinaryIO) -> bytes | None:
    """Return a decompressed page; None for a codec that is not supported."""
    content.seek(page.start)
    data = content.read(page.length)
    if chunk.codec == _UNCOMPRESSED:
        return data
    if chunk.codec not in _CODECS:
        return None
    import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need

    decompressed: bytes = pa.decompress(data, page.size, codec=_CODECS[chunk.codec], asbytes=True)
    return decompressed


def _sum_levels(levels: bytes) -> int:
    """Return the sum of 1-bit levels (Parquet's Encodings.md, "Run Length Encoding / Bit-Packing Hybrid")."""
    cursor, total = Cursor(levels), 0
    while cursor.at < len(levels):
        header = cursor.varint()
        count, is_packed = header >> 1, header & 1
        run = levels[cursor.at : cursor.at + (count if is_packed else 1)]  # packed in groups of eight
        total += int.from_bytes(run, "little").bit_count() * (1 if is_packed else count)
        cursor.at += len(run)
    return total
