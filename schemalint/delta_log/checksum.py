"""Version checksums: the protocol and the metadata of one version (PROTOCOL.md, "Version Checksum File")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from schemalint.delta_log.actions import (
    ActionError,
    Body,
    PhysicalPath,
    TableActions,
    read_clustering,
    read_metadata,
    read_protocol,
)
from schemalint.delta_log.store import DamagedFile
from schemalint.model.schemajson import load_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.delta_log.names import LogFile
    from schemalint.delta_log.store import LogStore

MAX_SIZE: Final = 64 * 1024 * 1024

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
        raise DamagedFile(store.uri, file.name, str(error)) from None


def read_object(store: LogStore, file: LogFile) -> Body:
    """The JSON object that a small file of the log holds.

    Raises:
        DamagedFile, LiveError: As `read_checksum`.
    """
    data = store.read(file.name) if file.size <= MAX_SIZE else b""
    if file.size > MAX_SIZE or len(data) > MAX_SIZE:
        raise DamagedFile(store.uri, file.name, f"the file is larger than {MAX_SIZE >> 20} MiB")
    try:
        found = load_json(data)
    except (ValueError, RecursionError) as error:
        raise DamagedFile(store.uri, file.name, f"it is not JSON: {error}") from None
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
