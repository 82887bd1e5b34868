"""Checkpoints of all kinds: the three actions in them that say what the table is.

The sidecars of a V2 checkpoint hold files only, and are never opened (PROTOCOL.md, "V2 Checkpoint Table
Feature"). Every other row of a Parquet file is about a data file and has nulls there. The file is read in
batches, first one leaf of each column, then the whole columns of the row groups that hold an action.
Statistics would say the same, but pyarrow ends the process when those of a damaged file contradict its schema
(measured on 26.0).
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from schemalint.delta_log import limits
from schemalint.delta_log.actions import (
    NOTHING,
    ActionError,
    Body,
    TableActions,
    read_clustering,
    read_metadata,
    read_protocol,
)
from schemalint.delta_log.commit import read_lines
from schemalint.delta_log.pages import LimitError, ParquetError
from schemalint.delta_log.parquet import Rows
from schemalint.delta_log.store import DamagedFile
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta_log.names import LogFile
    from schemalint.delta_log.segment import Checkpoint
    from schemalint.delta_log.store import LogStore

# The column of an action, and a leaf that is never null in it (PROTOCOL.md, "Checkpoint Schema").
_LEAVES: Final = {
    "protocol": "protocol.minReaderVersion",
    "metaData": "metaData.id",
    "domainMetadata": "domainMetadata.domain",
}
_MOST: Final = {
    "protocol": limits.MAX_SAME,
    "metaData": limits.MAX_SAME,
    "domainMetadata": limits.MAX_DOMAINS,
}


class NoPyarrow(LiveError):  # noqa: N818 - what is missing is the package
    """A Parquet file would have to be read, and pyarrow is not installed."""


def no_pyarrow(uri: str) -> NoPyarrow:
    """The error for a table whose state cannot be read without pyarrow."""
    return NoPyarrow(
        f"{uri}: the table's state lies in a Parquet checkpoint, and pyarrow is not installed",
        help="pip install 'schemalint[live]'",
    )


def read_checkpoint(store: LogStore, checkpoint: Checkpoint) -> TableActions:
    """What a checkpoint says about its table; no clustering is none.

    Raises:
        DamagedFile: A file of it cannot be read, or it lacks protocol or metadata.
        NoPyarrow: See there.
        LiveError: A file cannot be fetched.
    """
    found = NOTHING
    for file in checkpoint.files:
        try:
            here = read_lines(store, file) if file.name.endswith(".json") else _read_parquet(store, file)
        except ActionError as error:
            raise DamagedFile(store.uri, file.name, str(error), error.line, is_limit=error.is_limit) from None
        found = here.over(found)
    if found.protocol is None or found.metadata is None:
        name = checkpoint.files[0].name
        raise DamagedFile(
            store.uri,
            name,
            "the checkpoint lacks the protocol or the metadata of the table",
            delta_error="DELTA_STATE_RECOVER_ERROR",
        )
    return found if found.clustering is not None else TableActions(clustering=()).over(found)


def _read_parquet(store: LogStore, file: LogFile) -> TableActions:
    try:
        import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need
    except ImportError:
        raise no_pyarrow(store.uri) from None
    found = NOTHING
    try:
        with store.open(file.name) as content:
            for action, body in _bodies(Rows(content)):
                found = _read(action, body).over(found)
                if found.is_complete:
                    break
    except ActionError:
        raise
    except LimitError as error:
        raise DamagedFile(store.uri, file.name, str(error), is_limit=True) from None
    except (pa.ArrowException, OSError, ValueError, OverflowError, MemoryError) as error:
        raise DamagedFile(store.uri, file.name, f"the checkpoint cannot be read: {error}") from None
    return found


def _read(action: str, body: Body) -> TableActions:
    match action:
        case "protocol":
            return TableActions(protocol=read_protocol(body))
        case "metaData":
            configuration = _mapping(body.get("configuration"))
            return TableActions(metadata=read_metadata({**body, "configuration": configuration}))
        case _:
            return TableActions(clustering=read_clustering(body))


def _mapping(found: object) -> object:
    """Arrow's maps are lists of pairs."""
    if isinstance(found, list) and all(isinstance(pair, tuple) for pair in found):
        return dict(found)
    return found


def _bodies(rows: Rows) -> Iterator[tuple[str, Body]]:
    """The actions by name."""
    there: Counter[str] = Counter()
    for group in range(rows.file.num_row_groups):
        held: Counter[str] = Counter()
        for name, column in _columns(rows, group, list(_LEAVES.values())):
            held[name] += len(column)
        there += held
        if any(number > _MOST[name] for name, number in there.items()):
            raise ParquetError("it has the same action again and again")
        for name, column in _columns(rows, group, sorted(held)):
            yield from ((name, row.as_py()) for row in column)


def _columns(rows: Rows, group: int, wanted: list[str]) -> Iterator[tuple[str, Any]]:
    """The wanted columns of a row group as far as they are there, in batches, without the nulls."""
    if not wanted:
        return
    for batch in rows.group(group, wanted):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if column.null_count < len(column):
                yield name, column.drop_null()
