"""A short YAML notation for a table's log: one entry per commit, with the actions as Delta writes them.

    - commitInfo: {operation: CREATE TABLE}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: c, type: integer}]}
    - missing: true

``fields`` replaces ``schemaString``; omitted keys of a field, a type or an ``add`` get the values that Spark
writes, and every commit is of one minute in 2026. A key with the value ``omitted`` is left out.
Three keys are not actions: ``checksum: {…}`` writes the ``.crc`` file, ``checkpoint: true`` writes a
checkpoint of the actions so far, and ``missing: true`` deletes the commit's file.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from schemalint.tables.storage import read_table
from support.logs import Action, write_checkpoint, write_commit, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.delta.table import LiveTable

_NOT_ACTIONS = ("checksum", "checkpoint", "missing")
_TIME = 1_772_359_200_000
"""2026-03-01 10:00:00 UTC."""


def logged_table(text: str, folder: Path) -> LiveTable:
    """Write the log and return the table that schemalint reads from it."""
    write_short_log(text, folder)
    return read_table(str(folder))


def write_short_log(text: str, folder: Path) -> None:
    """Write the log into a table's folder."""
    state: dict[str, Action] = {}
    for version, entry in enumerate(yaml.load(text, yaml.CSafeLoader)):
        written = _without_omitted(entry)
        actions = {name: _body(name, body) for name, body in written.items() if name not in _NOT_ACTIONS}
        state.update({name: {name: body} for name, body in actions.items() if name != "commitInfo"})
        lines = "".join(json.dumps({name: body}) + "\n" for name, body in actions.items())
        commit = write_commit(folder, version, lines)
        if "checksum" in entry:
            checksum = {name: _body(name, body) for name, body in entry["checksum"].items()}
            write_file(folder, f"{version:020}.crc", json.dumps(checksum).encode())
        if entry.get("checkpoint"):
            write_checkpoint(folder, version, list(state.values()))
        if entry.get("missing"):
            commit.unlink()


def _body(name: str, body: Action) -> Action:
    match name:
        case "commitInfo":
            return {"timestamp": _TIME, **body}
        case "add":
            return {"partitionValues": {}, "size": 1, "modificationTime": _TIME, "dataChange": True, **body}
        case "metaData" | "metadata":
            return _metadata(body)
        case _:
            return body


def _metadata(body: Action) -> Action:
    rest = dict(body)
    fields = rest.pop("fields", None)
    schema = {} if fields is None else {"schemaString": json.dumps(_struct(fields))}
    metadata = {
        "id": "t-1",
        "format": {"provider": "parquet", "options": {}},
        "partitionColumns": [],
        "configuration": {},
        **schema,
        **rest,
    }
    return _without_omitted(metadata)


def _without_omitted(entry: Action) -> Action:
    return {key: value for key, value in entry.items() if value != "omitted"}


def _struct(fields: list[Action]) -> Action:
    return {"type": "struct", "fields": [_field(field) for field in fields]}


def _field(field: Action) -> Action:
    return _without_omitted({"nullable": True, "metadata": {}, **field, "type": _type(field["type"])})


def _type(written: Any) -> Any:  # noqa: ANN401 (a type of Delta's schema is a name or an object)
    if not isinstance(written, dict):
        return written
    match written["type"]:
        case "struct":
            return _struct(written["fields"])
        case "array":
            element = _type(written["elementType"])
            return _without_omitted({"containsNull": True, **written, "elementType": element})
        case _:
            inner = {key: _type(written[key]) for key in ("keyType", "valueType")}
            return _without_omitted({"valueContainsNull": True, **written, **inner})
