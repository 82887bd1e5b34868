"""A check agrees with Spark on every pair of types at every nested position."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.pairs import nested_contracts
from engine.record_nested import POSITIONS, Question, all_questions, ask, read_record
from engine.record_types import Answer
from schemalint.model.finding import Severity
from support.judging import judge_pair
from support.rule_judging import built_in
from support.sampling import left_to

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
SAMPLE = 10


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.parametrize(
    "position", left_to(pytest.mark.wide, {each: each for each in POSITIONS}, except_for=["x", "element.x"])
)
def test_check_agrees_with_the_recorded_answers(position: str) -> None:
    """Expect one error with Spark's error class if Spark refuses the change, else no error."""
    answers = {question: answer for question, answer in RECORD.items() if question.position == position}
    assert {question: _verdict(question) for question in answers} == answers


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask a sample of the questions again, chosen by ``SCHEMALINT_SEED``."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {question: RECORD[question] for question in sample}


def _verdict(question: Question) -> Answer:
    """Return the check's verdict; it must report one error at most."""
    findings = judge_pair(*nested_contracts(question), tuple(built_in().values()))
    errors = [finding for finding in findings if finding.severity == Severity.ERROR]
    assert len(errors) <= 1, (question, errors)
    return Answer(not errors, errors[0].delta_error if errors else None)
