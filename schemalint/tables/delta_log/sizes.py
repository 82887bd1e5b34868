"""Compute the memory that a column chunk can take, from its page headers and if necessary its pages."""

from __future__ import annotations

from typing import BinaryIO, Final

from schemalint.base.values import frozen
from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.pages import Chunk, LimitError, Page, PageType, pages
from schemalint.tables.delta_log.thrift import Cursor

# parquet.thrift, `CompressionCodec` and `Encoding`; this module or pyarrow cannot read the other values.
_CODECS: Final = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_UNCOMPRESSED: Final = 0
_RLE: Final = 3
_DELTA_BYTE_ARRAY: Final = 7

_PREFIX: Final = 4  # bytes of a length before its data
_ENTRY: Final = 16  # bytes assumed for an entry at least


@frozen
class Sizes:
    """The memory that a column chunk takes, in bytes.

    Attributes:
        held: Memory held while batches are read, independent of their number of rows.
        width: Additional memory per row, at most.
    """

    held: int
    width: int


def column_sizes(chunk: Chunk, content: BinaryIO) -> Sizes:
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
    return Sizes(largest + dictionary, max(width, dictionary))


def entry_sizes(chunk: Chunk, content: BinaryIO, *, levels: int, is_text: bool) -> Sizes:
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
        if size > limits.MAX_PAGES:
            raise LimitError(f"its pages take more than {limits.MAX_PAGES >> 20} MiB at once")
        if page.type == PageType.DICTIONARY:
            width = max(width, _longest(page, chunk, content) if is_text else page.size)
            continue
        if page.encoding == _DELTA_BYTE_ARRAY:
            width = max(width, page.size)
        encoded = _levels(page, chunk, content) if levels == 1 and counted <= limits.MAX_LEVELS else None
        counted += len(encoded or b"")
        if encoded and counted <= limits.MAX_LEVELS:
            continued += min(_sum_levels(encoded), page.values)
        else:
            continued += page.values
    return Sizes(size + continued * width, width)


def _longest(page: Page, chunk: Chunk, content: BinaryIO) -> int:
    """Return the length of the longest text of a dictionary in bytes, or an upper bound."""
    data = _data(page, chunk, content)
    if data is None or len(data) > limits.MAX_DICTIONARY:
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
        return content.read(min(page.levels, page.length)) if page.levels >= 0 else None
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
