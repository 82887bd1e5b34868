"""Ask Spark which defaults fit which types, and record its answers.

``PYTHONPATH=tests python -m engine.record_defaults`` asks every question again and records the answers.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from engine.record_logs import ACCEPTED, _outcome
from engine.record_types import _versions
from engine.recording import record_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

TYPES = (
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal(4,2)", "decimal(10,0)",
    "decimal(38,18)", "boolean", "string", "varchar(3)", "char(3)", "binary", "date", "timestamp",
    "timestamp_ntz", "variant",
    "array<int>", "map<string, int>", "struct<a: int>", "void",
)  # fmt: skip

DEFAULTS = (
    "0", "1", "-1", "+1", "- 1", "(1)", "--1", "127", "128", "-128", "-129", "300", "32768", "40000",
    "2147483647", "2147483648", "3000000000", "9223372036854775808", "-9223372036854775808",
    "99999999999999999999", "1Y", "200Y", "1S", "1L", "1.0", "1.5", "-1.5", "2.9", "12.34", "12.345",
    "99.995", "123.45", "100", "-100", "1.", ".5", "1e2", "1e40", "1.5D", "1D", "1.5F", "1.5BD",
    "1e-3", "NaN", "true", "FALSE", "'x'", "''", "'1'", "' 1 '", "'1.5'", "'300'", "'1e2'", "'true'",
    "'t'", "'yes'", "'0'",
    "'abc'", "'abcd'", "'abc  '", "'ab' 'cd'", '"x"', '"abcdef"', "r'a'", "'größer'", "('x')", "'NaN'",
    "'Infinity'",
    "'2020-01-02'", "'2020-1-2'", "'2020-13-01'", "'2020'", "'2020-01-02 03:04:05'", "'2020-01-02T03:04:05Z'",
    "'not a time'", "'now'", "'today'", "'epoch'", "'12:30'",
    "DATE'2020-01-02'", "DATE '2020-01-02'", "DATE'nope'", "TIMESTAMP'2020-01-02 03:04:05'",
    "TIMESTAMP_NTZ'2020-01-02 03:04:05'", "TIMESTAMP_LTZ'2020-01-02 03:04:05'", "X'1F'", "INTERVAL '1' DAY",
    "CAST('x' AS INT)", "CAST('5' AS INT)", "CAST(300 AS TINYINT)", "CAST(5 AS INT)", "CAST('x' AS STRING)",
    "CAST(NULL AS INT)", "CAST(1.5 AS DOUBLE)", "int('5')", "1 + 1", "'a' || 'b'", "200 + 100",
    "array()", "array(1)", "array('x')", "array(1.5)", "map()", "map('a', 1)", "map('a', 'x')",
    "named_struct('a', 1)", "named_struct('b', 1)", "named_struct('a', 'x')", "struct(1)",
    "parse_json('{}')", "parse_json('{')", "current_user()", "current_date()", "current_timestamp()", "now()",
    "NULL", "CAST(NULL AS STRING)", "CAST(NULL AS BOOLEAN)", "CAST(NULL AS BINARY)", "CAST(NULL AS DATE)",
    "CAST(NULL AS TIMESTAMP)", "CAST(NULL AS ARRAY<INT>)", "1 = 1", "NOT true", "CAST(1 AS BOOLEAN)",
    "1 IN (1, 2)", "length('abc')", "coalesce(1, 2)", "year(current_date())", "unix_timestamp()",
    "abs(-1.5)", "CAST(1.5 AS DECIMAL(4,2))", "sqrt(4)", "1 + 1.5D", "7 / 2", "upper('a')", "md5('a')",
    "CAST('a' AS BINARY)", "unhex('1F')", "CURRENT_DATE", "to_date('2020-01-02')",
    "CAST('2020-01-02' AS DATE)", "date_add(current_date(), 1)", "CURRENT_TIMESTAMP",
    "CAST('2020-01-02 03:04:05' AS TIMESTAMP)", "date_trunc('DAY', now())", "localtimestamp()",
    "CAST('2020-01-02' AS TIMESTAMP_NTZ)",
)  # fmt: skip

RECORD = Path(__file__).with_name("defaults.csv")


class Question(NamedTuple):
    """Can a column of the type have the default?"""

    type: str
    default: str


def all_questions() -> list[Question]:
    """Return every pair of a type and a default."""
    return [Question(type_, default) for type_ in TYPES for default in DEFAULTS]


def ask(spark: SparkSession, folder: Path, questions: Iterable[Question]) -> dict[Question, bool]:
    """Return for each question whether CREATE TABLE accepts the default."""
    return {
        question: refusal(spark, f"{folder}/c{number}", question) == ACCEPTED
        for number, question in enumerate(questions)
    }


def refusal(spark: SparkSession, path: str, question: Question) -> str:
    """Create a table with the default; return ``accepted`` or the error class."""
    return _outcome(
        spark,
        f"CREATE TABLE delta.`{path}` (id INT, c {question.type} DEFAULT {question.default}) USING delta "
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported')",
    )


def write_record(answers: Mapping[Question, bool], path: Path = RECORD) -> None:
    """Write a row per question, below the versions of Delta and PySpark that answered."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {_versions()}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*Question._fields, "create"])
        rows.writerows(
            [*question, ACCEPTED if accepted else "refused"] for question, accepted in answers.items()
        )


def read_record(path: Path = RECORD) -> dict[Question, bool]:
    """Read the recorded answers."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)  # the versions
        return {
            Question(row["type"], row["default"]): row["create"] == ACCEPTED for row in csv.DictReader(file)
        }


if __name__ == "__main__":
    record_all(ask, all_questions(), write_record)
