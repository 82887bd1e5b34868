"""Random access to a remote file."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

_BLOCK: Final = 256 << 10
"""Bytes that one request reads, unless more are asked for."""

_BLOCKS: Final = 8
"""A Parquet file is read at its end again and again, and at the start of a row group."""


class RangedFile(io.RawIOBase):
    """A file that requests blocks on demand, counted from its end, and keeps the last ones that were read."""

    def __init__(self, read_range: Callable[[int, int], bytes], size: int) -> None:
        self._read_range = read_range
        self._size = size
        self._at = 0
        self._block = lru_cache(maxsize=_BLOCKS)(self._read_block)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, origin + offset)
        return self._at

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 (collections.abc.Buffer needs Python 3.12)
        end = min(self._at + len(buffer), self._size)
        if end <= self._at:
            return 0
        data = self._read(end)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _read(self, end: int) -> bytes:
        """Return the bytes from here to an end, or to that of the block."""
        if end - self._at > _BLOCK:
            return self._read_range(self._at, end)[: end - self._at]
        number = (self._size - self._at - 1) // _BLOCK
        first = max(0, self._size - (number + 1) * _BLOCK)
        return self._block(number)[self._at - first : end - first]

    def _read_block(self, number: int) -> bytes:
        end = self._size - number * _BLOCK
        return self._read_range(max(0, end - _BLOCK), end)
