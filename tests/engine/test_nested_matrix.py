"""Every pair of types at every nested position: a check says of the change what the engine says."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.ask_nested import POSITIONS, Question, all_questions, ask, read_record
from engine.ask_types import Answer
from engine.pairs import of_nested
from schemalint.lint.judge import judge_pair
from schemalint.model.finding import Severity
from support.rule_judging import built_in

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
SAMPLE = 40


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.parametrize("position", POSITIONS)
def test_check_agrees_with_what_the_engine_answered(position: str) -> None:
    """One error with the engine's class where it refuses, none where it carries the change out."""
    answers = {question: answer for question, answer in RECORD.items() if question.position == position}
    assert {question: _verdict(question) for question in answers} == answers


@pytest.mark.spark
def test_the_engine_still_answers_so(spark: SparkSession, tmp_path: Path) -> None:
    """A sample of the questions; ``SCHEMALINT_SEED`` chooses it."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {question: RECORD[question] for question in sample}


def _verdict(question: Question) -> Answer:
    """What the errors come to: none, or exactly one."""
    found = judge_pair(*of_nested(question), tuple(built_in().values()))
    errors = [one for one in found if one.severity == Severity.ERROR]
    assert len(errors) <= 1, (question, errors)
    return Answer(not errors, errors[0].delta_error if errors else None)
