"""Count the rows of a version by its log: ``numRecords`` of all live files, less their deletion vectors.

Of each file the newest action counts (PROTOCOL.md, "Action Reconciliation"). Statistics are optional.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.actions import ActionError
from schemalint.tables.delta_log.checkpoint import no_pyarrow
from schemalint.tables.delta_log.commit import read_bodies
from schemalint.tables.delta_log.datafiles import commit_of, sidecars
from schemalint.tables.delta_log.jsontext import JsonError, read_json
from schemalint.tables.delta_log.names import Kind, log_file
from schemalint.tables.delta_log.parquet import Rows
from schemalint.tables.delta_log.parquet_headers import LimitError
from schemalint.tables.delta_log.segment import list_log
from schemalint.tables.delta_log.store import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.tables.delta_log.names import LogFile
    from schemalint.tables.delta_log.segment import Checkpoint
    from schemalint.tables.delta_log.store import LogStore

_COLUMNS: Final = ["add.path", "add.stats", "add.deletionVector.cardinality"]
_CHECKPOINTS: Final = frozenset({Kind.CHECKPOINT, Kind.MULTI_PART_CHECKPOINT, Kind.V2_CHECKPOINT})
_SMALLEST_ADD: Final = 80  # bytes: path, partitionValues, size, modificationTime and dataChange are required


def count_rows(store: LogStore, version: int) -> int | None:
    """Return the number of rows of a version; None if a live file has no statistics.

    Raises:
        NoTable: There is no log.
        LiveError: A required file of the log is missing, or cannot be fetched or parsed.
    """
    total = 0
    for body in _live(store, version):
        rows = _rows_of(body)
        if rows is None:
            return None
        total += rows
    return total


def _live(store: LogStore, version: int) -> Iterator[Mapping[str, Any]]:
    listing = list_log(store)
    seen: set[str] = set()
    at = version
    while at >= 0:
        if checkpoints := listing.checkpoints.get(at):
            yield from (body for body in _checkpointed(store, checkpoints[0]) if _path(body) not in seen)
            return
        file = commit_of(listing, at, version)
        bodies = list(_bodies(store, file, ("add", "remove")))
        yield from (body for name, body in bodies if name == "add" and _path(body) not in seen)
        seen |= {_path(body) for _name, body in bodies}
        at = file.version - 1


def _checkpointed(store: LogStore, checkpoint: Checkpoint) -> Iterator[Mapping[str, Any]]:
    for file in checkpoint.files:
        if file.name.endswith(".json"):
            yield from (body for _name, body in _bodies(store, file, ("add",)))
        else:
            yield from _in_parquet(store, file.name)
    for name in dict.fromkeys(sidecars(store, checkpoint)):
        yield from _in_parquet(store, name)


def _bodies(
    store: LogStore, file: LogFile, names: tuple[str, ...]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        yield from read_bodies(store, file, names)
    except ActionError as error:
        raise DamagedFile(store.uri, file.name, str(error), error.line, is_limit=error.is_limit) from None


def _in_parquet(store: LogStore, name: str) -> Iterator[Mapping[str, Any]]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need
    except ImportError:
        raise no_pyarrow(store.uri) from None
    try:
        with store.open(name) as content:
            for batch in Rows(content).batches(_COLUMNS):
                for column in batch.columns:
                    yield from (body for body in column.to_pylist() if body and body.get("path"))
    except LimitError as error:
        raise DamagedFile(store.uri, name, str(error), is_limit=True) from None
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedFile(store.uri, name, f"the checkpoint cannot be read: {error}") from None


def _path(body: Mapping[str, Any]) -> str:
    return unquote(str(body.get("path")))


def _rows_of(body: Mapping[str, Any]) -> int | None:
    """Return the rows of a live file; None without statistics, or with some that are none."""
    try:
        stats = json.loads(body["stats"])
        deleted = (body.get("deletionVector") or {}).get("cardinality") or 0
        return int(stats["numRecords"]) - int(deleted)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return None


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
