"""How many data files a table has, and their bytes, as the log says it by itself: nothing is counted."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.jsontext import JsonError, read_json
from schemalint.tables.delta_log.names import Kind, log_file

if TYPE_CHECKING:
    from schemalint.tables.delta_log.store import LogStore

_CHECKPOINTS: Final = frozenset({Kind.CHECKPOINT, Kind.MULTI_PART_CHECKPOINT, Kind.V2_CHECKPOINT})
_SMALLEST_ADD: Final = 80  # bytes: path, partitionValues, size, modificationTime and dataChange are required


def told_files(store: LogStore, version: int) -> int | None:
    """Return the number in the version's checksum, or that of the last checkpoint; None if nothing tells it.

    A log without both that still has all its commits, as other writers than Spark leave it, tells by its size
    how many files there can be at most.

    It is an order of magnitude, good for nothing but the choice of a setting: anybody can write these files,
    and commits follow a checkpoint.
    """
    for name, keys in (
        (f"{version:020}.crc", ("numFiles",)),
        ("_last_checkpoint", ("numOfAddFiles", "size")),
    ):
        number = _number(store, name, keys)
        if number is not None:
            return number
    with suppress(LiveError):
        return _most_files(store)
    return None


def told_bytes(store: LogStore, version: int) -> int | None:
    """Return the bytes of the live data files in the version's checksum; None if it does not tell them."""
    return _number(store, f"{version:020}.crc", ("tableSizeBytes",))


def _number(store: LogStore, name: str, keys: tuple[str, ...]) -> int | None:
    """Return the first number under one of the keys in a JSON file of the log."""
    with suppress(LiveError, JsonError):
        content = read_json(store.read(name), limits.MAX_SIZE)
        for number in [content.get(key) for key in keys] if isinstance(content, dict) else []:
            if isinstance(number, int) and not isinstance(number, bool) and number >= 0:
                return number
    return None


def _most_files(store: LogStore) -> int | None:
    """Return how many files commits of this size can add; None if commits are missing."""
    files = [file for entry in store.list() if (file := log_file(entry.name, size=entry.size)) is not None]
    commits = [file for file in files if file.kind is Kind.COMMIT]
    if any(file.kind in _CHECKPOINTS for file in files) or all(file.version > 0 for file in commits):
        return None
    return sum(file.size for file in commits) // _SMALLEST_ADD
