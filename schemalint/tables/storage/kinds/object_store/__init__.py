"""Tables in S3, Google Cloud Storage and Azure Storage, read with obstore."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.tables.storage import MOST_LEVELS, MOST_SEARCHED, NO_OPTIONS
from schemalint.tables.storage.kinds.object_store.address import (
    PROVIDERS,
    address_key,
    is_address,
    parse_address,
)
from schemalint.tables.storage.kinds.object_store.ahead import FilesAhead
from schemalint.tables.storage.kinds.object_store.client import open_client
from schemalint.tables.storage.kinds.object_store.folder import ObjectStoreFolder
from schemalint.tables.storage.kinds.object_store.log import ObjectStoreLog
from schemalint.tables.storage.requests import concurrently, finish, start

SCHEMES: Final = tuple(PROVIDERS)
IS_REMOTE: Final = True


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
        names = {key.rpartition("/")[2]: key for key in below}
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
            names = {key.rpartition("/")[2]: key for key in folders}
            if "_delta_log" in names:
                uris.append(root.address.uri_of(folder))
            else:
                below += (key for name, key in names.items() if not name.startswith("."))
        level = below
    yield from sorted(uris)


def _open_log(reference: str, storage: Mapping[str, str]) -> ObjectStoreLog:
    address = parse_address(reference)
    return ObjectStoreLog(address, open_client(address, storage), storage)
