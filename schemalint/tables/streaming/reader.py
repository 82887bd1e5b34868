"""Read a stream's progress from its checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from schemalint.base.errors import LiveError
from schemalint.base.values import replace
from schemalint.delta.stream_progress import StreamDefect, StreamPosition, StreamProgress
from schemalint.delta.stream_settings import folder_below, metadata_paths
from schemalint.tables.streaming.files import StreamFileError
from schemalint.tables.streaming.offsets import read_batch
from schemalint.tables.streaming.schema_log import SchemaLog, read_schema_log

if TYPE_CHECKING:
    from schemalint.model.consumer import Stream
    from schemalint.tables.delta_log.store import FolderStore

_REPAIR: Final = "restore the file from a backup, or start the query with a new checkpoint"
_OTHER_TABLE: Final = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"


def read_stream(store: FolderStore, stream: Stream, table_id: str) -> StreamProgress:
    """Return how far a stream has come that reads a table.

    Args:
        store: The stream's checkpoint.
        stream: Its declaration.
        table_id: The id of the table that the contract declares.

    Returns:
        The progress; what cannot be read is in `StreamProgress.unknown` and `StreamProgress.defects`.
    """
    try:
        batch = read_batch(store, stream.source)
        if batch.position is None and not batch.planned and store.read("metadata") is None:
            return StreamProgress(
                unknown=f"there is no checkpoint in {store.uri}: the stream has not started, or is declared "
                "with another checkpoint",
                help="compare `checkpoint` with the query's checkpointLocation",
            )
        fault = _other_table(store, batch.position, table_id)
    except StreamFileError as error:
        return StreamProgress(unknown=_sentence(store, error), help=_REPAIR)
    except LiveError as error:
        return StreamProgress(unknown=error.message, help=error.help)
    progress = StreamProgress(batch.position, batch.planned, defects=fault)
    return (
        progress
        if fault or stream.schema_tracking_location is None
        else _tracked(store, stream, progress, table_id)
    )


def _tracked(store: FolderStore, stream: Stream, progress: StreamProgress, table_id: str) -> StreamProgress:
    """Add what the schema log says; its place is a part of the declaration, which is judged without files."""
    location = folder_below(stream.checkpoint, stream.schema_tracking_location or "")
    if location is None:
        return progress
    try:
        log = read_schema_log(store, location, table_id, stream.source)
    except StreamFileError as error:
        fault = StreamDefect(_sentence(store, error), _REPAIR, error.delta_error)
        return replace(progress, defects=(fault,))
    except LiveError as error:
        return replace(progress, unknown=error.message, help=error.help)
    if log is None:
        return replace(progress, defects=_not_tracked_yet(store, progress, location))
    tracked = replace(progress, current=log.current, previous=log.previous)
    return replace(tracked, defects=_moved(store, stream, log))


def _other_table(
    store: FolderStore, position: StreamPosition | None, table_id: str
) -> tuple[StreamDefect, ...]:
    if position is None or position.table_id == table_id:
        return ()
    message = f"{store.uri} is the checkpoint of a stream that reads a table with another id in this place"
    help_ = "declare checkpoint and source of this table; one that was made again needs a new checkpoint"
    return (StreamDefect(message, help_, _OTHER_TABLE),)


def _not_tracked_yet(store: FolderStore, progress: StreamProgress, location: str) -> tuple[StreamDefect, ...]:
    """Report a stream that runs without the tracking that its contract declares.

    The log is made at the next start, from where the stream is (measured on Delta 4.4.0).
    """
    if progress.position is None:
        return ()
    message = (
        f"{store.uri}/{location} has no schema log of this table: the stream has not been started with "
        "schemaTrackingLocation yet, and is untracked until then"
    )
    help_ = "start it once with schemaTrackingLocation before the table changes"
    return (StreamDefect(message.replace("/.", ""), help_, stops=False),)


def _moved(store: FolderStore, stream: Stream, log: SchemaLog) -> tuple[StreamDefect, ...]:
    """Report a log that belongs to another checkpoint, such as one that was copied."""
    path, file = log.current.metadata_path, f"{store.uri}/{log.folder}/{log.current.number}"
    expected = metadata_paths(stream.checkpoint, stream.source)
    with_scheme = metadata_paths(stream.checkpoint, stream.source, stream.checkpoint_scheme)
    if not expected or path in (*expected, *with_scheme):
        return ()
    message = f"{file}, line 2, is the log of the source {path!r}, and not of {' or '.join(expected)}"
    help_ = "a query cannot take over the schema log of another checkpoint, nor be moved with its own"
    return (StreamDefect(message, help_),)


def _sentence(store: FolderStore, error: StreamFileError) -> str:
    return f"{store.uri}/{error}"
