"""Read version checksums: protocol and metadata of a version (PROTOCOL.md, "Version Checksum File")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import (
    Body,
    PhysicalPath,
    TableActions,
    highest,
    read_clustering,
    read_metadata,
    read_protocol,
    read_transaction,
)
from schemalint.tables.delta_log.file_names import LogFile
from schemalint.tables.delta_log.json_lines import damage_in
from schemalint.tables.delta_log.jsontext import JsonError, read_json_object
from schemalint.tables.delta_log.store import DamagedFile, LogStore, too_large

T = TypeVar("T")


def read_checksum(store: LogStore, file: LogFile) -> TableActions:
    """Read the table's state from a version checksum; older writers leave parts out.

    Raises:
        DamagedFile: The file cannot be parsed, or is too large.
        LiveError: The file cannot be fetched.
    """
    content = read_object(store, file)
    with damage_in(store, file):
        return TableActions(
            protocol=_part(content, "protocol", read_protocol),
            metadata=_part(content, "metadata", read_metadata),
            clustering=_clustering(content.get("domainMetadata")),
            transactions=_transactions(content.get("setTransactions")),
        )


def read_object(store: LogStore, file: LogFile) -> Body:
    """Read the JSON object in a small file of the log.

    Raises:
        DamagedFile, LiveError: As `read_checksum`.
    """
    if file.size > log_limits.MAX_SIZE:
        raise too_large(store.uri, file.name)
    try:
        return read_json_object(store.read(file.name), log_limits.MAX_SIZE)
    except JsonError as error:
        raise DamagedFile(store.uri, file.name, f"it {error}", is_limit=error.is_limit) from None


def _clustering(domains: object) -> tuple[PhysicalPath, ...] | None:
    """Return the clustering columns in a list of domains; None if the checksum has no such list."""
    if not isinstance(domains, list):
        return None
    clusterings = (read_clustering(body) for body in domains if isinstance(body, dict))
    return next((paths for paths in clusterings if paths is not None), ())


def _transactions(listed: object) -> Mapping[str, int]:
    bodies = (body for body in listed if isinstance(body, dict)) if isinstance(listed, list) else ()
    return highest({app_id: version for body in bodies for app_id, version in read_transaction(body).items()})


def _part(content: Body, key: str, read: Callable[[Body], T]) -> T | None:
    body = content.get(key)
    if isinstance(body, dict):
        return read(body)
    return None
