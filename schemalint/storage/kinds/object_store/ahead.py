"""Prefetch commits of a log.

A history consists of many small files that are read in order, from the oldest to the newest. Without
prefetching, nearly all of the time over a network would be waiting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field  # noqa: TID251 (it keeps what is under way)
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.storage.requests import MOST_CONCURRENT, finish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from schemalint.delta_log.store import FileEntry
    from schemalint.storage.kinds.object_store.log import ObjectStoreLog

_COMMIT: Final = re.compile(r"\d{20}\.json")
_LARGE: Final = 1 << 20
"""Larger commits, in bytes, are not prefetched: this bounds the memory."""


@dataclass(slots=True)
class CommitsAhead:
    """The log of a table in an object store; reading a commit prefetches the following ones.

    Attributes:
        following: Listed commits that are neither read nor requested yet, the newest first.
        under_way: Requests for prefetched commits, by file name.
    """

    store: ObjectStoreLog
    following: list[str] = field(default_factory=list)
    under_way: dict[str, Future[bytes]] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The table's URI."""
        return self.store.uri

    def list(self, folder: str = "") -> Sequence[FileEntry]:
        """List the files directly in the log, or in a folder in it; see `ObjectStoreLog.list`."""
        if folder:
            return self.store.list(folder)
        files = self.store.list()
        small = (file.name for file in files if file.size <= _LARGE and _COMMIT.fullmatch(file.name))
        self.following = sorted(small, reverse=True)
        return files

    def read(self, name: str) -> bytes:
        """Read a file of the log."""
        if _COMMIT.fullmatch(name):
            self._prefetch_after(name)
        request = self.under_way.pop(name, None)
        if request is None:
            return self.store.read(name)
        with self.store.translated_errors(name):
            return finish(request)

    def open(self, name: str) -> BinaryIO:
        """Open a file of the log for random access."""
        return self.store.open(name)

    def open_data(self, path: str) -> BinaryIO:
        """Open a data file for random access."""
        return self.store.open_data(path)

    def _prefetch_after(self, name: str) -> None:
        while self.following and self.following[-1] <= name:
            self.following.pop()
        while self.following and len(self.under_way) < MOST_CONCURRENT:
            commit = self.following.pop()
            self.under_way[commit] = self.store.fetch(commit)
