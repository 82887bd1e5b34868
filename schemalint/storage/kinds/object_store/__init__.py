"""Tables in S3, Google Cloud Storage and Azure Storage, read with obstore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from schemalint.errors import LiveError
from schemalint.storage import MOST_LEVELS, NO_OPTIONS
from schemalint.storage.kinds.object_store.address import is_address, parse_address
from schemalint.storage.kinds.object_store.ahead import CommitsAhead
from schemalint.storage.kinds.object_store.client import open_client
from schemalint.storage.kinds.object_store.log import ObjectStoreLog
from schemalint.storage.requests import concurrently, finish, start

IS_REMOTE: Final = True


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
    return CommitsAhead(_log_at(reference, storage))


def holds_files(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Whether there is a file below a place; one request tells.

    Raises:
        LiveError: The store refuses or does not answer.
    """
    place = _log_at(reference, storage)
    with place.told():
        return finish(start(place.has_files))


def find_tables(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> Iterator[str]:
    """The tables at or below a place, as `schemalint.storage.find_tables` says.

    Raises:
        LiveError: There is nothing, or a part of it cannot be listed.
    """
    root = _log_at(reference, storage)
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


def _log_at(reference: str, storage: Mapping[str, str]) -> ObjectStoreLog:
    address = parse_address(reference)
    return ObjectStoreLog(address, open_client(address, storage))
