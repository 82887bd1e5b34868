"""Count the rows of a version by its log: ``numRecords`` of all live files, less their deletion vectors.

Of each file the newest action counts (PROTOCOL.md, "Action Reconciliation"). Statistics are optional.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from schemalint.tables.delta_log.actions import ActionError
from schemalint.tables.delta_log.checkpoint import no_pyarrow
from schemalint.tables.delta_log.commit import read_bodies
from schemalint.tables.delta_log.datafiles import commit_of, sidecars
from schemalint.tables.delta_log.pages import LimitError
from schemalint.tables.delta_log.parquet import Rows
from schemalint.tables.delta_log.segment import list_log
from schemalint.tables.delta_log.store import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from schemalint.tables.delta_log.names import LogFile
    from schemalint.tables.delta_log.segment import Checkpoint
    from schemalint.tables.delta_log.store import LogStore

_COLUMNS: Final = ["add.path", "add.stats", "add.deletionVector.cardinality"]


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
