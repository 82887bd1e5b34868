"""The log of a table in an object store, and the small files below a folder that is no table."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from schemalint.base.errors import LiveError
from schemalint.base.phrases import affixed
from schemalint.base.values import field, frozen, replace
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.store import FileEntry, MissingFile, NoTable, too_large
from schemalint.tables.storage.concurrency import finish, start
from schemalint.tables.storage.kinds.object_store.address import Address
from schemalint.tables.storage.kinds.object_store.failures import failure, watched
from schemalint.tables.storage.kinds.object_store.store_client import store_key

if TYPE_CHECKING:
    from obstore import ObjectMeta

    from schemalint.tables.storage.kinds.object_store.store_client import Client

_NO_FILE: Final = "schemalint-no-such-file"

_PAGE: Final = 1_000
"""Keys that S3 and Google list with one request."""

_UNSORTED: Final = "--x-s3"
"""The end of the names of S3's directory buckets, which list in any order, and never after a key."""
_BLOCK: Final = 256 << 10
"""Bytes that one request reads, unless more are asked for."""

_BLOCKS: Final = 8
"""A Parquet file is read at its end again and again, and at the start of a row group."""


@frozen
class ObjectStoreLog:
    """The log of a table in an object store."""

    address: Address
    client: Client
    storage: Mapping[str, str] = field(repr=False)

    @property
    def uri(self) -> str:
        """The table's URI; it contains no secrets."""
        return self.address.uri

    def list(self, folder: str = "", *, first: str = "") -> Sequence[FileEntry]:
        """List the files directly in the log, or in a folder in it.

        Raises:
            NoTable: The log has no files: a store knows no folders, only keys with a common prefix.
            LiveError: The store refuses or does not answer, or there is no such bucket or store.
        """
        if first and not folder and self._lists_from_a_key:
            with self.translated_errors():
                return finish(start(self._versions_from, first))
        if folder:
            files, _ = self.list_folder(f"{self._log}/{folder}")
            return tuple(replace(file, name=f"{folder}/{file.name}") for file in files)
        files, _ = self.list_folder(self._log)
        if not files:
            with self.translated_errors():
                finish(start(self.require_store))
            raise NoTable(f"{self.uri}: there is no Delta table: no files in _delta_log")
        return files

    def list_folder(self, folder: str) -> tuple[Sequence[FileEntry], Sequence[str]]:
        """List the files directly in a folder, and the keys of its subfolders."""
        with self.translated_errors():
            listing = finish(start(self.client.list_with_delimiter, folder or None))
        prefix = affixed("", folder, "/")
        # Consoles make a folder visible by an empty file with the folder's name.
        files = (file for file in listing["objects"] if file["path"].startswith(prefix))
        entries = (
            FileEntry(file["path"].removeprefix(prefix), file["size"], _milliseconds(file)) for file in files
        )
        return tuple(entries), listing["common_prefixes"]

    def has_files(self) -> bool:
        """Whether a file exists below the table's URI; call it within `translated_errors`."""
        folder = self.address.prefix
        prefix = affixed("", folder, "/")
        # One of the first two may be the folder itself, made visible by a console (see `list_folder`).
        first = next(iter(self.client.list(folder or None, chunk_size=2)), ())
        if any(file["path"].startswith(prefix) for file in first):
            return True
        self.require_store()
        return False

    def require_store(self) -> None:
        """Require that the endpoint denies having a file that does not exist; call it as `has_files`.

        The client takes any XML, such as a login page, for an empty listing (obstore 0.12.1, S3 and Google).
        Who may list a prefix may still be denied other requests, so a denial is the answer of a store too.

        Raises:
            LiveError: The endpoint answers, but not like an object store.
        """
        from obstore.exceptions import PermissionDeniedError, UnauthenticatedError  # noqa: PLC0415 (only for object stores)

        with suppress(FileNotFoundError, PermissionDeniedError, UnauthenticatedError):
            self.client.get(self._key(_NO_FILE))
            raise LiveError(
                f"{self.uri}: the endpoint has an answer to any request, so it is not an object store: "
                "it may be a login page",
                help="Check the endpoint, the network and the proxy.",
            )

    def find(self, name: str) -> bytes | None:
        """Read a file of the log; None if there is no such file, or perhaps none.

        Who may list a prefix may be denied to know that a file is missing; a listing tells then.
        """
        from obstore.exceptions import PermissionDeniedError, UnauthenticatedError  # noqa: PLC0415 (only for object stores)

        with self.translated_errors(name):
            try:
                return finish(self.fetch(name))
            except (FileNotFoundError, PermissionDeniedError, UnauthenticatedError):
                return None

    def open(self, name: str, size: int | None = None) -> BinaryIO:
        """Open a file of the log for random access; see `RangedFile`.

        Args:
            name: The file.
            size: Its size in bytes, if a listing has told it.
        """
        if size is None:
            with self.translated_errors(name):
                size = finish(start(self.client.head, self._key(name)))["size"]
        return self._open_ranges(self._key(name), name, size)

    def open_data(self, path: str) -> BinaryIO:
        """Open a data file for random access, by its path in the table."""
        key = f"{self.address.prefix}/{path}".lstrip("/")
        with self.translated_errors():
            try:
                size = finish(start(self.client.head, key))["size"]
            except FileNotFoundError:
                raise MissingFile(f"{self.uri}/{path}: there is no such file") from None
        return self._open_ranges(key, "", size)

    def fetch(self, name: str) -> Future[bytes]:
        """Start to read a file of the log; finish the request within `translated_errors`."""
        return start(self._content, self._key(name))

    @contextmanager
    def translated_errors(self, name: str = "") -> Iterator[None]:
        """Translate errors of the client; they are not chained, because their text may contain secrets."""
        from obstore.exceptions import BaseError  # noqa: PLC0415 (only for object stores)

        uri = f"{self.uri}/_delta_log/{name}" if name else self.uri
        with watched(store_key(self.address, self.storage)):
            try:
                yield
            except FileNotFoundError:
                raise LiveError(
                    f"{uri}: the file was listed, but no longer exists",
                    help="A cleanup of the log may be running: try again.",
                ) from None
            except (BaseError, OSError, ValueError) as error:
                raise failure(uri, self.address.bucket_label, error, self.storage) from None

    def _open_ranges(self, key: str, name: str, size: int) -> BinaryIO:
        def read_range(begin: int, end: int) -> bytes:
            with self.translated_errors(name):
                return bytes(finish(start(self.client.get_range, key, start=begin, end=end)))

        return io.BufferedReader(RangedFile(read_range, size))

    @property
    def _lists_from_a_key(self) -> bool:
        """Whether the store lists after a key; for Azure the client would leave out the others itself."""
        return self.address.provider != "azure" and not self.address.bucket.endswith(_UNSORTED)

    def _versions_from(self, first: str) -> Sequence[FileEntry]:
        """List the files of versions directly in the log whose names follow `first`.

        Such a listing includes folders, which sort behind all versions: it ends there.
        """
        prefix = f"{self._log}/"
        entries: list[FileEntry] = []
        for page in self.client.list(self._log, offset=f"{prefix}{first}", chunk_size=_PAGE):
            for file in page:
                name = file["path"].removeprefix(prefix)
                if not name[:1].isdigit():
                    return entries
                entries.append(FileEntry(name, file["size"], _milliseconds(file)))
        return entries

    @property
    def _log(self) -> str:
        return f"{self.address.prefix}/_delta_log".lstrip("/")

    def _content(self, key: str) -> bytes:
        response = self.client.get(key)
        if response.meta["size"] > log_limits.MAX_SIZE:  # the file may have grown since it was listed
            raise too_large(self.uri, key.removeprefix(f"{self._log}/"))
        return bytes(response.bytes())

    def _key(self, name: str) -> str:
        return f"{self._log}/{name}"


def _milliseconds(entry: ObjectMeta) -> int:
    return int(entry["last_modified"].timestamp() * 1_000)


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
        if response.meta["size"] > log_limits.MAX_SIZE:
            uri = self.log.address.uri_of(key)
            raise LiveError(f"{uri}: the file is larger than {log_limits.MAX_SIZE >> 20} MiB")
        return bytes(response.bytes())

    def _key(self, name: str) -> str:
        return f"{self.log.address.prefix}/{name}".strip("/")
