"""Read protocol, metadata, clustering and transaction identifiers from checkpoints of all kinds.

Sidecars of a V2 checkpoint only list data files, so they are never opened (PROTOCOL.md, "V2 Checkpoint Table
Feature"). Most rows of a Parquet checkpoint are about data files and have nulls in the columns of these four
actions. So the file is read in batches: first one leaf of each column, then the whole columns of the row
groups that hold an action. Statistics would give the same answer, but pyarrow ends the process if the
statistics of a damaged file contradict its schema (measured on 26.0).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import (
    NOTHING,
    ActionError,
    Body,
    TableActions,
    is_kept,
    read_metadata,
)
from schemalint.tables.delta_log.file_names import LogFile
from schemalint.tables.delta_log.json_lines import READERS, damage_in, read_lines
from schemalint.tables.delta_log.log_listing import Checkpoint
from schemalint.tables.delta_log.parquet import Rows
from schemalint.tables.delta_log.parquet_headers import LimitError, ParquetError
from schemalint.tables.delta_log.store import DamagedFile, LogStore

# By action: a leaf of its column that is never null (PROTOCOL.md, "Checkpoint Schema").
_LEAVES: Final = {
    "protocol": "protocol.minReaderVersion",
    "metaData": "metaData.id",
    "domainMetadata": "domainMetadata.domain",
    "txn": "txn.appId",
}
_MAX_ROWS: Final = {
    "protocol": log_limits.MAX_SAME,
    "metaData": log_limits.MAX_SAME,
    "domainMetadata": log_limits.MAX_DOMAINS,
}


class NoPyarrow(LiveError):  # noqa: N818 - the package is what is missing
    """A Parquet file must be read, but pyarrow is not installed."""


@contextmanager
def parquet_rows(store: LogStore, name: str) -> Iterator[Rows]:
    """Open a Parquet file of a checkpoint; what cannot be read of it meanwhile makes it a `DamagedFile`."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need
    except ImportError:
        raise NoPyarrow(
            f"{store.uri}: the table's state is in a Parquet checkpoint, but pyarrow is not installed",
            help="pip install 'schemalint[live]'",
        ) from None
    try:
        with store.open(name) as content:
            yield Rows(content)
    except ActionError:
        raise
    except LimitError as error:
        raise DamagedFile(store.uri, name, str(error), is_limit=True) from None
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedFile(store.uri, name, f"the checkpoint cannot be read: {error}") from None


def read_checkpoint(store: LogStore, checkpoint: Checkpoint) -> TableActions:
    """Read the table's state from a checkpoint; missing clustering means no clustering columns.

    Raises:
        DamagedFile: A file of the checkpoint cannot be read, or protocol or metadata is missing.
        NoPyarrow: A Parquet file must be read, but pyarrow is not installed.
        LiveError: A file cannot be fetched.
    """
    actions = NOTHING
    for file in checkpoint.files:
        with damage_in(store, file):
            part = read_lines(store, file) if file.name.endswith(".json") else _read_parquet(store, file)
        actions = part.completed_by(actions)
    if actions.protocol is None or actions.metadata is None:
        name = checkpoint.files[0].name
        raise DamagedFile(
            store.uri,
            name,
            "the checkpoint lacks the protocol or the metadata of the table",
            delta_error="DELTA_STATE_RECOVER_ERROR",
        )
    if actions.clustering is not None:
        return actions
    return TableActions(clustering=()).completed_by(actions)


def _read_parquet(store: LogStore, file: LogFile) -> TableActions:
    actions = NOTHING
    with parquet_rows(store, file.name) as rows:
        in_file = Counter[str]()
        for group in range(rows.file.num_row_groups):
            # A checkpoint has all other actions once, so the rest of their columns is nulls.
            leaves = [_LEAVES["txn"]] if actions.is_complete else list(_LEAVES.values())
            for action, body in _bodies(rows, group, leaves, in_file):
                actions = _read(action, body).completed_by(actions)
    return actions


def _read(action: str, body: Body) -> TableActions:
    if action == "metaData":
        return TableActions(
            metadata=read_metadata({**body, "configuration": _mapping(body.get("configuration"))})
        )
    return READERS[action](body)


def _mapping(value: object) -> object:
    """Convert an Arrow map, a list of pairs, to a dictionary; what holds no texts becomes none."""
    pairs = list(value.items()) if isinstance(value, dict) else value
    if isinstance(pairs, list) and all(isinstance(pair, tuple) and _are_texts(pair) for pair in pairs):
        return dict(pairs)
    return pairs


def _are_texts(values: Iterable[object]) -> bool:
    return all(value is None or isinstance(value, str) for value in values)


def _bodies(rows: Rows, group: int, leaves: list[str], in_file: Counter[str]) -> Iterator[tuple[str, Body]]:
    """Yield the actions of a row group with their names, and count them."""
    in_group: Counter[str] = Counter()
    for name, column in _columns(rows, group, leaves):
        in_group[name] += len(column) - column.null_count
    in_file.update(in_group)
    if any(in_file[name] > number for name, number in _MAX_ROWS.items()):
        raise ParquetError("it repeats the same action too often")
    for name, column in _columns(rows, group, sorted(in_group)):
        app_ids = column.field("appId") if name == "txn" else None
        for row in _not_null(column):
            if app_ids is None or is_kept(app_ids[row].as_py()):
                yield name, column[row].as_py()


def _not_null(column: Any) -> Iterator[int]:  # noqa: ANN401 (pyarrow is imported where it is used)
    """Yield the numbers of the rows that are not null; `drop_null` would load `pyarrow.compute`: 40 ms."""
    if not column.null_count:
        yield from range(len(column))
        return
    for match in re.finditer(rb"[^\0]", column.buffers()[0].to_pybytes()):
        byte, first = match[0][0], match.start() * 8 - column.offset
        rows = range(max(first, 0), min(first + 8, len(column)))
        yield from (row for row in rows if byte >> (row - first) & 1)


def _columns(rows: Rows, group: int, names: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the existing columns of a row group in batches, but for those that hold nothing but nulls."""
    if not names:
        return
    for name, column in rows.group(group, names):
        if name in _LEAVES and column.null_count < len(column):
            yield name, column
