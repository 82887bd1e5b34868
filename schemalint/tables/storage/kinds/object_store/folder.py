"""The small files below a folder in an object store, which is not a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen
from schemalint.tables.delta_log import limits
from schemalint.tables.storage.requests import finish, start

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.tables.storage.kinds.object_store.log import ObjectStoreLog


@frozen
class ObjectStoreFolder:
    """The files below a folder; a store has no links, so that a key below it cannot lead elsewhere."""

    log: ObjectStoreLog

    @property
    def uri(self) -> str:
        """The folder's URI; it contains no secrets."""
        return self.log.uri

    def files(self, folder: str) -> Iterator[str]:
        """Yield the names of the files directly in a folder."""
        entries, _ = self.log.list_folder(self._key(folder))
        yield from (entry.name for entry in entries)

    def folders(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders directly in a folder."""
        _, keys = self.log.list_folder(self._key(folder))
        yield from (key.rstrip("/").rpartition("/")[2] for key in keys)

    def read(self, name: str) -> bytes | None:
        """Read a file."""
        with self.log.translated_errors():
            try:
                return finish(start(self._content, self._key(name)))
            except FileNotFoundError:
                return None

    def _content(self, key: str) -> bytes:
        response = self.log.client.get(key)
        if response.meta["size"] > limits.MAX_SIZE:
            uri = self.log.address.uri_of(key)
            raise LiveError(f"{uri}: the file is larger than {limits.MAX_SIZE >> 20} MiB")
        return bytes(response.bytes())

    def _key(self, name: str) -> str:
        return f"{self.log.address.prefix}/{name}".strip("/")
