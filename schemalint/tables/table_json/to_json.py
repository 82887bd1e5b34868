"""Write a live table as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeAlias

from schemalint.base.values import Itself
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import Field, Struct, Unmanaged
from schemalint.delta.feature_usage import FeatureUse, feature_uses
from schemalint.delta.history import HistoryStep, changes, steps
from schemalint.delta.path import format_path, path_to_json
from schemalint.delta.properties import CONSTRAINT_PREFIX
from schemalint.delta.protocol import Protocol
from schemalint.delta.schema_json import print_schema
from schemalint.delta.stream_history import stops_tracked_streams
from schemalint.delta.table import CatalogTable, LiveTable, Metadata, TableState
from schemalint.delta.type_text import print_type
from schemalint.tables.table_json.table_document import FORMAT, TableDocument, TableFailure

Json: TypeAlias = dict[str, object]
_Columns: TypeAlias = dict[Itself[Field], Json]
"""The columns that are written already."""


def to_json(document: TableDocument) -> Json:
    """Return the object of a table; `from_json` ignores ``features`` and some keys of the history."""
    live = document.live
    known: _Columns = {}
    return {
        "format": FORMAT,
        "uri": live.uri,
        "table": document.table,
        "target": document.target,
        "read_at": document.read_at.isoformat(timespec="seconds"),
        "version": live.version,
        "latest": document.is_latest,
        **_metadata(live.metadata, known),
        "protocol": _protocol(live.protocol),
        "features": [_feature(use) for use in feature_uses(live)],
        "history": _history(live, known),
        "history_from": live.history.known_from,
        "file_versions": None if live.history.file_versions is None else sorted(live.history.file_versions),
        "defects": [
            {
                "kind": defect.kind.name.lower(),
                "message": defect.message,
                "file": defect.file,
                "line": defect.line,
                "delta_error": defect.delta_error,
                "only_history": defect.only_history,
            }
            for defect in live.defects
        ],
        "warnings": list(live.warnings),
        "catalog": _catalog(live.catalog) if live.catalog else None,
        "transactions": dict(live.transactions),
    }


def failure_to_json(failure: TableFailure) -> Json:
    """Return the object of a table that could not be read."""
    return {
        "format": FORMAT,
        "uri": failure.uri,
        "table": failure.table,
        "target": failure.target,
        "read_at": failure.read_at.isoformat(timespec="seconds"),
        "error": failure.message,
        "help": failure.help,
        "missing": failure.missing,
    }


def _metadata(metadata: Metadata, known: _Columns) -> Json:
    state = metadata.state
    return {
        "table_id": metadata.table_id,
        "name": metadata.name,
        "description": None if isinstance(state.description, Unmanaged) else state.description,
        "created_time": metadata.created_time,
        "schema": _schema(state.columns, known),
        "partition_columns": list(state.partition_columns),
        "clustering_columns": [path_to_json(path) for path in state.clustering_columns],
        "configuration": _configuration(state),
    }


def _schema(columns: Struct, known: _Columns) -> Json:
    return {"type": "struct", "fields": [_column(field, known) for field in columns.fields]}


def _column(field: Field, known: _Columns) -> Json:
    """Return a column; one that stays is the same object in each schema of a history."""
    column = known.get(Itself(field))
    if column is None:
        column = known[Itself(field)] = json.loads(print_schema(Struct((field,))))["fields"][0]
    return column


def _configuration(state: TableState) -> Mapping[str, str]:
    """Return the configuration as Delta stores it, with constraints as entries."""
    constraints = {
        CONSTRAINT_PREFIX + name: text for name, text in state.constraints.items() if text is not None
    }
    return {**state.set_properties, **constraints}


def _protocol(protocol: Protocol) -> Json:
    return {
        "min_reader_version": protocol.min_reader,
        "min_writer_version": protocol.min_writer,
        "reader_features": sorted(protocol.reader_features),
        "writer_features": sorted(protocol.writer_features),
        "lists": list(protocol.lists) if protocol.lists else None,
    }


def _feature(use: FeatureUse) -> Json:
    return {
        "name": use.name,
        "supported": use.supported,
        "known": use.is_known,
        "binds_readers": use.binds_readers,
        "preview": use.is_preview,
        "needed_by": [{"kind": kind, "name": name} for kind, name in use.needed_by],
        "idle": use.is_idle,
    }


def _history(live: LiveTable, known: _Columns) -> list[Json]:
    """Write only the metadata that differs from the previous entry: schemas are large."""
    before: Json = {}
    entries = []
    for step in steps(live.history):
        after = _metadata(step.entry.metadata, known) if step.entry.metadata else None
        entries.append(_entry(step, after, before))
        before = after or before
    return entries


def _entry(step: HistoryStep, after: Json | None, before: Json) -> Json:
    entry = step.entry
    changed = None
    if after is not None:
        changed = {key: value for key, value in after.items() if key not in before or before[key] != value}
    return {
        "version": entry.version,
        "timestamp": entry.timestamp,
        "operation": entry.operation,
        "parameters": dict(entry.parameters),
        "user": entry.user,
        "engine": entry.engine,
        "user_metadata": entry.user_metadata,
        "removes_files": entry.removes_files,
        "adds_files": entry.adds_files,
        "schema_changed": "schema" in (changed or {}),
        "protocol_changed": entry.protocol is not None and entry.protocol != step.protocol_before,
        "stops_tracked_streams": stops_tracked_streams(step),
        "type_changes": [
            {"column": format_path(change.path), "from": print_type(change.old), "to": print_type(change.new)}
            for change in changes(step)
            if isinstance(change, TypeChanged)
        ],
        "metadata": changed,
        "protocol": _protocol(entry.protocol) if entry.protocol else None,
    }


def _catalog(catalog: CatalogTable) -> Json:
    return {
        "name": catalog.name,
        "catalog": catalog.catalog,
        "location": catalog.location,
        "columns": _schema(catalog.columns, {}) if catalog.columns is not None else None,
        "properties": dict(catalog.properties),
        "table_id": catalog.table_id,
        "managed_commits": catalog.managed_commits,
    }
