"""Read a stream's progress from its checkpoint.

Every start of a query reads the newest offsets, those before them, and the newest commit
(MicroBatchExecution.populateStartOffsets); measured on Spark 4.2.0, and so are the error classes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from schemalint.base.errors import LiveError
from schemalint.base.values import replace
from schemalint.delta.stream_progress import StreamDefect, StreamPosition, StreamProgress
from schemalint.delta.stream_settings import folder_below, metadata_paths
from schemalint.delta.streams import OTHER_TABLE
from schemalint.model.consumer import Stream
from schemalint.tables.delta_log.store import FolderStore
from schemalint.tables.streaming.stream_files import (
    SchemaLog,
    StreamFileError,
    json_object,
    lines,
    newest,
    read_schema_log,
    whole_number,
)

_REPAIR: Final = "restore the file from a backup, or start the query with a new checkpoint"
_OFFSETS_VERSION: Final = 2
"""The newest version of the format that Spark 4.2 reads."""

_COMMITS_VERSION: Final = 2
_FIRST_SOURCE: Final = 3
"""The line of the first source: it follows the version and the query's metadata."""

_SOURCE_VERSIONS: Final = (1, 3)
_NO_OFFSET: Final = "-"
_INVALID: Final = "DELTA_INVALID_SOURCE_OFFSET_FORMAT"


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
        batch = _read_batch(store, stream.source)
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
    if fault or stream.schema_tracking_location is None:
        return progress
    return _tracked(store, stream, progress, table_id)


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
    return (StreamDefect(message, help_, OTHER_TABLE),)


def _not_tracked_yet(store: FolderStore, progress: StreamProgress, location: str) -> tuple[StreamDefect, ...]:
    """Report a stream that runs without the tracking that its contract declares.

    The log is made at the next start, from where the stream is (measured on Delta 4.4.0).
    """
    if progress.position is None:
        return ()
    place = f"{store.uri}/{location}".rstrip("/")
    message = (
        f"{place} has no schema log of this table: the stream has not been started with "
        "schemaTrackingLocation yet, and is untracked until then"
    )
    help_ = "start it once with schemaTrackingLocation before the table changes"
    return (StreamDefect(message, help_, stops=False),)


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


class _Batch(NamedTuple):
    """The batch where the next start begins.

    Attributes:
        position: Its offset of the source; None before the first batch.
        planned: Whether the next batch was planned, and not committed.
    """

    position: StreamPosition | None
    planned: bool


def _read_batch(store: FolderStore, source: int) -> _Batch:
    """Return the last committed batch; without one, the first planned one.

    Raises:
        StreamFileError: A file that Spark reads too is missing or cannot be understood, or is not about a
            Delta source with this index.
        LiveError: A file cannot be fetched.
    """
    planned, committed = newest(store, "offsets"), newest(store, "commits")
    if planned is None:
        if committed is not None:
            raise StreamFileError(f"offsets/{committed}", "is missing, but the batch was committed")
        return _Batch(None, planned=False)
    if committed is not None:
        if committed > planned:
            fault = f"is newer than all offsets, which end at {planned}"
            raise StreamFileError(f"commits/{committed}", fault, delta_error="CONCURRENT_STREAM_LOG_UPDATE")
        _check_commit(store, committed)
    latest = _position_at(store, planned, source)
    if planned == 0:
        return _Batch(latest, planned=committed is None)
    before = _position_at(store, planned - 1, source)
    if committed == planned:
        return _Batch(latest, planned=False)
    return _Batch(before or latest, planned=True)


def _check_commit(store: FolderStore, number: int) -> None:
    file = f"commits/{number}"
    content = lines(store, file, _COMMITS_VERSION)
    json_object(file, 2, "".join(content[:1]))


def _position_at(store: FolderStore, number: int, source: int) -> StreamPosition | None:
    file = f"offsets/{number}"
    return _parse_offset(file, lines(store, file, _OFFSETS_VERSION), source)


def _parse_offset(file: str, content: list[str], source: int) -> StreamPosition | None:
    """Return the offset of a source from the lines of a file; None if no batch had data of it.

    Raises:
        StreamFileError: The source is missing, or its offset is not one of Delta.
    """
    json_object(file, 2, "".join(content[:1]))
    sources = [text.rstrip("\r") for text in content[1:]]
    while sources and not sources[-1]:
        sources.pop()
    line, text = _of_source(file, sources, source)
    if text == _NO_OFFSET:
        return None
    offset = json_object(file, line, text, _INVALID)
    if "reservoirId" not in offset and "reservoirVersion" not in offset:
        raise StreamFileError(file, f"is the offset of source {source}, which reads no Delta table", line)
    kind = whole_number(offset.get("sourceVersion"))
    if kind not in _SOURCE_VERSIONS:
        newer = kind is not None and kind > max(_SOURCE_VERSIONS)
        error = "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION" if newer else "DELTA_INVALID_SOURCE_VERSION"
        raise StreamFileError(file, "has another sourceVersion than 1 and 3", line, delta_error=error)
    table, version = offset.get("reservoirId"), whole_number(offset.get("reservoirVersion"))
    index = whole_number(offset.get("index", -1))
    if not isinstance(table, str) or version is None or version < 0 or index is None:
        raise StreamFileError(
            file, "has no reservoirId, reservoirVersion and index of a table", line, delta_error=_INVALID
        )
    return StreamPosition(table, version, index, offset.get("isStartingVersion") is True)


def _of_source(file: str, sources: list[str], source: int) -> tuple[int, str]:
    """Return the line of a source, and its offset; the format of version 2 has ``<name>:`` before it."""
    by_name = {
        name: (line, text)
        for line, entry in enumerate(sources, _FIRST_SOURCE)
        for name, colon, text in [entry.partition(":")]
        if colon and not entry.startswith("{")
    }
    if by_name:
        if str(source) not in by_name:
            names = ", ".join(name[:40] for name in list(by_name)[:5])
            raise StreamFileError(file, f"has no source {source}; its sources are named {names}")
        return by_name[str(source)]
    if not 0 <= source < len(sources):
        raise StreamFileError(file, f"has {len(sources)} sources, so that none has index {source}")
    return _FIRST_SOURCE + source, sources[source]
