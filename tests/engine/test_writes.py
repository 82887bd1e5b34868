"""What schemalint says of a write is what the log shows after it: three releases of Delta, and delta-rs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from engine.answers import record_path
from engine.record_arrow_writes import RECORD as ARROW_RECORD
from engine.record_arrow_writes import ask as ask_arrow
from engine.record_arrow_writes import questions as arrow_questions
from engine.record_writes import ask, read_record
from engine.write_agreement import NOT_PARSED, arrow_effect_on, disagreement, effect_on, other_class
from engine.write_questions import questions
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

VERSIONS = ("3.3.2", "4.0.1", "4.4.0")


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_said_of_a_write_is_what_the_log_showed(version: str) -> None:
    answers = read_record(record_path("writes", version))
    differing, said = {}, Counter[str]()
    for question in questions():
        answer = answers.get(question.name)
        if answer is None or answer.error.startswith(NOT_PARSED):
            continue
        effect = effect_on(version, question)
        said["unknown" if effect.unknown else "refused" if effect.error else "written"] += 1
        if how := disagreement(effect, answer, exists=bool(question.table.columns)):
            differing[question.name] = how
    assert differing == {}
    assert said["refused"] > 30
    assert said["written"] > 30
    assert said["unknown"] <= 33


@pytest.mark.parametrize("version", VERSIONS)
def test_the_error_class_is_the_one_that_the_engine_raised(version: str) -> None:
    answers = read_record(record_path("writes", version))
    differing = {}
    for question in questions():
        answer = answers.get(question.name)
        if answer is None or answer.error.startswith(NOT_PARSED):
            continue
        if classes := other_class(effect_on(version, question), answer):
            differing[question.name] = classes
    mismatch = "DELTA_METADATA_MISMATCH" if version == "4.4.0" else "_LEGACY_ERROR_TEMP_DELTA_0007"
    # Of a statement, EXPLAIN tells the class, and nothing else is said (`check_sql`).
    unresolved = (mismatch, "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    by_explain = {
        "another column: INSERT columns": unresolved,
        "another column between: INSERT columns": unresolved,
    }
    if version != "4.4.0":
        by_explain["a name in two cases: INSERT BY NAME"] = (
            "DELTA_DUPLICATE_COLUMNS_FOUND", "INTERNAL_ERROR",
        )  # fmt: skip
    if version == "4.0.1":
        differing.pop("a required field missing: stream mergeSchema")  # each row is looked at, not the schema
    assert differing == by_explain


def test_what_is_said_of_a_write_of_delta_rs_is_what_the_log_showed() -> None:
    answers = read_record(ARROW_RECORD)
    differing, known = {}, 0
    for name, table, data, way in arrow_questions():
        if table.columns:
            effect = arrow_effect_on(table, data, way)
            known += effect.unknown is None
            if how := disagreement(effect, answers[name]):
                differing[name] = how
    assert differing == {}
    assert known > 500


def test_delta_rs_still_answers_as_recorded(tmp_path: Path) -> None:
    answers = read_record(ARROW_RECORD)
    sample = some_of_each(
        arrow_questions(), lambda question: (question[3], bool(answers[question[0]].error)), 3
    )
    for number, question in enumerate(sample):
        assert ask_arrow(tmp_path / f"a{number}", *question)[:2] == answers[question[0]][:2], question[0]


@pytest.mark.spark
@pytest.mark.each_time
def test_the_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    answers = read_record(record_path("writes"))
    sample = some_of_each(
        (each for each in questions() if each.way.method != "stream" and each.name in answers),
        lambda question: (question.way.method in ("MERGE", "INSERT"), bool(answers[question.name].error)),
        2,
    )
    for number, question in enumerate(sample):
        answer = ask(spark, tmp_path, number, question)
        recorded = answers[question.name]
        assert (bool(answer.error), answer.columns) == (bool(recorded.error), recorded.columns), question.name


@pytest.mark.spark
def test_the_engine_still_answers_of_streams_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    answers = read_record(record_path("writes"))
    streams = [each for each in questions() if each.way.method == "stream" and each.name in answers]
    sample = some_of_each(streams, lambda question: bool(answers[question.name].error), 3)
    for number, question in enumerate(sample):
        assert ask(spark, tmp_path, number, question) == answers[question.name], question.name
