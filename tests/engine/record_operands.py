"""Ask Spark which operands its operators take, and record its answers.

``PYTHONPATH=tests python -m engine.record_operands`` asks every question again and records the answers.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.record_logs import ACCEPTED
from engine.record_types import _versions
from engine.recording import record_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

RECORD = Path(__file__).with_name("operands.csv")

COLUMNS: Final = {
    "tiny": "tinyint",
    "i": "int",
    "big": "bigint",
    "p": "decimal(10,2)",
    "r": "float",
    "f": "double",
    "s": "string",
    "b": "boolean",
    "d": "date",
    "t": "timestamp",
    "n": "timestamp_ntz",
    "bin": "binary",
    "st": "struct<x: int>",
    "l": "array<int>",
    "m": "map<string, int>",
}
LITERALS: Final = ("1", "1.5", "'1'", "'x'", "true", "date'2026-01-02'", "interval 1 day")
OPERANDS: Final = (*COLUMNS, *LITERALS)

OPERATORS: Final = {
    **{sign: f"({{}} {sign} {{}}) IS NOT NULL" for sign in ("+", "-", "*", "/", "%", "div", "&", "|", "^")},
    **{
        word: f"{{}} {word} {{}}"
        for word in ("=", "<>", "<", ">=", "<=>", "AND", "OR", "LIKE", "RLIKE", "ILIKE")
    },
    "IN": "{} IN (NULL, {})",
    "BETWEEN": "{0} BETWEEN {1} AND {0}",
    "coalesce": "coalesce({}, {}) IS NOT NULL",
}
OF_ONE: Final = {
    "-": "-{} IS NOT NULL",
    "~": "~{} IS NOT NULL",
    "NOT": "NOT {}",
    "IS TRUE": "{} IS TRUE",
}


class Question(NamedTuple):
    """What does Spark say of an operator between two operands, or of one that has only a left operand?"""

    operator: str
    left: str
    right: str = ""

    def condition(self) -> str:
        """Return a condition with the operator."""
        texts = OPERATORS if self.right else OF_ONE
        return texts[self.operator].format(self.left, self.right)


def all_questions() -> list[Question]:
    """Return each operator between each two operands, of which one is a column, and before each column."""
    pairs = [
        Question(operator, left, right)
        for operator in OPERATORS
        for left in OPERANDS
        for right in OPERANDS
        if left in COLUMNS or right in COLUMNS
    ]
    return [*pairs, *(Question(operator, column) for operator in OF_ONE for column in COLUMNS)]


def ask(spark: SparkSession, folder: Path, questions: Iterable[Question]) -> dict[Question, str]:
    """Return ``accepted`` or the error class of a query with each condition, analyzed and optimized."""
    schema = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    spark.createDataFrame([], schema).write.parquet(str(folder / "operands"))
    spark.read.schema(schema).parquet(str(folder / "operands")).createOrReplaceTempView("operands")
    return {question: _answer(spark, question.condition()) for question in questions}


def _answer(spark: SparkSession, condition: str) -> str:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    try:
        rows = spark.sql(f"SELECT * FROM operands WHERE {condition}")
        rows._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 (no other way)
    except PySparkException as error:
        return str(error.getCondition())
    return ACCEPTED


def write_record(answers: Mapping[Question, str], path: Path = RECORD) -> None:
    """Write a row per operator and left operand, with a column per right one."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rights = ("", *OPERANDS)
        rows.writerow(["operator", "left", *rights])
        for operator, left in dict.fromkeys((question.operator, question.left) for question in answers):
            rows.writerow(
                [operator, left, *(answers.get(Question(operator, left, right), "") for right in rights)]
            )


def read_record(path: Path = RECORD) -> dict[Question, str]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            Question(row["operator"], row["left"], right): row[right]
            for row in csv.DictReader(file)
            for right in ("", *OPERANDS)
            if row[right]
        }


if __name__ == "__main__":
    record_all(ask, all_questions(), write_record)
