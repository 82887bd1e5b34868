"""Ask Spark which columns can be made and never written, and record its answers.

``PYTHONPATH=tests python -m engine.record_shapes`` asks every question again and records the answers.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.record_logs import ACCEPTED, _outcome
from engine.record_types import _versions
from engine.recording import record_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("shapes.csv")

_S: Final = "named_struct('a', 1, 'b', 2)"
_N: Final = "named_struct('a', named_struct('x', 1))"

SHAPES: Final[Mapping[str, str]] = {
    "INT": "1",
    "VOID": "NULL",
    "VARIANT": "parse_json('{}')",
    "STRUCT<>": "NULL",
    "STRUCT<> NOT NULL": "named_struct()",
    "STRUCT<a: INT>": "named_struct('a', 1)",
    "STRUCT<a: VOID>": "named_struct('a', NULL)",
    "STRUCT<a: INT, b: VOID>": "named_struct('a', 1, 'b', NULL)",
    "STRUCT<a: STRUCT<>>": "named_struct('a', NULL)",
    "STRUCT<a: INT, b: STRUCT<>>": "named_struct('a', 1, 'b', NULL)",
    "STRUCT<a: STRUCT<b: STRUCT<>>>": "named_struct('a', NULL)",
    "STRUCT<a: ARRAY<STRUCT<>>>": "named_struct('a', array())",
    "ARRAY<STRUCT<>>": "array()",
    "ARRAY<ARRAY<STRUCT<>>>": "array()",
    "ARRAY<VOID>": "array()",
    "MAP<STRING, STRUCT<>>": "map()",
    "MAP<STRUCT<>, INT>": "map()",
    "MAP<STRING, VOID>": "map()",
    "STRUCT<a: INT NOT NULL, b: INT>": _S,
    "STRUCT<a: INT NOT NULL, b: INT> NOT NULL": _S,
    "STRUCT<a: STRUCT<x: INT NOT NULL>>": _N,
    "STRUCT<a: STRUCT<x: INT NOT NULL> NOT NULL>": _N,
    "STRUCT<a: STRUCT<x: INT> NOT NULL>": _N,
    "STRUCT<a: STRUCT<x: INT NOT NULL>> NOT NULL": _N,
    "STRUCT<a: STRUCT<x: INT NOT NULL> NOT NULL> NOT NULL": _N,
    "STRUCT<a: ARRAY<INT> NOT NULL>": "named_struct('a', array(1))",
    "STRUCT<a: ARRAY<STRUCT<x: INT>> NOT NULL>": "named_struct('a', array(named_struct('x', 1)))",
    "STRUCT<a: MAP<STRING, INT> NOT NULL>": "named_struct('a', map('k', 1))",
    "ARRAY<STRUCT<a: INT NOT NULL>>": "array(named_struct('a', 1))",
    "MAP<STRING, STRUCT<a: INT NOT NULL>>": "map('k', named_struct('a', 1))",
}
"""A value of each column, by what is declared of it."""


class Question(NamedTuple):
    """What happens to a table with a column of this declaration?"""

    column: str
    mapping: bool


class Answer(NamedTuple):
    """``accepted`` or the error class of CREATE TABLE, and of three INSERTs if there is a table.

    `without` leaves the column out, `null` sets it to NULL, `value` to a value of its type.
    """

    create: str
    without: str = ""
    null: str = ""
    value: str = ""


def all_questions() -> list[Question]:
    """Return every column, with and without column mapping."""
    return [Question(column, mapping) for column in SHAPES for mapping in (False, True)]


def ask(spark: SparkSession, folder: Path, questions: Iterable[Question]) -> dict[Question, Answer]:
    """Return the engine's answer to each question."""
    return {
        question: _answer(spark, f"delta.`{folder}/t{number}`", question)
        for number, question in enumerate(questions)
    }


def write_record(answers: Mapping[Question, Answer], path: Path = RECORD) -> None:
    """Write a row per question, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*Question._fields, *Answer._fields])
        rows.writerows(
            [question.column, "yes" if question.mapping else "no", *answer]
            for question, answer in answers.items()
        )


def read_record(path: Path = RECORD) -> dict[Question, Answer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            Question(row["column"], row["mapping"] == "yes"): Answer(*(row[key] for key in Answer._fields))
            for row in csv.DictReader(file)
        }


def _answer(spark: SparkSession, name: str, question: Question) -> Answer:
    mapping = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')" if question.mapping else ""
    created = _outcome(spark, f"CREATE TABLE {name} (id INT, c {question.column}) USING delta {mapping}")
    if created != ACCEPTED:
        return Answer(created)
    return Answer(
        created,
        _outcome(spark, f"INSERT INTO {name} (id) VALUES (1)"),
        _outcome(spark, f"INSERT INTO {name} (id, c) VALUES (2, NULL)"),
        _outcome(spark, f"INSERT INTO {name} (id, c) SELECT 3, {SHAPES[question.column]}"),
    )


if __name__ == "__main__":
    record_all(ask, all_questions(), write_record)
