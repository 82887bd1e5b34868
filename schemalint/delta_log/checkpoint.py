"""A classic checkpoint: the three columns of a Parquet file that say what the table is.

Every other row of the file is about a data file and has nulls there. The file is read in batches, first one
leaf of each column, then the whole columns of the row groups that hold an action. Statistics would say the
same, but pyarrow ends the process when those of a damaged file contradict its schema (measured on 26.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from schemalint.delta_log.actions import (
    ActionError,
    Body,
    TableActions,
    read_clustering,
    read_metadata,
    read_protocol,
)
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta_log.store import LogStore

# The column of an action, and a leaf that is never null in it (PROTOCOL.md, "Checkpoint Schema").
_LEAVES: Final = {
    "protocol": "protocol.minReaderVersion",
    "metaData": "metaData.id",
    "domainMetadata": "domainMetadata.domain",
}
_BATCH: Final = 32_768
_BUFFER: Final = 256 * 1024


def read_checkpoint(store: LogStore, name: str) -> TableActions:
    """What a classic checkpoint says about its table; no clustering is none.

    Raises:
        LiveError: pyarrow is not installed, or the file cannot be read, or lacks protocol or metadata.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - 190 ms that a log without a checkpoint does not need
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError:
        raise LiveError(
            f"{store.uri}: the table's state lies in a Parquet checkpoint, and pyarrow is not installed",
            help="pip install 'schemalint[live]'",
        ) from None
    place = f"{store.uri}/_delta_log/{name}"
    found = TableActions()
    try:
        with store.open(name) as file:
            for action, body in _bodies(parquet.ParquetFile(file, buffer_size=_BUFFER)):
                found = _read(action, body).over(found)
                if found.is_complete:
                    break
    except ActionError as error:
        raise LiveError(f"{place}: {error}") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise LiveError(f"{place}: the checkpoint cannot be read: {error}") from None
    if found.protocol is None or found.metadata is None:
        raise LiveError(f"{place}: the checkpoint lacks the protocol or the metadata of the table")
    return found if found.clustering is not None else TableActions(clustering=()).over(found)


def _read(action: str, body: Body) -> TableActions:
    match action:
        case "protocol":
            return TableActions(protocol=read_protocol(body))
        case "metaData":
            pairs = body.get("configuration")  # Arrow's map
            configuration = dict(pairs) if isinstance(pairs, list) else pairs
            return TableActions(metadata=read_metadata({**body, "configuration": configuration}))
        case _:
            return TableActions(clustering=read_clustering(body))


def _bodies(file: Any) -> Iterator[tuple[str, Body]]:  # noqa: ANN401 - pyarrow has no types
    """The actions by name, from a ``pyarrow.parquet.ParquetFile``."""
    for group in range(file.num_row_groups):
        held = {name for name, _column in _columns(file, group, list(_LEAVES.values()))}
        for name, column in _columns(file, group, sorted(held)):
            yield from ((name, body) for body in column.to_pylist())


def _columns(file: Any, group: int, wanted: list[str]) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """The wanted columns of a row group as far as they are there, in batches, without the nulls."""
    if not wanted:
        return
    for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group], columns=wanted):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if column.null_count < len(column):
                yield name, column.drop_null()
