"""Parse Thrift's compact protocol, as far as Parquet's headers need it (thrift-compact-protocol.md).

Values are skipped without storing them: headers are checked before pyarrow allocates the memory they claim.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

I32: Final = 5
I64: Final = 6
LIST: Final = 9
STRUCT: Final = 12

_BOOLEANS: Final = frozenset({1, 2})
_BYTE: Final = 3
_VARINTS: Final = frozenset({4, I32, I64})
_DOUBLE: Final = 7
_BINARY: Final = 8
_LISTS: Final = frozenset({LIST, 10})
_MAP: Final = 11
_MAX_VARINT: Final = 10
_MAX_DEPTH: Final = 32
_LONG_LIST: Final = 15


class ThriftError(ValueError):
    """The bytes are not a valid Thrift value, or end within a value."""


class Cursor:
    """A position in the bytes of a header.

    Attributes:
        at: The position of the next byte.
    """

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

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
