"""Ask Spark what it does with tables whose properties have values that Delta refuses, and record its answers.

``PYTHONPATH=tests python -m engine.record_values`` asks every question again and records the answers. Another
writer has left such a value in the log.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.record_logs import _outcome, listing_files
from engine.record_types import _versions
from engine.recording import record_all
from engine.state_questions import INVALID_VALUES
from schemalint.delta.live_effect import stopped_by
from schemalint.delta.properties import PROPERTIES
from support.logs import write_commit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("values.csv")
Question = tuple[str, str]
"""The key and the value of a property."""


class ValueAnswer(NamedTuple):
    """``accepted`` or the error class for each statement.

    ``mend`` is that of the statement that removes the property, and ``checkpoint`` says whether the write
    left a checkpoint, as it should.
    """

    read: str
    write: str
    alter: str
    mend: str
    checkpoint: str


def all_questions() -> list[Question]:
    """Return a value of every kind that Delta refuses, for each property."""
    questions = [(key, value) for key, row in PROPERTIES.items() for value in INVALID_VALUES[row.kind]]
    return [(key, value) for key, value in questions if stopped_by(key, value) is not None]


def ask(spark: SparkSession, folder: Path, questions: Iterable[Question]) -> dict[Question, ValueAnswer]:
    """Return the engine's answer for each question, with Delta's default for checksums.

    For the list of files in a checksum a commit reads the log as for a checkpoint, invalid values included.
    """
    with listing_files(spark):
        return {
            question: _answer(spark, folder / str(number), *question)
            for number, question in enumerate(questions)
        }


def write_record(answers: Mapping[Question, ValueAnswer], path: Path = RECORD) -> None:
    """Write a row per question, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["key", "value", *ValueAnswer._fields])
        rows.writerows([*question, *answer] for question, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[Question, ValueAnswer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            (row["key"], row["value"]): ValueAnswer(*(row[field] for field in ValueAnswer._fields))
            for row in csv.DictReader(file)
        }


def _answer(spark: SparkSession, table: Path, key: str, value: str) -> ValueAnswer:
    mended = table.with_name(f"{table.name}-mended")
    for folder in (table, mended):
        _write_log(folder, {"delta.checkpointInterval": "1", key: value})
    name = f"delta.`{table}`"
    read = _outcome(spark, f"SELECT * FROM {name}")
    write = _outcome(spark, f"INSERT INTO {name} VALUES (1)")
    checkpoint = any((table / "_delta_log").glob("*.checkpoint.parquet"))
    alter = _outcome(spark, f"ALTER TABLE {name} SET TBLPROPERTIES ('team' = 'sales')")
    mend = _outcome(spark, f"ALTER TABLE delta.`{mended}` UNSET TBLPROPERTIES ('{key}')")
    return ValueAnswer(read, write, alter, mend, "yes" if checkpoint else "no")


def _write_log(table: Path, properties: Mapping[str, str], version: int = 0) -> None:
    column = {"name": "a", "type": "integer", "nullable": True, "metadata": {}}
    metadata = {
        "id": "t-1",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": [column]}),
        "partitionColumns": [],
        "configuration": properties,
    }
    actions = ({"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": metadata})
    write_commit(table, version, "".join(json.dumps(action) + "\n" for action in actions))


if __name__ == "__main__":
    record_all(ask, all_questions(), write_record)
