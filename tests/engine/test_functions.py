"""NC020 and NC021 report exactly the functions whose call in a constraint fails every write."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from engine.record_functions import NOT_ASKED, Answer, Question, ask, read_record
from engine.record_logs import ACCEPTED
from schemalint.delta.datatype import Struct
from schemalint.delta.expressions import Expression, Place, unknown_functions, unusable_part
from schemalint.delta.functions import kinds
from support.recorded import check_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
ASKED = {question: answer for question, answer in RECORD.items() if question.call}
SAMPLE = 4

# Known differences, with the reasons: docs/disagreements.md.
COMPUTED_BUT_REFUSED = {"input_file_block_length", "input_file_block_start", "input_file_name"} | {
    "monotonically_increasing_id",
    "spark_partition_id",
}
REFUSED_AT_ONCE = {"PARSE_SYNTAX_ERROR", "UNSUPPORTED_TIME_TYPE", "AVRO_NOT_LOADED_SQL_FUNCTIONS_UNUSABLE"}


def test_every_function_is_recorded_or_has_a_reason() -> None:
    assert {question.function for question in RECORD} == set(kinds())
    assert {question.function for question in RECORD if not question.call} == set(NOT_ASKED)


def test_rule_reports_a_function_exactly_if_the_constraint_fails_statements() -> None:
    check_each(_check_function, ASKED)


def _check_function(question: Question) -> None:
    reported = unusable_part(Expression(Place.CONSTRAINT, question.constraint, "c"), Struct(())) is not None
    fails = ASKED[question] != Answer(ACCEPTED, ACCEPTED)
    assert not unknown_functions(question.constraint)
    assert (reported != fails) == (
        question.function in COMPUTED_BUT_REFUSED or ASKED[question].add in REFUSED_AT_ONCE
    )


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask a fixed sample of the questions again."""
    sample = random.Random(4).sample(list(ASKED), SAMPLE)  # noqa: S311 (no secret)
    assert ask(spark, tmp_path, sample) == {question: ASKED[question] for question in sample}
