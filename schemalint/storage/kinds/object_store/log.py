"""The log of a table in an object store."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.delta_log import limits
from schemalint.delta_log.store import FileEntry, MissingFile, NoTable, too_large
from schemalint.errors import LiveError
from schemalint.storage.kinds.object_store.address import Address
from schemalint.storage.kinds.object_store.failures import failure
from schemalint.storage.kinds.object_store.ranged_file import Parts
from schemalint.storage.requests import finish, start
from schemalint.values import frozen

if TYPE_CHECKING:
    from concurrent.futures import Future

    from obstore import ObjectMeta

    from schemalint.storage.kinds.object_store.client import Client

_BLOCK: Final = 1 << 20  # of a Parquet file, read at once


@frozen
class ObjectStoreLog:
    """The log of a table in an object store."""

    address: Address
    client: Client

    @property
    def uri(self) -> str:
        """The table; nothing secret is in it."""
        return self.address.uri

    def list(self) -> Sequence[FileEntry]:
        """The files directly in the log.

        Raises:
            NoTable: There is none: a store knows no folders, only files whose keys begin alike.
            LiveError: The store refuses or does not answer, or there is no such bucket.
        """
        found, _ = self.listed(self._log)
        if not found:
            raise NoTable(f"{self.uri}: there is no Delta table: no files in _delta_log")
        return found

    def listed(self, folder: str) -> tuple[Sequence[FileEntry], Sequence[str]]:
        """The files directly in a folder, and the folders in it by their keys."""
        with self.told():
            found = finish(start(self.client.list_with_delimiter, folder or None))
        below = f"{folder}/" if folder else ""
        # Consoles make a folder visible by an empty file with its very name.
        files = (one for one in found["objects"] if one["path"].startswith(below))
        entries = (
            FileEntry(one["path"].removeprefix(below), one["size"], _milliseconds(one)) for one in files
        )
        return tuple(entries), found["common_prefixes"]

    def has_files(self) -> bool:
        """Whether a file lies below the place; to be called under `told`."""
        prefix = self.address.prefix
        below = f"{prefix}/" if prefix else ""
        # Of the first two one may be the place itself, made visible by a console (see `listed`).
        first = next(iter(self.client.list(prefix or None, chunk_size=2)), ())
        return any(one["path"].startswith(below) for one in first)

    def read(self, name: str) -> bytes:
        """A file's content."""
        with self.told(name):
            return finish(self.fetch(name))

    def open(self, name: str) -> BinaryIO:
        """A file to seek in, read block by block."""
        with self.told(name):
            size = finish(start(self.client.head, self._key(name)))["size"]
        return self._parts(self._key(name), name, size)

    def open_data(self, path: str) -> BinaryIO:
        """A data file to seek in, by its path in the table."""
        key = f"{self.address.prefix}/{path}".lstrip("/")
        with self.told():
            try:
                size = finish(start(self.client.head, key))["size"]
            except FileNotFoundError:
                raise MissingFile(f"{self.uri}/{path}: there is no such file") from None
        return self._parts(key, "", size)

    def fetch(self, name: str) -> Future[bytes]:
        """A file's content, soon; to be finished under `told`."""
        return start(self._content, self._key(name))

    @contextmanager
    def told(self, name: str = "") -> Iterator[None]:
        """Refusals in words of our own; the client's error is not chained: its text may hold secrets."""
        from obstore.exceptions import BaseError  # noqa: PLC0415 (only for tables out there)

        uri = f"{self.uri}/_delta_log/{name}" if name else self.uri
        try:
            yield
        except FileNotFoundError:
            raise LiveError(
                f"{uri}: the file was listed, and is gone", help="Somebody cleans the log up: try again."
            ) from None
        except (BaseError, OSError, ValueError) as error:
            raise failure(uri, self.address.place, error) from None

    def _parts(self, key: str, name: str, size: int) -> BinaryIO:
        def part(begin: int, end: int) -> bytes:
            with self.told(name):
                return bytes(finish(start(self.client.get_range, key, start=begin, end=end)))

        return io.BufferedReader(Parts(part, size), _BLOCK)

    @property
    def _log(self) -> str:
        return f"{self.address.prefix}/_delta_log".lstrip("/")

    def _content(self, key: str) -> bytes:
        found = self.client.get(key)
        if found.meta["size"] > limits.MAX_SIZE:  # more than was listed
            raise too_large(self.uri, key.removeprefix(f"{self._log}/"))
        return bytes(found.bytes())

    def _key(self, name: str) -> str:
        return f"{self._log}/{name}"


def _milliseconds(entry: ObjectMeta) -> int:
    return int(entry["last_modified"].timestamp() * 1_000)
