"""How much memory a column chunk can take, by its page headers, and by what lies in its pages if need be."""

from __future__ import annotations

from typing import BinaryIO, Final

from schemalint.delta_log import limits
from schemalint.delta_log.pages import Chunk, LimitError, Page, PageType, pages
from schemalint.delta_log.thrift import Cursor
from schemalint.values import frozen

# parquet.thrift, `CompressionCodec` and `Encoding`; the others cannot be read here, or not by pyarrow.
_CODECS: Final = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
_UNCOMPRESSED: Final = 0
_RLE: Final = 3
_DELTA_BYTE_ARRAY: Final = 7

_PREFIX: Final = 4
_ENTRY: Final = 16


@frozen
class Sizes:
    """What a column chunk takes, in bytes.

    Attributes:
        held: At the same time as the batches, however few rows these have.
        width: Of a row at most, besides.
    """

    held: int
    width: int


def column_sizes(chunk: Chunk, content: BinaryIO) -> Sizes:
    """The sizes of a column that has one value in each row.

    Raises:
        ParquetError: A page header cannot be read.
    """
    largest = dictionary = width = 0
    for page in pages(chunk, content):
        largest = max(largest, page.size + page.length)
        if page.type == PageType.DICTIONARY:
            dictionary = max(dictionary, page.size)
        elif page.encoding == _DELTA_BYTE_ARRAY:  # a value may be the one before, and a few bytes
            width = max(width, page.size)
        else:
            width = max(width, page.size // max(page.values, 1))
    return Sizes(largest + dictionary, max(width, dictionary))


def entry_sizes(chunk: Chunk, content: BinaryIO, *, levels: int, is_text: bool) -> Sizes:
    """The sizes of a column of which a row has many entries, as in lists and maps.

    One row may have all entries, and the headers do not say how many rows there are: that stands in the
    repetition levels only. In a checkpoint nearly all rows are nulls, and an entry each.

    Args:
        chunk: The column chunk.
        content: The file.
        levels: The largest repetition level.
        is_text: Whether its values are byte arrays.

    Raises:
        ParquetError: A page cannot be read, or its pages are too large.
        ArrowException, OSError: As pyarrow.
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
        found = _levels(page, chunk, content) if levels == 1 and counted <= limits.MAX_LEVELS else None
        counted += len(found or b"")
        if found and counted <= limits.MAX_LEVELS:
            continued += min(_ones(found), page.values)
        else:
            continued += page.values
    return Sizes(size + continued * width, width)


def _longest(page: Page, chunk: Chunk, content: BinaryIO) -> int:
    """Bytes of the longest text of a dictionary, or more."""
    data = _data(page, chunk, content)
    if data is None or len(data) > limits.MAX_DICTIONARY:
        return page.size
    at = longest = 0
    while at < len(data):
        length = int.from_bytes(data[at : at + _PREFIX], "little")
        longest, at = max(longest, length), at + _PREFIX + length
    return min(longest, page.size)


def _levels(page: Page, chunk: Chunk, content: BinaryIO) -> bytes | None:
    """The repetition levels of a page; None if it is not known how they are stored."""
    if page.type == PageType.DATA_V2:  # they are in front of what is compressed
        content.seek(page.start)
        return content.read(min(page.levels, page.length)) if page.levels >= 0 else None
    if page.type != PageType.DATA or page.levels != _RLE:
        return None
    data = _data(page, chunk, content)
    return data and data[_PREFIX : _PREFIX + int.from_bytes(data[:_PREFIX], "little")]


def _data(page: Page, chunk: Chunk, content: BinaryIO) -> bytes | None:
    """A page, decompressed; None if that is not possible here."""
    content.seek(page.start)
    data = content.read(page.length)
    if chunk.codec == _UNCOMPRESSED:
        return data
    if chunk.codec not in _CODECS:
        return None
    import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need

    found: bytes = pa.decompress(data, page.size, codec=_CODECS[chunk.codec], asbytes=True)
    return found


def _ones(levels: bytes) -> int:
    """The sum of levels of one bit (Parquet's Encodings.md, "Run Length Encoding / Bit-Packing Hybrid")."""
    cursor, found = Cursor(levels), 0
    while cursor.at < len(levels):
        header = cursor.varint()
        count, is_packed = header >> 1, header & 1
        taken = levels[cursor.at : cursor.at + (count if is_packed else 1)]  # packed in groups of eight
        found += int.from_bytes(taken, "little").bit_count() * (1 if is_packed else count)
        cursor.at += len(taken)
    return found
