"""Commits that are fetched before they are asked for.

A table's history is many small files, read one after the other from the oldest to the newest: over a network
nearly all of the time would be waiting.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.storage.requests import AT_A_TIME, finish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from schemalint.delta_log.store import FileEntry
    from schemalint.storage.kinds.object_store.log import ObjectStoreLog

_COMMIT: Final = re.compile(r"\d{20}\.json")
_LARGE: Final = 1 << 20
"""Bytes of a commit that is not fetched before it is asked for, to bound the memory."""


@dataclass(slots=True)
class CommitsAhead:
    """The log of a table in an object store; whoever reads a commit may soon read those that follow.

    Attributes:
        following: Commits that were listed and not read yet, the newest first.
    """

    store: ObjectStoreLog
    following: list[str] = field(default_factory=list)
    under_way: dict[str, Future[bytes]] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The table."""
        return self.store.uri

    def list(self) -> Sequence[FileEntry]:
        """The files directly in the log; see `ObjectStoreLog.list`."""
        files = self.store.list()
        small = (one.name for one in files if one.size <= _LARGE and _COMMIT.fullmatch(one.name))
        self.following = sorted(small, reverse=True)
        return files

    def read(self, name: str) -> bytes:
        """A file's content."""
        if _COMMIT.fullmatch(name):
            self._fetch_what_follows(name)
        started = self.under_way.pop(name, None)
        if started is None:
            return self.store.read(name)
        with self.store.told(name):
            return finish(started)

    def open(self, name: str) -> BinaryIO:
        """A file to seek in."""
        return self.store.open(name)

    def open_data(self, path: str) -> BinaryIO:
        """A data file to seek in."""
        return self.store.open_data(path)

    def _fetch_what_follows(self, name: str) -> None:
        while self.following and self.following[-1] <= name:
            self.following.pop()
        while self.following and len(self.under_way) < AT_A_TIME:
            commit = self.following.pop()
            self.under_way[commit] = self.store.fetch(commit)
