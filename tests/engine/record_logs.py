"""Ask Spark what it does with damaged or hand-written logs, and record its answers.

``PYTHONPATH=tests python -m engine.record_logs`` asks the installed Delta every question again, and records
its answers. The logs are the ``log`` entries of the rules' cases in ``tests/rules/<rule>.yaml``.
"""

from __future__ import annotations

import csv
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import yaml

from engine.answers import new_record, record_path
from engine.record_types import _error_class, _versions
from engine.recording import record_all
from support.rule_cases import load_cases
from support.short_files import write_data_files
from support.short_logs import write_short_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = record_path("logs")
ACCEPTED = "accepted"
LIST_FILES = "spark.databricks.delta.allFilesInCrc.enabled"

_FILLED_PER_ROW = (
    "CURRENT_DEFAULT",
    "delta.constraints.",
    "delta.generationExpression",
    "delta.identity.",
    "delta.invariants",
)


class Answer(NamedTuple):
    """``accepted`` or the error class (the Java class if Delta has none) for each statement."""

    read: str
    write: str
    alter: str

    @property
    def refusals(self) -> set[str]:
        """The error classes of the refused statements."""
        return {answer for answer in self if answer != ACCEPTED}


def all_questions() -> list[str]:
    """Return the cases with a log but without a contract and data files, as ``rule/case``.

    Cases with checkpoints are left out: these hold only what schemalint reads, too little for Spark.
    """
    return list(_logs())


def log_text(case: str) -> str:
    """Return the log of a case, as its YAML text."""
    return _logs()[case]


def ask(spark: SparkSession, folder: Path, cases: Iterable[str]) -> dict[str, Answer]:
    """Return the engine's answer for each case."""
    with listing_files(spark):
        return {case: _answer(spark, folder / case, log_text(case)) for case in cases}


@contextmanager
def listing_files(spark: SparkSession) -> Iterator[None]:
    """List all files in checksums, as Delta does by default, and the tests' sessions do not."""
    before = spark.conf.get(LIST_FILES)
    spark.conf.set(LIST_FILES, "true")
    try:
        yield
    finally:
        spark.conf.set(LIST_FILES, before)


def write_record(answers: Mapping[str, Answer], path: Path) -> None:
    """Write a row per case, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case", *Answer._fields])
        rows.writerows([case, *answer] for case, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[str, Answer]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {row["case"]: Answer(row["read"], row["write"], row["alter"]) for row in csv.DictReader(file)}


@cache
def _logs() -> Mapping[str, str]:
    logs = {case.id: case.texts["log"] for case in load_cases() if case.texts.keys() <= {"log", "catalog"}}
    return {case: log for case, log in logs.items() if "checkpoint:" not in log}


def _answer(spark: SparkSession, table: Path, text: str) -> Answer:
    write_short_log(text, table)
    write_data_files(table)
    name = f"delta.`{table}`"
    return Answer(
        _outcome(spark, f"SELECT * FROM {name}"),
        _outcome(spark, _insert(text, name)),
        _outcome(spark, f"ALTER TABLE {name} SET TBLPROPERTIES ('team' = 'sales')"),
    )


def _insert(text: str, name: str) -> str:
    """Return a write: without rows, unless the table has what fails only with one."""
    if not any(part in text for part in _FILLED_PER_ROW):
        return f"INSERT INTO {name} SELECT * FROM {name} WHERE false"
    *_earlier, metadata = (
        entry["metaData"] for entry in yaml.load(text, yaml.CSafeLoader) if "metaData" in entry
    )
    return f"INSERT INTO {name} ({metadata['fields'][0]['name']}) VALUES (1)"


def _outcome(spark: SparkSession, statement: str) -> str:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        spark.sql(statement).collect()
    except PySparkException as error:
        # PySpark 3.5 has the older name.
        condition = getattr(error, "getCondition", None) or error.getErrorClass
        return str(condition() or _java_class(error._origin))  # noqa: SLF001 (no other way to it)
    except Py4JJavaError as error:
        message = _error_class(str(error.java_exception.getMessage()))
        is_error_class = message.replace("_", "").replace(".", "").isalnum() and message.isupper()
        return message if is_error_class else _java_class(error.java_exception)
    return ACCEPTED


def _java_class(error: object) -> str:
    name: str = error.getClass().getSimpleName()  # type: ignore[attr-defined]
    return name


if __name__ == "__main__":
    record_all(ask, all_questions(), partial(write_record, path=new_record("logs")))
