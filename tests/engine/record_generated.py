"""Ask Delta which expressions a generated column can have, and record its answers.

``PYTHONPATH=tests python -m engine.record_generated`` asks the questions of ``generated.yaml`` again, and one
call of each function of ``functions.csv``, and records the answers.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import yaml

from engine.record_functions import NOT_ASKED
from engine.record_functions import read_record as recorded_functions
from engine.record_logs import ACCEPTED, _outcome
from engine.record_types import _versions
from engine.recording import record_all
from schemalint.delta.functions import FunctionKind, kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("generated.csv")
OPERATORS: Final[list[str]] = yaml.load(RECORD.with_suffix(".yaml").read_text("utf-8"), yaml.CSafeLoader)
COLUMNS: Final = {
    "a": "int",
    "l": "bigint",
    "b": "tinyint",
    "sm": "smallint",
    "f": "float",
    "d": "double",
    "p": "decimal(10,2)",
    "s": "string",
    "ts": "timestamp",
    "tn": "timestamp_ntz",
    "dt": "date",
    "bo": "boolean",
    "x": "binary",
    "st": "struct<x: int, y: string>",
    "arr": "array<int>",
    "m": "map<string, int>",
    "vc": "varchar(5)",
    "ch": "char(5)",
}
TIMES: Final = ("dt + 1", "b + dt", "dt - dt", "ts - dt")
_SOURCES: Final = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
_BATCH: Final = 16


class Question(NamedTuple):
    """Can a generated column have an expression?

    Attributes:
        text: The expression.
        declared: The type of the column; empty for that of the expression.
    """

    text: str
    declared: str = ""


class Answer(NamedTuple):
    """The answers about an expression.

    Attributes:
        type: Its type as Spark prints it, or the error class of a query with it.
        create: ``accepted`` or the error class of a CREATE TABLE with the generated column.
    """

    type: str
    create: str


def all_questions() -> list[Question]:
    """Return a question for each operator and function of a single row, and for pairs of two types."""
    calls = (
        question.call
        for question in recorded_functions()
        if kinds()[question.function] is FunctionKind.ROW and question.function not in NOT_ASKED
    )
    simple = {name: type_ for name, type_ in COLUMNS.items() if "<" not in type_}
    return [
        *(Question(text) for text in dict.fromkeys([*OPERATORS, *calls])),
        *(Question(text, type_) for text in (*simple, *TIMES) for type_ in simple.values()),
    ]


def ask(spark: SparkSession, folder: Path, questions: Sequence[Question]) -> dict[Question, Answer]:
    """Return the engine's answers; what one table does not accept together is asked one by one."""
    spark.sql(f"CREATE TABLE delta.`{folder / 'source'}` ({_SOURCES}) USING delta")
    types = {text: _type_of(spark, folder, text) for text in dict.fromkeys(text for text, _ in questions)}
    columns = {
        question: (question.text, question.declared or types[question.text][0])
        for question in questions
        if types[question.text][1]
    }
    created: dict[Question, str] = {}
    for number, start in enumerate(range(0, len(columns), _BATCH)):
        batch = list(columns)[start : start + _BATCH]
        answer = _create(spark, folder / f"b{number}", [columns[question] for question in batch])
        created |= dict.fromkeys(batch, answer)
        if answer != ACCEPTED:
            created |= {
                question: _create(spark, folder / f"t{number}_{index}", [columns[question]])
                for index, question in enumerate(batch)
            }
    return {question: Answer(types[question.text][0], created.get(question, "")) for question in questions}


def write_record(answers: Mapping[Question, Answer], path: Path = RECORD) -> None:
    """Write a row per expression, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*Question._fields, *Answer._fields])
        rows.writerows([*question, *answer] for question, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[Question, Answer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            Question(row["text"], row["declared"]): Answer(row["type"], row["create"])
            for row in csv.DictReader(file)
        }


def _type_of(spark: SparkSession, folder: Path, text: str) -> tuple[str, bool]:
    """Return the type of an expression, or an error class; and which of both it is."""
    query = f"SELECT {text} AS value FROM delta.`{folder / 'source'}`"
    outcome = _outcome(spark, f"EXPLAIN {query}")
    if outcome != ACCEPTED:
        return outcome, False
    try:
        return spark.sql(query).schema["value"].dataType.simpleString(), True
    except Exception as error:  # noqa: BLE001 (PySpark does not know each type)
        return type(error).__name__, False


def _create(spark: SparkSession, path: Path, columns: Iterable[tuple[str, str]]) -> str:
    generated = ", ".join(
        f"g{number} {type_} GENERATED ALWAYS AS ({text})" for number, (text, type_) in enumerate(columns)
    )
    return _outcome(spark, f"CREATE TABLE delta.`{path}` ({_SOURCES}, {generated}) USING delta")


if __name__ == "__main__":
    record_all(ask, all_questions(), write_record)
