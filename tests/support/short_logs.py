"""A table's log, written short: one YAML entry per commit, with the actions as Delta writes them.

    - commitInfo: {operation: CREATE TABLE}
      protocol: {minReaderVersion: 1, minWriterVersion: 2}
      metaData: {fields: [{name: c, type: integer}]}
    - missing: true

``fields`` stands for ``schemaString``; what is left out of a field is what Spark writes there. Beside actions
there are ``checksum: {…}`` for the ``.crc`` file, ``checkpoint: true`` for one of what was written so far,
and ``missing: true``, which takes the commit away again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

from schemalint.storage import read_table
from support.logs import Action, write_checkpoint, write_commit, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.delta.table import LiveTable

BESIDE = ("checksum", "checkpoint", "missing")


def logged_table(text: str, folder: Path) -> LiveTable:
    """The table, as the reader finds it."""
    write_short_log(text, folder)
    return read_table(str(folder))


def write_short_log(text: str, folder: Path) -> None:
    """Write the log into a table's folder."""
    state: dict[str, Action] = {}
    for version, entry in enumerate(yaml.safe_load(text)):
        actions = {name: _body(name, body) for name, body in entry.items() if name not in BESIDE}
        state.update({name: {name: body} for name, body in actions.items() if name != "commitInfo"})
        lines = "".join(json.dumps({name: body}) + "\n" for name, body in actions.items())
        commit = write_commit(folder, version, lines)
        if "checksum" in entry:
            held = {name: _body(name, body) for name, body in entry["checksum"].items()}
            write_file(folder, f"{version:020}.crc", json.dumps(held).encode())
        if entry.get("checkpoint"):
            write_checkpoint(folder, version, list(state.values()))
        if entry.get("missing"):
            commit.unlink()


def _body(name: str, body: Action) -> Action:
    if name not in ("metaData", "metadata"):
        return body
    given = dict(body)
    fields = given.pop("fields", None)
    schema = {} if fields is None else {"schemaString": json.dumps(_struct(fields))}
    return {
        "id": "t-1",
        "format": {"provider": "parquet", "options": {}},
        "partitionColumns": [],
        "configuration": {},
        **schema,
        **given,
    }


def _struct(fields: list[Action]) -> Action:
    return {"type": "struct", "fields": [_field(field) for field in fields]}


def _field(field: Action) -> Action:
    return {"nullable": True, "metadata": {}, **field, "type": _type(field["type"])}


def _type(given: Any) -> Any:  # noqa: ANN401 (a type of Delta's schema is a name or an object)
    if not isinstance(given, dict):
        return given
    match given["type"]:
        case "struct":
            return _struct(given["fields"])
        case "array":
            return {"containsNull": True, **given, "elementType": _type(given["elementType"])}
        case _:
            inner = {key: _type(given[key]) for key in ("keyType", "valueType")}
            return {"valueContainsNull": True, **given, **inner}
