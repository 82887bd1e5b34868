"""Request the files of a log before they are read, and use what its listing told.

The state of a table is in a checkpoint and the commits since, a history in many small commits. Requested one
after the other, nearly all of the time over a network would be waiting.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field  # noqa: TID251 (it keeps what is under way)
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.tables.storage.requests import finish

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from concurrent.futures import Future

    from schemalint.tables.delta_log.store import FileEntry
    from schemalint.tables.storage.kinds.object_store.log import ObjectStoreLog

MOST_AHEAD: Final = 100
"""Files of a table that are requested at the same time: a table rarely has more commits since its newest
checkpoint."""

_CHECKPOINT: Final = ".checkpoint."
_LARGE: Final = 1 << 20
"""Larger files, in bytes, are not requested before they are read, and larger checkpoints not read whole."""

_AHEAD: Final = 16 << 20
"""Bytes of the files of a table that are requested and not read: this bounds the memory."""


@dataclass(slots=True)
class FilesAhead:
    """The log of a table in an object store, whose expected files are requested before they are read.

    Attributes:
        sizes: The sizes of the listed files, by name.
        expected: The small files that are read next and not requested yet, in order; the values are unused.
        under_way: Requests for files, by name.
        checkpoints: The contents of small checkpoints: they are read for the state, and for their sidecars.
    """

    store: ObjectStoreLog
    sizes: dict[str, int] = field(default_factory=dict)
    expected: dict[str, None] = field(default_factory=dict)
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
        return files

    def expect(self, names: Iterable[str]) -> None:
        """Request the small ones of some files, as many as may be under way; the others follow."""
        small = (name for name in names if self.sizes.get(name, _LARGE + 1) <= _LARGE)
        self.expected |= dict.fromkeys(name for name in small if name not in self.under_way)
        self._request_expected()

    def find(self, name: str) -> bytes | None:
        """Read a file of the log; None if there is no such file."""
        return self.store.find(name)

    def read(self, name: str) -> bytes:
        """Read a file of the log."""
        if (content := self.checkpoints.get(name)) is not None:
            return content
        self.expected.pop(name, None)
        request = self.under_way.pop(name, None) or self.store.fetch(name)
        self._request_expected()
        with self.store.translated_errors(name):
            content = finish(request)
        if _CHECKPOINT in name and len(content) + sum(map(len, self.checkpoints.values())) <= _LARGE:
            self.checkpoints[name] = content
        return content

    def open(self, name: str) -> BinaryIO:
        """Open a file of the log for random access; one request is enough for a small one."""
        size = self.sizes.get(name)
        if size is not None and size <= _LARGE:
            return io.BytesIO(self.read(name))
        return self.store.open(name, size)

    def open_data(self, path: str) -> BinaryIO:
        """Open a data file for random access."""
        return self.store.open_data(path)

    def _request_expected(self) -> None:
        held = sum(self.sizes.get(name, 0) for name in self.under_way)
        while self.expected and len(self.under_way) < MOST_AHEAD:
            name = next(iter(self.expected))
            held += self.sizes.get(name, 0)
            if held > _AHEAD:
                break
            del self.expected[name]
            self.under_way[name] = self.store.fetch(name)
