"""Random access to a remote file."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any


class RangedFile(io.RawIOBase):
    """A file that requests byte ranges on demand."""

    def __init__(self, read_range: Callable[[int, int], bytes], size: int) -> None:
        self._read_range = read_range
        self._size = size
        self._at = 0

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
        data = self._read_range(self._at, end)[: end - self._at]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
