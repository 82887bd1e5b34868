"""Parquet files whose headers need not be true, byte by byte (parquet.thrift, in the compact protocol)."""

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
    """A number of 64 bits."""


@dataclass(frozen=True)
class Raw:
    """A list of structs, as bytes."""

    count: int
    data: bytes


Value: TypeAlias = "int | bytes | Raw | Sequence[Value] | Mapping[int, Value]"
Struct: TypeAlias = Mapping[int, Value]


def struct(fields: Struct) -> bytes:
    """A struct, from its fields by their ids."""
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
            parts = [_value(one) for one in value]
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
    """An element of the schema that has children; the converted type of a map is 1."""
    return {3: repetition, 4: name, 5: children, **({} if converted is None else {6: converted})}


def leaf(name: bytes, type_: int, repetition: int = OPTIONAL) -> Struct:
    """A column."""
    return {1: type_, 3: repetition, 4: name, **({6: 0} if type_ == BYTE_ARRAY else {})}


def levels(*runs: tuple[int, int]) -> bytes:
    """Levels, as runs of a count and a value."""
    data = b"".join(_varint(count << 1) + bytes([value]) for count, value in runs)
    return len(data).to_bytes(4, "little") + data


def indices(count: int) -> bytes:
    """The first value of the dictionary, so many times."""
    return b"\x01" + _varint(count << 1) + b"\0"


def lengths(first: int, second: int, count: int) -> bytes:
    """Numbers that are packed as their deltas: one, and another one again and again."""
    step = second - first
    deltas = [step, *[0] * (count - 2)]
    data = _varint(128) + _varint(4) + _varint(count) + _varint(_zigzag(first))
    for at in range(0, len(deltas), 128):
        block = [delta - min(step, 0) for delta in deltas[at : at + 128]]
        packed = b"".join(delta.to_bytes(4, "little") for delta in block)
        data += _varint(_zigzag(min(step, 0))) + bytes([32] * 4) + packed + bytes(-len(packed) % 128)
    return data


def data_page(
    values: int, data: bytes, *, encoding: int = PLAIN, size: int | None = None, statistics: bytes = b""
) -> bytes:
    """A page, perhaps with another decompressed size than it has."""
    header: Struct = {1: values, 2: encoding, 3: RLE, 4: RLE, 5: {5: statistics, 6: statistics}}
    return struct({1: 0, 2: len(data) if size is None else size, 3: len(data), 5: header}) + data


def dictionary_page(value: bytes) -> bytes:
    """A dictionary of one text."""
    data = len(value).to_bytes(4, "little") + value
    return struct({1: 2, 2: len(data), 3: len(data), 7: {1: 1, 2: PLAIN}}) + data


def zipped(size: int, start: bytes = b"") -> bytes:
    """Zeros behind a start, compressed."""
    packer = zlib.compressobj(9, wbits=31)
    parts = [packer.compress(start)] + [packer.compress(bytes(1 << 20)) for _ in range(size >> 20)]
    return b"".join(parts) + packer.flush()


@dataclass(frozen=True)
class Column:
    """A column chunk; `dictionary` and `data` are pages."""

    path: Sequence[bytes]
    type: int
    data: bytes
    values: int
    dictionary: bytes = b""
    codec: int = UNCOMPRESSED


def parquet(schema: Sequence[Struct], columns: Sequence[Column], rows: int, *, groups: int = 1) -> bytes:
    """A file of one row group, which its footer may list again and again."""
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
    one: Struct = {1: chunks, 2: Long(len(body)), 3: Long(rows)}
    return body + footer({1: 1, 2: list(schema), 3: Long(rows * groups), 4: [one] * groups})


def footer(fields: Struct) -> bytes:
    """The end of a file."""
    data = struct(fields)
    return data + len(data).to_bytes(4, "little") + b"PAR1"
