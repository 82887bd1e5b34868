"""Ask the engine what it does with logs that no engine writes, and keep its answers.

``PYTHONPATH=tests python -m engine.ask_logs`` asks every question again and records the answers. The logs are
those of the rules' cases: every ``log`` in ``tests/rules/<rule>.yaml``.
"""

from __future__ import annotations

import csv
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.ask_types import _in_brackets, _versions
from support.rule_cases import load_cases
from support.short_logs import write_short_log

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("logs.csv")
ACCEPTED = "accepted"


class Answer(NamedTuple):
    """``accepted``, or the error class (of Java, where Delta has none), for each thing that was tried."""

    read: str
    write: str
    alter: str

    @property
    def refusals(self) -> set[str]:
        """The error classes."""
        return {one for one in self if one != ACCEPTED}


def all_questions() -> list[str]:
    """The cases with a log that is judged without a contract and without data files, as ``rule/case``.

    The checkpoints of the cases hold no more than this project reads, which is not enough for Spark.
    """
    return list(_logs())


def text_of(case: str) -> str:
    """The log of a case."""
    return _logs()[case]


def ask(spark: SparkSession, folder: Path, asked: Iterable[str]) -> dict[str, Answer]:
    """What the engine says to each log."""
    return {case: _answer(spark, folder / case, text_of(case)) for case in asked}


def write_record(answers: Mapping[str, Answer], path: Path = RECORD) -> None:
    """A row per case; the versions that answered stand above them."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case", *Answer._fields])
        rows.writerows([case, *answer] for case, answer in answers.items())


def read_record(path: Path = RECORD) -> dict[str, Answer]:
    """The recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {row["case"]: Answer(row["read"], row["write"], row["alter"]) for row in csv.DictReader(file)}


@cache
def _logs() -> Mapping[str, str]:
    logs = {case.id: case.texts["log"] for case in load_cases() if case.texts.keys() <= {"log", "catalog"}}
    return {case: log for case, log in logs.items() if "checkpoint:" not in log}


def _answer(spark: SparkSession, table: Path, text: str) -> Answer:
    write_short_log(text, table)
    name = f"delta.`{table}`"
    return Answer(
        _tried(spark, f"SELECT * FROM {name}"),
        _tried(spark, f"INSERT INTO {name} SELECT * FROM {name} WHERE false"),
        _tried(spark, f"ALTER TABLE {name} SET TBLPROPERTIES ('team' = 'sales')"),
    )


def _tried(spark: SparkSession, statement: str) -> str:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        spark.sql(statement).collect()
    except PySparkException as error:
        return str(error.getCondition() or _java_class(error._origin))  # noqa: SLF001 (no other way to it)
    except Py4JJavaError as error:
        message = _in_brackets(str(error.java_exception.getMessage()))
        named = message.replace("_", "").replace(".", "").isalnum() and message.isupper()
        return message if named else _java_class(error.java_exception)
    return ACCEPTED


def _java_class(error: object) -> str:
    name: str = error.getClass().getSimpleName()  # type: ignore[attr-defined]
    return name


def _record_all() -> None:
    from conftest import start_session  # noqa: PLC0415 (a module of pytest's, wanted only here)

    with tempfile.TemporaryDirectory() as folder:
        session = start_session(Path(folder, "warehouse"))
        write_record(ask(session, Path(folder), all_questions()))
        session.stop()


if __name__ == "__main__":
    _record_all()
