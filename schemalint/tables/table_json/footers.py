"""Summaries of data file footers as JSON and back; Spark executors return this JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping

from schemalint.base.json_object import JsonObject
from schemalint.base.redaction import without_secrets
from schemalint.delta.datatype import Atomic, Char, DataType, Decimal, String, Unknown, Varchar
from schemalint.delta.footer_summary import Files, FooterSummary, StoredLeaf
from schemalint.delta.path import path_from_json, path_to_json
from schemalint.delta.type_json import name_of_type, type_of_name
from schemalint.tables.table_json.table_document import written_by_show


def summary_to_json(summary: FooterSummary) -> dict[str, object]:
    """Return the JSON object of a summary."""
    return {
        "count": summary.count,
        "leaves": [_leaf_to_json(leaf, files) for leaf, files in summary.leaves.items()],
        "damaged": [{"reason": reason, **_files_to_json(files)} for reason, files in summary.damaged.items()],
    }


def summary_from_json(content: object) -> FooterSummary:
    """Read the JSON object that `summary_to_json` returns.

    Raises:
        TableJsonError: A value is missing, or has the wrong type.
    """
    body = written_by_show(content)
    return FooterSummary(
        body.number("count"),
        dict(_leaf(leaf) for leaf in body.objects("leaves")),
        {entry.text("reason"): _files(entry) for entry in body.objects("damaged")},
    )


def _leaf_to_json(leaf: StoredLeaf, files: Files) -> dict[str, object]:
    return {
        "path": path_to_json(leaf.path),
        "ids": list(leaf.ids),
        "type": _name(leaf.type),
        "known": not isinstance(leaf.type, Unknown),
        **_files_to_json(files),
    }


def _name(type_: DataType) -> str:
    match type_:
        case Unknown(json=text):
            return text
        case Atomic() | Char() | Decimal() | String() | Varchar():
            return name_of_type(type_)
        case _:
            raise ValueError(f"{type_} is not the type of a leaf")


def _files_to_json(files: Files) -> Mapping[str, object]:
    return {"files": files.count, "examples": list(files.examples)}


def _leaf(body: JsonObject) -> tuple[StoredLeaf, Files]:
    name = body.text("type")
    type_ = type_of_name(name) if body.flag("known") else Unknown(name)
    if type_ is None:
        raise body.wrong("type", f"the name of a type, not {without_secrets(json.dumps(name))[:40]}")
    try:
        path = path_from_json(item for item, _path in body.items("path"))
    except ValueError:
        raise body.wrong("path", "a path") from None
    ids = tuple(item if isinstance(item, int) else None for item, _path in body.items("ids"))
    return StoredLeaf(path, ids, type_), _files(body)


def _files(body: JsonObject) -> Files:
    return Files(body.number("files"), body.texts("examples"))
