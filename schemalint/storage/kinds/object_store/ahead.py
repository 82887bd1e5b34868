"""Prefetch commits of a log, and use what its listing told.

A history consists of many small files that are read in order, from the oldest to the newest. Without
prefetching, nearly all of the time over a network would be waiting.
"""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from dataclasses import dataclass, field  # noqa: TID251 (it keeps what is under way)
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.storage.requests import MOST_CONCURRENT, finish

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from schemalint.delta_log.store import FileEntry
    from schemalint.storage.kinds.object_store.log import ObjectStoreLog

_COMMIT: Final = re.compile(r"\d{20}\.json")
_CHECKPOINT: Final = ".checkpoint."
_LARGE: Final = 1 << 20
"""Larger commits, in bytes, are not prefetched, and larger checkpoints not read whole: this bounds the
memory."""


@dataclass(slots=True)
class CommitsAhead:
    """The log of a table in an object store; reading a commit prefetches the following ones.

    Attributes:
        sizes: The sizes of the listed files, by name.
        commits: The small listed commits, the oldest first.
        requested: The commits that were read or requested.
        under_way: Requests for prefetched commits, by file name.
        checkpoints: The contents of small checkpoints: they are read for the state, and for their sidecars.
    """

    store: ObjectStoreLog
    sizes: dict[str, int] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    requested: set[str] = field(default_factory=set)
    under_way: dict[str, Future[bytes]] = field(default_factory=dict)
    checkpoints: dict[str, bytes] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        """The table's URI."""
        return self.store.uri

    def list(self, folder: str = "", *, first: str = "") -> Sequence[FileEntry]:
        """List the files directly in the log, or in a folder in it; see `ObjectStoreLog.list`."""
        files = self.store.list(folder, first=first)
        if not folder:
            self.sizes = {file.name: file.size for file in files}
            small = (file.name for file in files if file.size <= _LARGE and _COMMIT.fullmatch(file.name))
            self.commits = sorted(small)
        return files

    def find(self, name: str) -> bytes | None:
        """Read a file of the log; None if there is no such file."""
        return self.store.find(name)

    def read(self, name: str) -> bytes:
        """Read a file of the log."""
        if _CHECKPOINT in name:
            return self._read_checkpoint(name)
        if _COMMIT.fullmatch(name):
            self._prefetch_after(name)
        request = self.under_way.pop(name, None)
        if request is None:
            return self.store.read(name)
        with self.store.translated_errors(name):
            return finish(request)

    def open(self, name: str) -> BinaryIO:
        """Open a file of the log for random access; one request is enough for a small one."""
        size = self.sizes.get(name)
        if size is not None and size <= _LARGE:
            return io.BytesIO(self.read(name))
        return self.store.open(name, size)

    def open_data(self, path: str) -> BinaryIO:
        """Open a data file for random access."""
        return self.store.open_data(path)

    def _read_checkpoint(self, name: str) -> bytes:
        content = self.checkpoints.get(name)
        if content is None:
            content = self.store.read(name)
            if len(content) + sum(map(len, self.checkpoints.values())) <= _LARGE:
                self.checkpoints[name] = content
        return content

    def _prefetch_after(self, name: str) -> None:
        self.requested.add(name)
        for commit in islice(self.commits, bisect_right(self.commits, name), None):
            if len(self.under_way) >= MOST_CONCURRENT:
                break
            if commit not in self.requested:
                self.requested.add(commit)
                self.under_way[commit] = self.store.fetch(commit)
