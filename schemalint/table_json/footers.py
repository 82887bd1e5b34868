"""What the footers of data files say, as JSON and back: how executors of Spark tell it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from schemalint.delta.datatype import Atomic, Char, Decimal, String, Unknown, Varchar
from schemalint.delta.footer_summary import Files, FooterSummary, StoredLeaf
from schemalint.delta.path import path_from_json, path_to_json
from schemalint.delta.type_name import name_of_type, type_of_name
from schemalint.table_json.values import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping

    from schemalint.delta.datatype import DataType


def summary_to_json(tally: FooterSummary) -> dict[str, object]:
    """The object for a tally."""
    return {
        "count": tally.count,
        "leaves": [_leaf_to_json(leaf, files) for leaf, files in tally.leaves.items()],
        "damaged": [{"reason": reason, **_files_to_json(files)} for reason, files in tally.damaged.items()],
    }


def summary_from_json(content: object) -> FooterSummary:
    """The inverse of `summary_to_json`.

    Raises:
        ShownError: A value is missing, or of another kind.
    """
    body = JsonObject.of(content)
    return FooterSummary(
        body.number("count"),
        dict(_leaf(one) for one in body.bodies("leaves")),
        {one.text("reason"): _files(one) for one in body.bodies("damaged")},
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
            raise ValueError(f"{type_} is no type of a leaf")


def _files_to_json(files: Files) -> Mapping[str, object]:
    return {"files": files.count, "examples": list(files.examples)}


def _leaf(body: JsonObject) -> tuple[StoredLeaf, Files]:
    name = body.text("type")
    type_ = type_of_name(name) if body.flag("known") else Unknown(name)
    if type_ is None:
        raise body.wrong("type", f"the name of a type, not {json.dumps(name)[:40]}")
    try:
        path = path_from_json(item for item, _way in body.items("path"))
    except ValueError:
        raise body.wrong("path", "a path") from None
    ids = tuple(item if isinstance(item, int) else None for item, _way in body.items("ids"))
    return StoredLeaf(path, ids, type_), _files(body)


def _files(body: JsonObject) -> Files:
    return Files(body.number("files"), body.texts("examples"))
