"""Version checksums: the protocol and the metadata of one version (PROTOCOL.md, "Version Checksum File")."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from schemalint.delta_log import limits
from schemalint.delta_log.actions import (
    ActionError,
    Body,
    PhysicalPath,
    TableActions,
    read_clustering,
    read_metadata,
    read_protocol,
)
from schemalint.delta_log.jsontext import JsonError, read_json
from schemalint.delta_log.store import DamagedFile, too_large

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.delta_log.names import LogFile
    from schemalint.delta_log.store import LogStore

T = TypeVar("T")


def read_checksum(store: LogStore, file: LogFile) -> TableActions:
    """What a version checksum says about the table; older writers leave parts out.

    Raises:
        DamagedFile: It cannot be understood, or is too large to be read at once.
        LiveError: It cannot be fetched.
    """
    found = read_object(store, file)
    try:
        return TableActions(
            protocol=_part(found, "protocol", read_protocol),
            metadata=_part(found, "metadata", read_metadata),
            clustering=_clustering(found.get("domainMetadata")),
        )
    except ActionError as error:
        raise DamagedFile(store.uri, file.name, str(error), is_limit=error.is_limit) from None


def read_object(store: LogStore, file: LogFile) -> Body:
    """The JSON object that a small file of the log holds.

    Raises:
        DamagedFile, LiveError: As `read_checksum`.
    """
    if file.size > limits.MAX_SIZE:
        raise too_large(store.uri, file.name)
    try:
        found = read_json(store.read(file.name), limits.MAX_SIZE)
    except JsonError as error:
        raise DamagedFile(store.uri, file.name, f"it {error}", is_limit=error.is_limit) from None
    if not isinstance(found, dict):
        raise DamagedFile(store.uri, file.name, "it is no JSON object")
    return found


def _clustering(domains: object) -> tuple[PhysicalPath, ...] | None:
    """The clustering among all domains; None if the checksum does not tell them."""
    if not isinstance(domains, list):
        return None
    found = (read_clustering(body) for body in domains if isinstance(body, dict))
    return next((paths for paths in found if paths is not None), ())


def _part(found: Body, key: str, read: Callable[[Body], T]) -> T | None:
    body = found.get(key)
    return read(body) if isinstance(body, dict) else None
