"""The files of a stream: numbered ones, as Spark's HDFSMetadataLog writes them, and its schema log.

A tracked stream has the schema log ``_schema_log_<table id>[_<tracking id>]`` in its location. Each start
reads all entries, and compares the newest one with the one before it. What the query does with a faulty entry
is measured on Delta 4.4.0.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from schemalint.base.phrases import affixed
from schemalint.delta.stream_progress import TrackedSchema
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import ActionError, TableActions, read_metadata, read_protocol
from schemalint.tables.delta_log.jsontext import JsonError, read_json, read_json_object
from schemalint.tables.delta_log.state_at_version import metadata_of
from schemalint.tables.delta_log.store import FolderStore

_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_VERSION: Final = re.compile(r"v([0-9]{1,9})")
_MOST_LINES: Final = 1_000
"""Lines of a file; a query has a source per line, and Spark plans no query with so many."""
_ENTRY_VERSION: Final = 1
_PREFIX: Final = "_schema_log_"
_MOST_LOGS: Final = 100
"""Logs in one location; each source of a query that reads the table has one."""

_SCHEMA: Final = "DELTA_STREAMING_SCHEMA_LOG_PARSE_SCHEMA_FAILED"
_EMPTY_ENTRY: Final = "DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED"
_OTHER_TABLE: Final = "DELTA_STREAMING_SCHEMA_LOG_INCOMPATIBLE_DELTA_TABLE_ID"


class StreamFileError(Exception):
    """A file of a stream cannot be understood.

    Args:
        file: The path relative to the checkpoint.
        reason: A predicate that follows the name of the file.
        line: The line, from 1.
        delta_error: The error class with which the query fails, as measured on Delta 4.4.0.
    """

    def __init__(
        self, file: str, reason: str, line: int | None = None, *, delta_error: str | None = None
    ) -> None:
        super().__init__(f"{file}{affixed(', line ', line)} {reason}")
        self.delta_error = delta_error


def newest(store: FolderStore, folder: str) -> int | None:
    """Return the highest number of the files in a folder; None without any.

    Raises:
        StreamFileError: The name is another spelling of the number, such as ``07``: Spark looks for ``7``.
        LiveError: The folder cannot be listed.
    """
    name = max((name for name in store.files(folder) if _NUMBER.fullmatch(name)), key=int, default=None)
    if name is None:
        return None
    if name != str(int(name)):
        raise StreamFileError(
            f"{folder}/{name}", f"is no file of a stream, but Spark takes it for {int(name)}"
        )
    return int(name)


def lines(store: FolderStore, file: str, newest_version: int, empty_error: str | None = None) -> list[str]:
    """Return the lines of a file after its first; see `parse_lines`.

    Raises:
        StreamFileError: There is no such file, or its lines cannot be read.
        LiveError: The file cannot be fetched.
    """
    data = store.read(file)
    if data is None:
        raise StreamFileError(file, "is missing: a later one needs it")
    return parse_lines(file, data, newest_version, empty_error)


def parse_lines(file: str, data: bytes, newest_version: int, empty_error: str | None = None) -> list[str]:
    """Return the lines after the first, which has the version of the format.

    Args:
        file: The path relative to the checkpoint.
        data: The content.
        newest_version: The newest version that Spark reads.
        empty_error: The error class with which the query fails if the file is empty.

    Raises:
        StreamFileError: There is no such line, or a version that Spark does not read.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise StreamFileError(file, "is no text in UTF-8") from None
    if text.count("\n") > _MOST_LINES:
        raise StreamFileError(file, f"has more than {_MOST_LINES:,} lines, a limit of schemalint")
    first, *others = text.split("\n")
    match = _VERSION.fullmatch(first.rstrip("\r"))
    if match is None or not int(match[1]):
        fault = "is empty" if not text else "does not begin with the version of its format, such as v1"
        raise StreamFileError(file, fault, 1, delta_error="MALFORMED_LOG_FILE" if text else empty_error)
    if int(match[1]) > newest_version:
        raise StreamFileError(
            file,
            f"has version {int(match[1])} of its format, newer than {newest_version}",
            1,
            delta_error="INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION",
        )
    return others


def json_object(file: str, line: int, text: str, delta_error: str | None = None) -> dict[str, object]:
    """Return the JSON object in a line.

    Raises:
        StreamFileError: There is no JSON object.
    """
    try:
        return read_json_object(text, log_limits.MAX_ACTION)
    except JsonError as error:
        raise StreamFileError(file, str(error), line, delta_error=delta_error) from None


def whole_number(value: object) -> int | None:
    """Return a 64-bit integer, which Jackson also reads from a text; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        value = int(value)
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    return None


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
    if len(logs) == 1 or own:
        return next(iter(own or logs), None)
    return None


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
    current = _parse_entry(
        newest_file, number, lines(store, newest_file, _ENTRY_VERSION, _EMPTY_ENTRY), table_id
    )
    before = number - 1 if current.replaces is None else current.replaces
    file = f"{folder}/{before}"
    data = store.read(file) if 0 <= before < number else None
    if data is None:
        return SchemaLog(folder, current, None)
    previous = _parse_entry(file, before, parse_lines(file, data, _ENTRY_VERSION, _EMPTY_ENTRY), table_id)
    return SchemaLog(folder, current, previous)


def _parse_entry(file: str, number: int, content: list[str], table_id: str) -> TrackedSchema:
    """Return the entry in the lines of a file.

    Raises:
        StreamFileError: It cannot be understood, or is about another table.
    """
    entry = json_object(file, 2, "".join(content[:1]).rstrip("\r"))
    if entry.get("tableId") != table_id:
        raise StreamFileError(file, "is about a table with another id", 2, delta_error=_OTHER_TABLE)
    version = whole_number(entry.get("deltaCommitVersion"))
    if version is None or version < 0:
        raise StreamFileError(file, "has no deltaCommitVersion that a table can have", 2)
    path, replaced = entry.get("sourceMetadataPath"), entry.get("previousMetadataSeqNum")
    try:
        actions = _actions(entry, table_id)
        metadata = metadata_of(actions)
    except ActionError as error:
        of_schema = _SCHEMA if "schemaString" in str(error) else None
        raise StreamFileError(file, f"cannot be read: {error}", 2, delta_error=of_schema) from None
    if metadata is None or not isinstance(entry.get("dataSchemaJson"), str):
        raise StreamFileError(file, "has no dataSchemaJson", 2, delta_error=_SCHEMA)
    # The stream stops at its start, with an error of the JSON parser (measured on Delta 4.4.0).
    if actions.protocol is not None and not actions.protocol.has_fitting_lists:
        raise StreamFileError(file, "has a protocol whose feature lists do not fit its versions", 2)
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
        content = read_json(text, log_limits.MAX_ACTION) if isinstance(text, str) else None
    except JsonError as error:
        raise ActionError(f"protocolJson {error}") from None
    body = content.get("protocol") if isinstance(content, dict) else None
    if not isinstance(body, dict):
        raise ActionError("protocolJson has no protocol")
    return body
