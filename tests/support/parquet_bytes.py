"""Parquet files built byte by byte, so that headers can lie (parquet.thrift, compact protocol)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

INT32, BYTE_ARRAY = 1, 6
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
PLAIN, RLE, DELTA_BYTE_ARRAY, DICTIONARY = 0, 3, 7, 8
UNCOMPRESSED, GZIP = 0, 2

_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12


class Long(int):
    """A 64-bit number; other integers are written as 32-bit numbers."""


@dataclass(frozen=True)
class Raw:
    """A list of structs that are already encoded."""

    count: int
    data: bytes


Value: TypeAlias = "int | bytes | Raw | Sequence[Value] | Mapping[int, Value]"
Struct: TypeAlias = Mapping[int, Value]


def struct(fields: Struct) -> bytes:
    """Encode a struct; `fields` maps field ids to values."""
    data, previous = b"", 0
    for number, value in sorted(fields.items()):
        type_, content = _value(value)
        data += bytes([(number - previous) << 4 | type_]) + content
        previous = number
    return data + b"\0"


def _value(value: Value) -> tuple[int, bytes]:
    match value:
        case int():
            return _I64 if isinstance(value, Long) else _I32, _varint(_zigzag(value))
        case bytes():
            return _BINARY, _varint(len(value)) + value
        case Raw():
            return _LIST, bytes([0xF0 | _STRUCT]) + _varint(value.count) + value.data
        case Mapping():
            return _STRUCT, struct(value)
        case _:
            parts = [_value(element) for element in value]
            type_ = parts[0][0] if parts else _STRUCT
            return _LIST, bytes([0xF0 | type_]) + _varint(len(parts)) + b"".join(data for _, data in parts)


def _zigzag(number: int) -> int:
    return number << 1 ^ number >> 63


def _varint(number: int) -> bytes:
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*data, number))


def group(name: bytes, children: int, repetition: int = OPTIONAL, converted: int | None = None) -> Struct:
    """Return a schema element with children; the converted type of a map is 1."""
    return {3: repetition, 4: name, 5: children, **({} if converted is None else {6: converted})}


def leaf(name: bytes, type_: int, repetition: int = OPTIONAL) -> Struct:
    """Return the schema element of a column."""
    return {1: type_, 3: repetition, 4: name, **({6: 0} if type_ == BYTE_ARRAY else {})}


def levels(*runs: tuple[int, int]) -> bytes:
    """Encode definition or repetition levels; each run is a count and a value."""
    data = b"".join(_varint(count << 1) + bytes([value]) for count, value in runs)
    return len(data).to_bytes(4, "little") + data


def indices(count: int) -> bytes:
    """Encode `count` dictionary indices, all of them 0."""
    return b"\x01" + _varint(count << 1) + b"\0"


def lengths(first: int, second: int, count: int) -> bytes:
    """Encode numbers as packed deltas: `first` once, then `second` for the rest of `count`."""
    step = second - first
    deltas = [step, *[0] * (count - 2)]
    data = _varint(128) + _varint(4) + _varint(count) + _varint(_zigzag(first))
    for start in range(0, len(deltas), 128):
        block = [delta - min(step, 0) for delta in deltas[start : start + 128]]
        packed = b"".join(delta.to_bytes(4, "little") for delta in block)
        data += _varint(_zigzag(min(step, 0))) + bytes([32] * 4) + packed + bytes(-len(packed) % 128)
    return data


def data_page(
    values: int, data: bytes, *, encoding: int = PLAIN, size: int | None = None, statistics: bytes = b""
) -> bytes:
    """Encode a data page; `size` claims another decompressed size than the real one."""
    header: Struct = {1: values, 2: encoding, 3: RLE, 4: RLE, 5: {5: statistics, 6: statistics}}
    return struct({1: 0, 2: len(data) if size is None else size, 3: len(data), 5: header}) + data


def dictionary_page(value: bytes) -> bytes:
    """Encode a dictionary page with one text value."""
    data = len(value).to_bytes(4, "little") + value
    return struct({1: 2, 2: len(data), 3: len(data), 7: {1: 1, 2: PLAIN}}) + data


def gzipped(size: int, start: bytes = b"") -> bytes:
    """Compress `start` followed by `size` zero bytes (rounded down to MiB)."""
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(start)] + [packer.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join(parts) + packer.flush()


@dataclass(frozen=True)
class Column:
    """A column chunk; `dictionary` and `data` are encoded pages."""

    path: Sequence[bytes]
    type: int
    data: bytes
    values: int
    dictionary: bytes = b""
    codec: int = UNCOMPRESSED


def parquet(schema: Sequence[Struct], columns: Sequence[Column], rows: int, *, groups: int = 1) -> bytes:
    """Encode a file with one row group; the footer lists that row group `groups` times."""
    body, chunks = b"PAR1", list[Value]()
    for column in columns:
        start, size = len(body), len(column.dictionary) + len(column.data)
        chunk: dict[int, Value] = {
            1: column.type,
            2: [PLAIN, RLE],
            3: list(column.path),
            4: column.codec,
            5: Long(column.values),
            6: Long(size),
            7: Long(size),
            9: Long(start + len(column.dictionary)),
        }
        chunks.append({2: Long(start), 3: {**chunk, **({11: Long(start)} if column.dictionary else {})}})
        body += column.dictionary + column.data
    row_group: Struct = {1: chunks, 2: Long(len(body)), 3: Long(rows)}
    return body + footer({1: 1, 2: list(schema), 3: Long(rows * groups), 4: [row_group] * groups})


def footer(fields: Struct) -> bytes:
    """Encode the footer: metadata, its length, and the magic bytes."""
    data = struct(fields)
    return data + len(data).to_bytes(4, "little") + b"PAR1"
