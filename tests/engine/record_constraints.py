"""Ask Spark what it does with constraints that are no conditions, and record its answers.

``PYTHONPATH=tests python -m engine.record_constraints`` asks the questions of ``constraints.yaml`` again, and
records the answers.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import yaml

from engine.record_logs import ACCEPTED, _outcome
from engine.record_types import _versions
from engine.recording import record_all
from support.short_logs import write_short_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("constraints.csv")
QUESTIONS: Final[dict[str, list[str]]] = yaml.load(
    RECORD.with_suffix(".yaml").read_text("utf-8"), yaml.CSafeLoader
)
REFUSED = "refused"

FIELDS: Final = """
        - {name: a, type: integer}
        - {name: s, type: string}
        - {name: b, type: boolean}
        - {name: d, type: date}
        - {name: t, type: timestamp}
        - {name: p, type: "decimal(10,2)"}
        - {name: f, type: double}
        - {name: Product.Id, type: integer}
        - {name: st, type: {type: struct, fields: [{name: x, type: integer}]}}
        - {name: l, type: {type: array, elementType: integer}}"""
ROW: Final = (
    "1, 'x', true, date'2026-01-02', timestamp'2026-01-02 03:04:05', 1.5, 1.5D, 1, struct(1), array(1)"
)


class Answer(NamedTuple):
    """The answers about a text; empty where none was asked for.

    Attributes:
        parse: Whether Spark's parser takes the text for one expression: ``accepted`` or ``refused``.
        add: ``accepted`` or the error class of ADD CONSTRAINT, on a table without rows.
        insert: That of an INSERT into a table that has the constraint.
    """

    parse: str
    add: str = ""
    insert: str = ""


def all_questions() -> list[str]:
    """Return the text of each constraint."""
    return [text for texts in QUESTIONS.values() for text in texts]


def ask(spark: SparkSession, folder: Path, questions: Iterable[str]) -> dict[str, Answer]:
    """Return the engine's answer for each text."""
    of_table = set(QUESTIONS["table"])
    write_short_log(log_with(None), folder / "table")
    answers = {}
    for number, text in enumerate(questions):
        parsed = Answer(_parsed(spark, text))
        answers[text] = _of_table(spark, folder, str(number), text) if text in of_table else parsed
    return answers


def write_record(answers: Mapping[str, Answer], path: Path = RECORD) -> None:
    """Write a row per text, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["text", *Answer._fields])
        rows.writerows([text, *answer] for text, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[str, Answer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            row["text"]: Answer(*(row[field] for field in Answer._fields)) for row in csv.DictReader(file)
        }


def log_with(text: str | None) -> str:
    """Return the log of a table that has the constraint; without one for None."""
    constraint = "" if text is None else "delta.constraints.k: '" + text.replace("'", "''") + "'"
    return f"""
    - protocol: {{minReaderVersion: 1, minWriterVersion: 3}}
      metaData:
        fields:{FIELDS}
        configuration: {{{constraint}}}
    """


def _parsed(spark: SparkSession, text: str) -> str:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        spark._jsparkSession.sessionState().sqlParser().parseExpression(text)  # noqa: SLF001 (no other way)
    except (Py4JJavaError, PySparkException):
        return REFUSED
    return ACCEPTED


def _of_table(spark: SparkSession, folder: Path, number: str, text: str) -> Answer:
    """Ask a table without rows, then one that has the constraint: the same, where it takes the constraint."""
    name = f"delta.`{folder / 'table'}`"
    added = _outcome(spark, f"ALTER TABLE {name} ADD CONSTRAINT k CHECK ({text})")
    if added == ACCEPTED:
        inserted = _outcome(spark, f"INSERT INTO {name} VALUES ({ROW})")
        spark.sql(f"ALTER TABLE {name} DROP CONSTRAINT k")
        if inserted == ACCEPTED:
            spark.sql(f"DELETE FROM {name}")
        return Answer(_parsed(spark, text), added, inserted)
    write_short_log(log_with(text), folder / number)
    return Answer(
        _parsed(spark, text), added, _outcome(spark, f"INSERT INTO delta.`{folder / number}` VALUES ({ROW})")
    )


if __name__ == "__main__":
    record_all(ask, all_questions(), write_record)
