"""Tables in S3, Google Cloud Storage and Azure Storage, read with obstore."""

from __future__ import annotations

import io
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.delta_log import limits
from schemalint.delta_log.store import FileEntry, MissingFile, NoTable, too_large
from schemalint.errors import LiveError
from schemalint.live import MOST_LEVELS, NO_OPTIONS
from schemalint.live._address import Address, Provider, is_address, parse_address
from schemalint.live._ahead import CommitsAhead
from schemalint.live._failures import failure
from schemalint.live._parts import Parts
from schemalint.live._requests import concurrently, finish, start

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import TypeAlias

    from obstore import ObjectMeta
    from obstore.store import AzureStore, GCSStore, S3Store

    Client: TypeAlias = S3Store | GCSStore | AzureStore

_VARIABLES: Final[Mapping[Provider, str]] = {"s3": "AWS_", "gcs": "GOOGLE_", "azure": "AZURE_"}
_ENDPOINT: Final = re.compile(
    r"((aws|azure(_storage)?|google)_)?(endpoint(_url(_s3)?)?|base_url)", re.IGNORECASE
)
_SENT: Final = re.compile("(access_key_id|secret_access_key|token|sas_key)$", re.IGNORECASE)
_RENAMED: Final[Mapping[tuple[Provider, str], str]] = {
    ("s3", "anonymous"): "skip_signature",
    ("gcs", "anonymous"): "skip_signature",
    ("azure", "anonymous"): "skip_signature",
    ("gcs", "endpoint"): "base_url",
}
# On top of the client's own limits: 5 seconds to connect, 30 for an answer.
_MOST_RETRIES: Final = 3
_LAST_RETRY: Final = timedelta(seconds=60)
_IMPORTING: Final = threading.Lock()
_BLOCK: Final = 1 << 20  # of a Parquet file, read at once


@dataclass(frozen=True, slots=True)
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


def handles(reference: str) -> bool:
    """A URI of S3 (``s3``, ``s3a``), Google (``gs``, ``gcs``) or Azure (``az``, ``abfs``, ``abfss``)."""
    return is_address(reference)


def open_store(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> CommitsAhead:
    """The log of a table.

    Args:
        reference: ``scheme://bucket/path``; for Azure also ``abfss://container@account.host/path``.
        storage: Settings by obstore's names, or ``anonymous``; they go before those of the environment.

    Raises:
        LiveError: The address or a setting cannot be used, or obstore is not installed.
    """
    return CommitsAhead(_opened(parse_address(reference), storage))


def holds_files(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Whether there is a file below a place; one request tells.

    Raises:
        LiveError: The store refuses or does not answer.
    """
    place = _opened(parse_address(reference), storage)
    with place.told():
        return finish(start(place.has_files))


def find_tables(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> Iterator[str]:
    """The tables at or below a place, as `schemalint.live.find_tables` says.

    Raises:
        LiveError: There is nothing, or a part of it cannot be listed.
    """
    root = _opened(parse_address(reference), storage)
    level, found = [root.address.prefix], list[str]()
    for depth in range(MOST_LEVELS + 1):
        listings = concurrently(root.listed, level)
        if not depth and not any(listings[0]):
            raise LiveError(f"{root.uri}: nothing lies there", help="Look for a spelling mistake.")
        below: list[str] = []
        for folder, (_, folders) in zip(level, listings, strict=True):
            names = {one.rpartition("/")[2]: one for one in folders}
            if "_delta_log" in names:
                found.append(root.address.uri_of(folder))
            else:
                below += (key for name, key in names.items() if not name.startswith("."))
        level = below
    yield from sorted(found)


def _opened(address: Address, storage: Mapping[str, str]) -> ObjectStoreLog:
    settings = {_RENAMED.get((address.provider, key.lower()), key): value for key, value in storage.items()}
    prefix = _VARIABLES[address.provider]
    variables = {name: value for name, value in os.environ.items() if name.startswith(prefix)}
    _require_usable({**variables, **settings})
    client = _client_types(address)[address.provider]
    from obstore.exceptions import BaseError  # noqa: PLC0415 (only for tables out there)

    try:
        opened = client(
            address.bucket,
            config={**settings, **address.config},
            retry_config={"max_retries": _MOST_RETRIES, "retry_timeout": _LAST_RETRY},
        )
    except (BaseError, OSError, ValueError) as error:
        raise failure(address.uri, address.place, error) from None
    return ObjectStoreLog(address, opened)


def _client_types(address: Address) -> Mapping[Provider, Callable[..., Client]]:
    try:
        # obstore's modules import each other: of two threads that begin, one would see half of them.
        with _IMPORTING:
            from obstore.store import AzureStore, GCSStore, S3Store  # noqa: PLC0415 (see above)
    except ImportError:
        raise LiveError(
            f"{address.uri}: reading object stores needs the package obstore",
            help="Install it: pip install 'schemalint[live]'",
        ) from None
    return {"s3": S3Store, "gcs": GCSStore, "azure": AzureStore}


def _require_usable(settings: Mapping[str, str]) -> None:
    """Refuse the values on which the client aborts (obstore 0.12.1), and with it perhaps the process."""
    for name, value in settings.items():
        if _SENT.search(name) and not value.isprintable():
            raise LiveError(
                f"{name} holds a line break, or another character that cannot be sent",
                help="Often it is the last one, of a file that the value was read from.",
            )
        if value and _ENDPOINT.fullmatch(name) and not re.match("https?://[^/]", value):
            raise LiveError(f"{name} is no address", help="Write https://host, or http://host:port.")


def _milliseconds(entry: ObjectMeta) -> int:
    return int(entry["last_modified"].timestamp() * 1_000)
