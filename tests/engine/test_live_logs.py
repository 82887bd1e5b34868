"""The findings on a log agree with what Spark does with it, for every recorded log."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED, Answer, _outcome, all_questions, ask, log_text, read_record
from support.judging import judge_table
from support.recorded import check_each
from support.rule_judging import built_in
from support.short_logs import logged_table, write_short_log

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
RULES = tuple(built_in().values())
SAMPLE = 4

_NO_CLASS = "the error depends on the part of the expression, so the finding names none"

# The cases in which no finding names Spark's error, with the reason.
DISAGREEMENTS = {
    "default-not-constant/live-of-rows": _NO_CLASS,
    "expression-not-computable/live-query": _NO_CLASS,
    "expression-not-computable/live-rand": _NO_CLASS,
    "log-inconsistent/checksum-with-another-schema": (
        "Spark refuses only the first read: later reads use the state that it has rebuilt"
    ),
    "not-a-condition/live-text-that-rows-may-miss": "whether Spark fails depends on the row: here it does",
    "null-forbidden-later/tightened": "whether Spark fails depends on what the files hold: here a null",
    "unrecorded-type-change/renamed-and-changed": "whether Spark fails depends on the two types",
}


# The rows that the engine was given have every struct; these rules are about rows that leave one out.
OF_OTHER_ROWS = frozenset({"NC024"})

GONE = "metadata-unusable/clustered-by-a-column-that-is-gone"
# Findings about statements that are not asked for each log; a test below asks them.
OF_OTHER_STATEMENTS = {GONE: {"NoSuchElementException"}}


def test_findings_name_the_error_classes_that_the_engine_gave(tmp_path: Path) -> None:
    """At least one finding names Spark's error, and no finding names an error that Spark does not give."""
    folders = {case: tmp_path / str(number) for number, case in enumerate(RECORD)}
    check_each(lambda case: _check_findings(case, folders[case]), RECORD)


def _check_findings(case: str, tmp_path: Path) -> None:
    answer = RECORD[case]
    table = logged_table(log_text(case), tmp_path)
    findings = judge_table(table, RULES)
    about_rows = [finding for finding in findings if finding.code not in OF_OTHER_ROWS]
    reported = {finding.delta_error for finding in about_rows if finding.delta_error}
    reported -= OF_OTHER_STATEMENTS.get(case, set())
    agrees = bool(answer.refusals & reported) == bool(answer.refusals)
    assert agrees != (case in DISAGREEMENTS)
    assert reported <= answer.refusals


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


def test_engine_accepts_some_invalid_logs() -> None:
    """Only schemalint reports these: Spark gives no error."""
    assert RECORD["unrecorded-type-change/hand-edited"] == Answer(ACCEPTED, ACCEPTED, ACCEPTED)
    assert RECORD["type-changes-misplaced/across-a-struct"] == Answer(ACCEPTED, ACCEPTED, ACCEPTED)


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask again for a sample of the logs, chosen by ``SCHEMALINT_SEED``."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {case: RECORD[case] for case in sample}


@pytest.mark.spark
def test_spark_cannot_read_what_it_writes_into_an_identity_column_of_another_type(
    spark: SparkSession, tmp_path: Path
) -> None:
    answers = {}
    for case in ("live-integer", "live-string", "live-and-right"):
        write_short_log(log_text(f"identity-column-change/{case}"), tmp_path / case)
        name = f"delta.`{tmp_path / case}`"
        spark.sql(f"INSERT INTO {name} (a) VALUES (1)").collect()
        answers[case] = _outcome(spark, f"SELECT * FROM {name}")
    mismatch = "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH"
    assert answers == {"live-integer": mismatch, "live-string": mismatch, "live-and-right": ACCEPTED}


@pytest.mark.spark
def test_a_clustering_column_that_is_gone_stops_what_alters_columns(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_short_log(log_text(GONE), tmp_path / "t")
    name = f"delta.`{tmp_path / 't'}`"
    refused = [f"ALTER TABLE {name} ADD COLUMNS (z INT)", f"ALTER TABLE {name} CLUSTER BY NONE"]
    assert {_outcome(spark, statement) for statement in refused} == {"NoSuchElementException"}


@pytest.mark.spark
@pytest.mark.parametrize(
    "case", ["log-inconsistent/varchar-as-a-type", "metadata-unusable/row-tracking-without-names"]
)
def test_an_alter_table_mends_what_only_writes_cannot_use(
    spark: SparkSession, tmp_path: Path, case: str
) -> None:
    """So the help of the finding says."""
    write_short_log(log_text(case), tmp_path / "t")
    name = f"delta.`{tmp_path / 't'}`"
    statements = (
        f"INSERT INTO {name} SELECT * FROM {name} WHERE false",
        f"ALTER TABLE {name} SET TBLPROPERTIES ('team' = 'sales')",
        f"INSERT INTO {name} SELECT * FROM {name} WHERE false",
    )
    first, *others = [_outcome(spark, statement) for statement in statements]
    assert first == RECORD[case].write != ACCEPTED
    assert others == [ACCEPTED, ACCEPTED]
