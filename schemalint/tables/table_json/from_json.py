"""Read live tables from JSON."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator
from functools import lru_cache

from schemalint.base.errors import Location
from schemalint.base.json_object import JsonObject
from schemalint.base.redaction import without_secrets
from schemalint.base.values import replace
from schemalint.delta.datatype import Struct
from schemalint.delta.path import Path, path_from_json
from schemalint.delta.properties import split_configuration
from schemalint.delta.protocol import Protocol
from schemalint.delta.schema_json import SchemaError, allow_recursion, parse_schema
from schemalint.delta.table import (
    CatalogTable,
    History,
    HistoryEntry,
    LiveTable,
    LogDefect,
    LogDefectKind,
    Metadata,
    TableState,
)
from schemalint.tables.delta_log.jsontext import JsonError, read_json
from schemalint.tables.delta_log.log_limits import MAX_LINE
from schemalint.tables.table_json.table_document import (
    FORMAT,
    TableDocument,
    TableFailure,
    TableJsonError,
    written_by_show,
)

# The history repeats the table's schema.
_parse_schema = lru_cache(maxsize=16)(parse_schema)


def read_lines(file: str, data: bytes) -> tuple[TableDocument | TableFailure, ...]:
    """Read all tables of a file, one per line; blank lines are skipped.

    Raises:
        TableJsonError: A line was not written by ``show``, or the file holds no table.
    """
    tables: list[TableDocument | TableFailure] = []
    for number, line in enumerate(io.BytesIO(data.removeprefix(b"\xef\xbb\xbf")), 1):
        if not line.strip():
            continue
        try:
            tables.append(from_json(_load(line)))
        except TableJsonError as error:
            location = Location(file, number, 1, number)
            raise TableJsonError(error.message, help=error.help, location=location) from None
    if not tables:
        raise TableJsonError(
            "the file holds no table",
            help="Write it with `schemalint show --output-format json`.",
            location=Location(file),
        )
    return tuple(tables)


def from_json(content: object) -> TableDocument | TableFailure:
    """Read the JSON object that `to_json` or `failure_to_json` returns.

    Raises:
        TableJsonError: A value is missing, or has the wrong type.
    """
    body = written_by_show(content)
    if (format_ := body.content.get("format")) != FORMAT:
        raise TableJsonError(
            f"format must be {FORMAT}, not {without_secrets(json.dumps(format_))[:40]}",
            help="Write the file again with `schemalint show --output-format json` of this version.",
        )
    read_at, table, target = _time(body), body.optional("table", str), body.optional("target", str)
    if "error" not in body.content:
        return TableDocument(_live(body), read_at, table, target, body.flag("latest"))
    return TableFailure(
        body.text("uri"),
        body.text("error"),
        read_at,
        help=body.text("help"),
        table=table,
        target=target,
        missing=body.flag("missing"),
    )


def _load(line: bytes) -> object:
    allow_recursion(line)
    try:
        return read_json(line, MAX_LINE)
    except JsonError as error:
        if error.is_limit:
            raise TableJsonError(f"the line {error}, a limit of schemalint") from None
        raise TableJsonError(
            "this is not JSON", help="Each line holds one table, as `schemalint show` writes it."
        ) from None


def _live(body: JsonObject) -> LiveTable:
    protocol = _protocol(body.inner("protocol"))
    return LiveTable(
        uri=body.text("uri"),
        version=body.number("version"),
        protocol=protocol,
        metadata=_metadata(body, protocol.features),
        history=History(tuple(_entries(body)), body.number("history_from"), _file_versions(body)),
        warnings=body.texts("warnings"),
        defects=tuple(map(_defect, body.objects("defects"))),
        catalog=_catalog(body.inner("catalog")) if body.content.get("catalog") is not None else None,
        transactions=_transactions(body),
    )


def _transactions(body: JsonObject) -> dict[str, int]:
    if "transactions" not in body.content:  # the file is older
        return {}
    inner = body.inner("transactions")
    return {app_id: inner.number(app_id) for app_id in inner.content}


def _file_versions(body: JsonObject) -> frozenset[int] | None:
    if body.content.get("file_versions") is None:
        return None
    return frozenset(body.numbers("file_versions"))


def _time(body: JsonObject) -> dt.datetime:
    try:
        time = dt.datetime.fromisoformat(body.text("read_at"))
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise body.wrong("read_at", "a time with a time zone")
    return time


def _metadata(body: JsonObject, features: frozenset[str]) -> Metadata:
    properties, constraints = split_configuration(body.pairs("configuration"))
    state = TableState(
        columns=_schema(body, "schema"),
        description=body.optional("description", str),
        partitioned_by=body.texts("partition_columns"),
        clustered_by=tuple(_path(body, item) for item, _ in body.items("clustering_columns")),
        constraints=constraints,
        properties=properties,
        features=features,
    )
    return Metadata(
        body.text("table_id"), state, body.optional("name", str), body.optional("created_time", int)
    )


def _schema(body: JsonObject, key: str) -> Struct:
    try:
        return _parse_schema(json.dumps(body.inner(key).content))
    except (SchemaError, RecursionError) as error:
        raise body.wrong(key, f"a schema as Delta writes it: {error}") from None


def _path(body: JsonObject, item: object) -> Path:
    try:
        return path_from_json(item if isinstance(item, list) else [None])
    except ValueError:
        raise body.wrong("clustering_columns", "a list of paths") from None


def _protocol(body: JsonObject) -> Protocol:
    lists = None
    if body.content.get("lists") is not None:
        flags = [item for item, _ in body.items("lists") if isinstance(item, bool)]
        if len(flags) != 2:  # noqa: PLR2004 (reader features, writer features)
            raise body.wrong("lists", "two values, each true or false")
        lists = (flags[0], flags[1])
    return Protocol(
        body.number("min_reader_version"),
        body.number("min_writer_version"),
        frozenset(body.texts("reader_features")),
        frozenset(body.texts("writer_features")),
        lists,
    )


def _entries(body: JsonObject) -> Iterator[HistoryEntry]:
    metadata_now: dict[str, object] = {}
    features: frozenset[str] = frozenset()
    for entry in body.objects("history"):
        protocol = _protocol(entry.inner("protocol")) if entry.content.get("protocol") is not None else None
        features = protocol.features if protocol else features
        metadata = None
        if entry.content.get("metadata") is not None:
            changed = entry.inner("metadata")
            metadata_now = {**metadata_now, **changed.content}
            metadata = _metadata(replace(changed, content=metadata_now), features)
        yield HistoryEntry(
            version=entry.number("version"),
            timestamp=entry.optional("timestamp", int),
            operation=entry.optional("operation", str),
            parameters=entry.pairs("parameters"),
            user=entry.optional("user", str),
            engine=entry.optional("engine", str),
            user_metadata=entry.optional("user_metadata", str),
            metadata=metadata,
            protocol=protocol,
            removes_files=entry.flag("removes_files"),
            adds_files=bool(entry.optional("adds_files", bool)),
        )


def _defect(body: JsonObject) -> LogDefect:
    kinds = {kind.name.lower(): kind for kind in LogDefectKind}
    if (kind := kinds.get(body.text("kind"))) is None:
        raise body.wrong("kind", f"one of {', '.join(kinds)}")
    return LogDefect(
        kind,
        body.text("message"),
        body.text("file"),
        body.optional("line", int),
        body.optional("delta_error", str),
        body.optional("only_history", bool) or False,
    )


def _catalog(body: JsonObject) -> CatalogTable:
    return CatalogTable(
        name=body.text("name"),
        catalog=body.text("catalog"),
        location=body.text("location"),
        columns=_schema(body, "columns") if body.content.get("columns") is not None else None,
        properties=body.pairs("properties"),
        table_id=body.optional("table_id", str),
        managed_commits=body.flag("managed_commits"),
    )
