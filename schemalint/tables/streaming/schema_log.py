"""Read the schema log of a tracked stream: ``_schema_log_<table id>[_<tracking id>]`` in its location.

Each start reads all entries, and compares the newest one with the one before it. What the query does with a
faulty entry is measured on Delta 4.4.0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from schemalint.delta.stream_progress import TrackedSchema
from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.actions import ActionError, TableActions, read_metadata, read_protocol
from schemalint.tables.delta_log.jsontext import JsonError, read_json
from schemalint.tables.delta_log.state import metadata_of
from schemalint.tables.streaming.files import (
    StreamFileError,
    json_object,
    lines,
    newest,
    parse_lines,
    whole_number,
)

if TYPE_CHECKING:
    from schemalint.tables.delta_log.store import FolderStore

ENTRY_VERSION: Final = 1
_PREFIX: Final = "_schema_log_"
_MOST_LOGS: Final = 100
"""Logs in one location; each source of a query that reads the table has one."""

_SCHEMA: Final = "DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED"
EMPTY_ENTRY: Final = "DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED"
_OTHER_TABLE: Final = "DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID"


class SchemaLog(NamedTuple):
    """A stream's schema log.

    Attributes:
        folder: Its folder, relative to the checkpoint.
        current: The newest entry.
        previous: The entry that a start compares with it; None for the first one.
    """

    folder: str
    current: TrackedSchema
    previous: TrackedSchema | None


def read_schema_log(store: FolderStore, location: str, table_id: str, source: int) -> SchemaLog | None:
    """Return the log of a source that reads a table; None if the location has none.

    Args:
        store: The checkpoint.
        location: The tracking location, relative to the checkpoint.
        table_id: The id of the table.
        source: The index of the table among the query's sources.

    Raises:
        StreamFileError: The log cannot be understood, or is about another table.
        LiveError: A file cannot be fetched.
    """
    candidates = [_read(store, folder, table_id) for folder in _folders(store, location, table_id)]
    logs = [log for log in candidates if log is not None]
    own = [log for log in logs if log.current.metadata_path.endswith(f"/sources/{source}")]
    return next(iter(own or logs), None) if len(logs) == 1 or own else None


def _folders(store: FolderStore, location: str, table_id: str) -> list[str]:
    """Return the logs of a table in a location; further ones have a tracking id in their names."""
    name = f"{_PREFIX}{table_id}"
    folders = [
        folder for folder in store.folders(location) if folder == name or folder.startswith(f"{name}_")
    ]
    if len(folders) > _MOST_LOGS:
        raise StreamFileError(
            location or ".", f"has more than {_MOST_LOGS} schema logs, a limit of schemalint"
        )
    return [f"{location}/{folder}".lstrip("/") for folder in sorted(folders)]


def _read(store: FolderStore, folder: str, table_id: str) -> SchemaLog | None:
    number = newest(store, folder)
    if number is None:
        return None
    newest_file = f"{folder}/{number}"
    current = parse_entry(
        newest_file, number, lines(store, newest_file, ENTRY_VERSION, EMPTY_ENTRY), table_id
    )
    before = number - 1 if current.replaces is None else current.replaces
    file = f"{folder}/{before}"
    data = store.read(file) if 0 <= before < number else None
    if data is None:
        return SchemaLog(folder, current, None)
    previous = parse_entry(file, before, parse_lines(file, data, ENTRY_VERSION, EMPTY_ENTRY), table_id)
    return SchemaLog(folder, current, previous)


def parse_entry(file: str, number: int, content: list[str], table_id: str) -> TrackedSchema:
    """Return the entry in the lines of a file.

    Raises:
        StreamFileError: It cannot be understood, or is about another table.
    """
    entry = json_object(file, 2, content[0].rstrip("\r") if content else "")
    if entry.get("tableId") != table_id:
        raise StreamFileError(file, "is about a table with another id", 2, delta_error=_OTHER_TABLE)
    version = whole_number(entry.get("deltaCommitVersion"))
    if version is None or version < 0:
        raise StreamFileError(file, "has no deltaCommitVersion that a table can have", 2)
    path, replaced = entry.get("sourceMetadataPath"), entry.get("previousMetadataSeqNum")
    try:
        metadata = metadata_of(_actions(entry, table_id))
    except ActionError as error:
        of_schema = _SCHEMA if "schemaString" in str(error) else None
        raise StreamFileError(file, f"cannot be read: {error}", 2, delta_error=of_schema) from None
    if metadata is None or not isinstance(entry.get("dataSchemaJson"), str):
        raise StreamFileError(file, "has no dataSchemaJson", 2, delta_error=_SCHEMA)
    return TrackedSchema(
        number, version, metadata, path if isinstance(path, str) else "", whole_number(replaced)
    )


def _actions(entry: dict[str, object], table_id: str) -> TableActions:
    """Return the entry as the actions of a log that have the same parts."""
    partitions = read_metadata({"schemaString": entry.get("partitionSchemaJson")}).schema
    metadata = read_metadata(
        {
            "id": table_id,
            "schemaString": entry.get("dataSchemaJson"),
            "partitionColumns": [field.name for field in partitions.fields] if partitions else [],
            "configuration": entry.get("tableConfigurations"),
        }
    )
    text = entry.get("protocolJson")
    return TableActions(metadata=metadata, protocol=None if text is None else read_protocol(_protocol(text)))


def _protocol(text: object) -> dict[str, object]:
    try:
        content = read_json(text, limits.MAX_ACTION) if isinstance(text, str) else None
    except JsonError as error:
        raise ActionError(f"protocolJson {error}") from None
    body = content.get("protocol") if isinstance(content, dict) else None
    if not isinstance(body, dict):
        raise ActionError("protocolJson has no protocol")
    return body
