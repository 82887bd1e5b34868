"""Tables in S3, Google Cloud Storage and Azure Storage, read with obstore.

The state of a table is in a checkpoint and the commits since, a history in many small commits. Requested one
after the other, nearly all of the time over a network would be waiting.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field  # noqa: TID251 (it keeps what is under way)
from typing import BinaryIO, Final

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log.store import FileEntry
from schemalint.tables.storage import MOST_LEVELS, MOST_SEARCHED, NO_OPTIONS
from schemalint.tables.storage.concurrency import concurrently, finish, start
from schemalint.tables.storage.kinds.object_store.address import (
    PROVIDERS,
    address_key,
    is_address,
    parse_address,
)
from schemalint.tables.storage.kinds.object_store.object_store_log import ObjectStoreFolder, ObjectStoreLog
from schemalint.tables.storage.kinds.object_store.store_client import open_client

SCHEMES: Final = tuple(PROVIDERS)
IS_REMOTE: Final = True
MOST_AHEAD: Final = 100
"""Files of a table that are requested at the same time: a table rarely has more commits since its newest
checkpoint."""

_CHECKPOINT: Final = ".checkpoint."
_LARGE: Final = 1 << 20
"""Larger files, in bytes, are not requested before they are read, and larger checkpoints not read whole."""

_AHEAD: Final = 16 << 20
"""Bytes of the files of a table that are requested and not read: this bounds the memory."""


def handles(reference: str) -> bool:
    """Whether it is a URI of S3 (``s3``, ``s3a``), Google (``gs``, ``gcs``) or Azure (``az``, ``abfs``…)."""
    return is_address(reference)


def open_store(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> FilesAhead:
    """Open the log of a table.

    Args:
        reference: ``scheme://bucket/path``; for Azure also ``abfss://container@account.host/path``.
        storage: Settings by obstore's names, or ``anonymous``; they override the environment.

    Raises:
        LiveError: The address or a setting is invalid, or obstore is not installed.
    """
    return FilesAhead(_open_log(reference, storage))


def open_folder(
    reference: str, roots: Sequence[str], storage: Mapping[str, str] = NO_OPTIONS
) -> ObjectStoreFolder | None:
    """Open a folder at or below one of the roots, which is in the same bucket and account.

    Raises:
        LiveError: The address or a setting is invalid, or obstore is not installed.
    """
    key = f"{address_key(reference, storage).rstrip('/')}/"
    allowed = (address_key(root, storage).rstrip("/") for root in roots if is_address(root))
    if not any(key.startswith(f"{root}/") for root in allowed):
        return None
    return ObjectStoreFolder(_open_log(reference, storage))


def location_key(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> str:
    """Return provider, bucket and folder; Azure's account too, from the reference or the settings."""
    return address_key(reference, storage)


def holds_files(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Whether a file exists below the location; this takes one request, or two if there is none.

    Raises:
        LiveError: The store refuses or does not answer.
    """
    log = _open_log(reference, storage)
    with log.translated_errors():
        return finish(start(log.has_files))


def holds_tables(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Whether a table is found at or below the location; this takes at most `MOST_SEARCHED` requests.

    Raises:
        LiveError: The store refuses or does not answer.
    """
    root = _open_log(reference, storage)
    folders = [root.address.prefix]
    for _ in range(MOST_SEARCHED):
        if not folders:
            break
        # Depth first: most lakes have a table below their first folder.
        _, below = root.list_folder(folders.pop())
        names = _by_name(below)
        if "_delta_log" in names:
            return True
        folders += reversed([key for name, key in names.items() if not name.startswith(".")])
    return False


def find_tables(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> Iterator[str]:
    """Yield the references of the tables at or below a location; see `schemalint.tables.storage.find_tables`.

    Raises:
        LiveError: The location holds no files, or cannot be listed completely.
    """
    root = _open_log(reference, storage)
    level, uris = [root.address.prefix], list[str]()
    for depth in range(MOST_LEVELS + 1):
        listings = concurrently(root.list_folder, level)
        if not depth and not any(listings[0]):
            with root.translated_errors():
                finish(start(root.require_store))
            raise LiveError(f"{root.uri}: there are no files", help="Look for a spelling mistake.")
        below: list[str] = []
        for folder, (_, folders) in zip(level, listings, strict=True):
            names = _by_name(folders)
            if "_delta_log" in names:
                uris.append(root.address.uri_of(folder))
            else:
                below += (key for name, key in names.items() if not name.startswith("."))
        level = below
    yield from sorted(uris)


def _by_name(folders: Iterable[str]) -> dict[str, str]:
    """Return the keys of folders by the names of the folders."""
    return {key.rpartition("/")[2]: key for key in folders}


def _open_log(reference: str, storage: Mapping[str, str]) -> ObjectStoreLog:
    address = parse_address(reference)
    return ObjectStoreLog(address, open_client(address, storage), storage)


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
        """Request the small ones of some files, as many as may be under way, and the rest later."""
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
        size = sum(self.sizes.get(name, 0) for name in self.under_way)
        while self.expected and len(self.under_way) < MOST_AHEAD:
            name = next(iter(self.expected))
            size += self.sizes.get(name, 0)
            if size > _AHEAD:
                break
            del self.expected[name]
            self.under_way[name] = self.store.fetch(name)
