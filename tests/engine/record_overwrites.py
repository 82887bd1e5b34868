"""Let `apply` rewrite tables of many shapes, and record what became of each; rows are compared by id.

``PYTHONPATH=tests python -m engine.record_overwrites`` asks every question again and records the answers. The
rows of every table are known here: no SQL says what must be in them afterwards.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from engine.answers import new_record, record_path
from engine.record_types import _versions
from support.lakehouse import Lakehouse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import SparkSession

RECORD = record_path("overwrites")
ALLOW: Final = ("rewrite", "destructive", "upgrade")
REWRITTEN: Final = "rewritten, all rows converted, nothing else changed"


class Change(NamedTuple):
    """A column that gets another type.

    Attributes:
        before: Its entry in the contract.
        after: Its entry afterwards.
        values: Its values as SQL, and what they become.
    """

    before: str
    after: str
    values: Mapping[str, object]


NULL: Final[Mapping[str, object]] = {"NULL": None}
CHANGES: Final = {
    "string to decimal": Change(
        "{name: c, type: string, comment: euros}",
        '{name: c, type: "decimal(12,2)", comment: euros, '
        'rewrite: {from: string, with: "cast(c as decimal(12,2))"}}',
        {"'1.50'": Decimal("1.50"), "' -3 '": Decimal("-3.00"), **NULL},
    ),
    "bigint to int": Change(
        "{name: c, type: bigint}",
        '{name: c, type: int, rewrite: {from: bigint, with: "cast(c as int)"}}',
        {"7L": 7, "-2147483648L": -2147483648, **NULL},
    ),
    "a field": Change(
        "{name: c, type: struct, columns: [{name: x, type: string, comment: inside}, {name: y, type: int}]}",
        "{name: c, type: struct, columns: [{name: x, type: int, comment: inside, "
        'rewrite: {from: string, with: "cast(c.x as int)"}}, {name: y, type: int}]}',
        {
            "named_struct('x', '1', 'y', 2)": {"x": 1, "y": 2},
            # Before Delta 4.4, INSERT makes a struct of nulls of a null: there is none here.
            "named_struct('x', CAST(NULL AS string), 'y', 3)": {"x": None, "y": 3},
        },
    ),
    "an array": Change(
        "{name: c, type: array<string>}",
        '{name: c, type: array<date>, rewrite: {from: array<string>, with: "cast(c as array<date>)"}}',
        {"array('2026-01-31', NULL)": ["2026-01-31", None], "array()": [], **NULL},
    ),
}


class Shape(NamedTuple):
    """A table around the column.

    Attributes:
        columns: The columns beside ``id`` and ``c``, each with a comma before it.
        more: The rest of the contract.
        values: The values of these columns in every row, as SQL.
    """

    columns: str = ""
    more: str = ""
    values: str = ""


UPGRADE: Final = "protocol: {allow_upgrade: true}\n"
OTHER: Final = ", {name: p, type: int}"
SHAPES: Final = {
    "plain": Shape(),
    "comments": Shape(", {name: n, type: string, comment: a note}", "description: all orders\n", ", 'x'"),
    "partitioned": Shape(OTHER, "partitioned_by: [p]\n", ", 1"),
    "clustered": Shape(OTHER, f"clustered_by: [p]\n{UPGRADE}", ", 1"),
    "mapped": Shape(OTHER, f"properties: {{delta.columnMapping.mode: name}}\n{UPGRADE}", ", 1"),
}
ASKED_EVERYWHERE: Final = ("string to decimal", "a field")
QUESTIONS: Final = [
    (shape, change)
    for shape, change in product(SHAPES, CHANGES)
    if shape == "plain" or change in ASKED_EVERYWHERE
]


def contract(shape: str, change: str, *, after: bool) -> str:
    """Return the contract of ``sales.orders`` before or after a change."""
    kind, table = CHANGES[change], SHAPES[shape]
    column = kind.after if after else kind.before
    columns = f"[{{name: id, type: int}}, {column}{table.columns}]"
    return f"schemalint: 1\ntable: sales.orders\ncolumns: {columns}\n{table.more}"


def outcome(lakehouse: Lakehouse, shape: str, change: str) -> str:
    """Make a table, rewrite it, and return what became of it."""
    table, kind = SHAPES[shape], CHANGES[change]
    lakehouse.declare(contract(shape, change, after=False))
    made = lakehouse.apply(allow=ALLOW)
    if made.error is not None:
        return f"not made: {_text(made.error)}"
    rows = ", ".join(f"({id_}, {value}{table.values})" for id_, value in enumerate(kind.values, 1))
    lakehouse.insert(rows)
    before, version = _metadata(lakehouse), lakehouse.table().version
    lakehouse.declare(contract(shape, change, after=True))
    applied = lakehouse.apply(allow=ALLOW)
    if applied.outcome.name == "REFUSED":
        unchanged = lakehouse.table().version == version
        return "refused beforehand" if unchanged else "refused, and changed"
    if applied.error is not None:
        return f"{applied.outcome.value}: {_text(applied.error)}"
    found = {row["id"]: _plain(row["c"]) for row in lakehouse.rows()}
    expected = dict(enumerate(kind.values.values(), 1))
    differences = [
        *([f"other rows: {found}"] if found != expected else []),
        *(["other metadata"] if _metadata(lakehouse) != before else []),
        *([] if lakehouse.apply(allow=ALLOW).outcome.name == "NOTHING" else ["not up to date"]),
    ]
    return "; ".join(differences) or f"{REWRITTEN}: {len(applied.done)} commits"


def _plain(value: object) -> object:
    if isinstance(value, list):
        return [None if each is None else str(each) for each in value]
    return value


def _text(error: object) -> str:
    return " ".join(str(error).split())[:200]


def _metadata(lakehouse: Lakehouse) -> dict[str, Any]:
    """Return the newest metadata as the log has it, without the column and what Delta numbers."""
    found: dict[str, Any] = {}
    for file in sorted(Path(lakehouse.uri, "_delta_log").glob("*.json")):
        for line in file.read_text("utf-8").splitlines():
            found = json.loads(line).get("metaData", found)
    fields = json.loads(found["schemaString"])["fields"]
    comments = [str(field["metadata"].get("comment")) for field in fields]
    others = [field for field in fields if field["name"] != "c"]
    ids = {"delta.columnMapping.maxColumnId"}
    kept = {key: value for key, value in found["configuration"].items() if key not in ids}
    return {**found, "configuration": kept, "schemaString": [others, comments]}


def ask(
    spark: SparkSession, folder: Path, questions: Sequence[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the answer to each question."""
    for number, (shape, change) in enumerate(questions):
        lakehouse = Lakehouse.make(folder / f"r{number}", spark)
        yield (shape, change), outcome(lakehouse, shape, change)


def read_record(path: Path = RECORD) -> dict[tuple[str, str], str]:
    """Return the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        _versions_line, *lines = file
    return {(row["shape"], row["change"]): row["answer"] for row in csv.DictReader(lines)}


def main() -> None:
    """Ask all questions, and record the answers of the installed Delta.

    With ``continue`` as the argument, those that the record has are not asked again.
    """
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    for name, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}.items():
        os.environ[name] = value
    path = new_record("overwrites")
    answered = read_record(path) if sys.argv[1:] == ["continue"] and path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        with path.open("w", encoding="utf-8", newline="") as file:
            file.write(f"# {_versions()}\n")
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(("shape", "change", "answer"))
            writer.writerows((*question, answer) for question, answer in answered.items())
            file.flush()
            left = [question for question in QUESTIONS if question not in answered]
            for question, answer in ask(session, Path(folder), left):
                writer.writerow((*question, answer))
                sys.stdout.write(f"{question}: {answer}\n")
                sys.stdout.flush()
                file.flush()
        session.stop()


if __name__ == "__main__":
    main()
