"""Ask Spark which type changes it carries out inside structs, arrays and maps, and record its answers.

``PYTHONPATH=tests python -m engine.record_nested`` asks every question again and records the answers.

The types are a selection of those of `record_types`, one for each edge case, because every ordered pair of
different types is asked at every position.
"""

from __future__ import annotations

import csv
import itertools
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.answers import new_record, record_path
from engine.record_types import (
    NO_UP_CAST,
    Answer,
    Config,
    _answer,
    _cell,
    _makes_no_column,
    _refusal,
    _versions,
)
from schemalint.delta.datatype import type_at
from schemalint.delta.path import Part
from schemalint.delta.path import Path as FieldPath
from schemalint.delta.schema_json import parse_schema
from schemalint.delta.type_text import parse_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from pyspark.sql import SparkSession

    from schemalint.delta.datatype import Struct

TYPES = (
    "boolean", "byte", "short", "int", "long", "float", "double", "string", "binary",
    "date", "timestamp", "timestamp_ntz",
    "decimal(5,0)", "decimal(10,2)", "decimal(12,4)", "decimal(38,18)",
    "varchar(5)", "varchar(10)", "char(5)", "variant", "void",
)  # fmt: skip

# By the leaf's path below the column, as in ALTER COLUMN and fieldPath: the column's type around the leaf.
POSITIONS = {
    "x": "struct<x: {}>",
    "element": "array<{}>",
    "key": "map<{}, int>",
    "value": "map<int, {}>",
    "t.x": "struct<t: struct<x: {}>>",
    "t.element": "struct<t: array<{}>>",
    "element.x": "array<struct<x: {}>>",
    "element.element": "array<array<{}>>",
    "key.x": "map<struct<x: {}>, int>",
    "value.x": "map<int, struct<x: {}>>",
    "value.element": "map<int, array<{}>>",
}

CONFIGS = {
    "widening": Config(widening=True, ntz=True),
    "plain": Config(widening=False, ntz=True),
    "widening without ntz": Config(widening=True, ntz=False),
}
RECORD = record_path("nested")


class Question(NamedTuple):
    """Can the leaf at that position change from source to target in a table of that configuration?"""

    position: str
    source: str
    target: str
    widening: bool
    ntz: bool


def all_questions() -> list[Question]:
    """Return every question; those without feature timestampNtz are only about changes to timestamp_ntz."""
    return [
        Question(position, source, target, *config)
        for position in POSITIONS
        for source, target in itertools.permutations(TYPES, 2)
        for config in CONFIGS.values()
        if config.ntz or target == "timestamp_ntz"
    ]


def ask(spark: SparkSession, folder: Path, questions: Iterable[Question]) -> dict[Question, Answer]:
    """Return the answers, from a table per source type and configuration with a column per question.

    Questions about a type of which this engine makes no column have no answer. A pair that Spark refuses in
    every table (`NO_UP_CAST`) is asked in one configuration. A change is accepted if ALTER COLUMN makes it,
    or else REPLACE COLUMNS.
    """
    all_asked = tuple(questions)
    answers: dict[Question, Answer] = {}
    always_refused: set[tuple[str, str, str]] = set()
    stored = [
        source
        for number, source in enumerate(TYPES)
        if not _makes_no_column(spark, folder / f"trial{number}", source)
    ]
    for number, (source, config) in enumerate(itertools.product(stored, CONFIGS.values())):
        table_findings = [
            question for question in all_asked if question.source == source and question[3:] == config
        ]
        to_ask = [question for question in table_findings if question[:3] not in always_refused]
        answers |= dict.fromkeys(table_findings, NO_UP_CAST)
        answers |= dict(_ask_table(spark, folder / f"t{number}", config, to_ask))
        always_refused |= {question[:3] for question in to_ask if answers[question] == NO_UP_CAST}
    return {question: answers[question] for question in all_asked if question in answers}


def field_path(position: str) -> FieldPath:
    """Return the position as a path below the column."""
    named = {part.value: part for part in Part}
    return tuple(named.get(step, step) for step in position.split("."))


def write_record(answers: Mapping[Question, Answer], path: Path = RECORD) -> None:
    """Write a row per position and pair, a column per configuration, below the versions that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["position", "source", "target", *CONFIGS])
        for key in dict.fromkeys(question[:3] for question in answers):
            row = (Question(*key, *config) for config in CONFIGS.values())
            cells = (_cell(answers[question]) if question in answers else "" for question in row)
            rows.writerow([*key, *cells])


def read_record(path: Path = RECORD) -> dict[Question, Answer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            Question(row["position"], row["source"], row["target"], *config): _answer(cell)
            for row in csv.DictReader(file)
            for name, config in CONFIGS.items()
            if (cell := row[name])
        }


def _ask_table(
    spark: SparkSession, path: Path, config: Config, questions: list[Question]
) -> Iterator[tuple[Question, Answer]]:
    if not questions:
        return
    _create(spark, path, config, questions)
    errors = [
        _refusal(
            spark,
            f"ALTER TABLE delta.`{path}` ALTER COLUMN c{index}.{question.position} TYPE {question.target}",
        )
        for index, question in enumerate(questions)
    ]
    schema = _logged_schema(path)
    for index, question in enumerate(questions):
        changed = errors[index] is None and _is_changed(schema, index, question)
        if errors[index] or changed:
            yield question, Answer(changed, errors[index])
        else:
            yield question, _ask_replace(spark, path.with_name(f"{path.name}-{index}"), config, question)


def _ask_replace(spark: SparkSession, path: Path, config: Config, question: Question) -> Answer:
    """Try REPLACE COLUMNS, if ALTER COLUMN reports success and changes nothing.

    For a pair that ALTER COLUMN refuses, REPLACE COLUMNS is no alternative: at positions x and element it
    refuses all of them (DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP, measured on Delta 4.4.0).
    """
    _create(spark, path, config, [question])
    type_ = POSITIONS[question.position].format(question.target)
    error = _refusal(spark, f"ALTER TABLE delta.`{path}` REPLACE COLUMNS (other int, c0 {type_})")
    return Answer(error is None and _is_changed(_logged_schema(path), 0, question))


def _create(spark: SparkSession, path: Path, config: Config, questions: list[Question]) -> None:
    columns = [
        f"c{index} {POSITIONS[question.position].format(question.source)}"
        for index, question in enumerate(questions)
    ]
    properties = [
        "'delta.checkpointInterval'='10000'",  # a checkpoint takes longer than ten changes
        *(["'delta.enableTypeWidening'='true'"] if config.widening else []),
        *(["'delta.feature.timestampNtz'='supported'"] if config.ntz else []),
    ]
    # Another column, because a table cannot consist of void columns alone.
    spark.sql(
        f"CREATE TABLE delta.`{path}` (other int, {', '.join(columns)}) USING delta "
        f"TBLPROPERTIES ({', '.join(properties)})"
    )


def _is_changed(schema: Struct, index: int, question: Question) -> bool:
    """Whether the schema has the target at the question's position."""
    return type_at(schema, (f"c{index}", *field_path(question.position))) == parse_type(question.target)


def _logged_schema(path: Path) -> Struct:
    """Return the last schema in the log."""
    actions = [
        json.loads(line)
        for commit in sorted((path / "_delta_log").glob("*.json"))
        for line in commit.read_text(encoding="utf-8").splitlines()
    ]
    return parse_schema(
        [action["metaData"] for action in actions if "metaData" in action][-1]["schemaString"]
    )


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a pytest module, needed only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(ask(session, Path(folder), all_questions()), new_record("nested"))
        session.stop()


if __name__ == "__main__":
    _record_all()
