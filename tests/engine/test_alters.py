"""The rules agree with the engine on every recorded alteration, and the engine still answers as recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.ask_alters import ACCEPTED, UNCHANGED, Question, ask, questions, read_record
from engine.pairs import of_alters
from schemalint.lint.judge import judge_pair
from schemalint.model.finding import Finding, Severity
from support.rule_judging import built_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUESTIONS = questions()
RECORD = read_record()
WITHOUT_CLASS = {UNCHANGED, "PARSE_SYNTAX_ERROR"}
"""Refusals that name nothing: no effect, and no such statement."""
SAMPLE = 12

each_question = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.case)


@each_question
def test_error_if_and_only_if_no_way_leads_there(question: Question) -> None:
    """An error of a rule means that the engine refuses every way, and has the class that one of them gave."""
    answers = RECORD.get(question.case, ())
    assert len(answers) == len(question.ways), "asked since it was recorded: python -m engine.ask_alters"
    errors = _errors(question)
    if ACCEPTED in answers:
        assert not errors
        return
    assert len(errors) == 1, "one edit, one finding"
    given: set[str | None] = {answer for answer in answers if answer not in WITHOUT_CLASS}
    assert question.differs or errors[0].delta_error in (given or {None, *answers})


@each_question
def test_a_stated_difference_is_one(question: Question) -> None:
    """A reason for a disagreement stands only where there is one."""
    if question.differs:
        assert _errors(question)[0].delta_error not in RECORD[question.case]


def test_record_holds_nothing_that_is_not_asked() -> None:
    """A question that is gone or renamed leaves no answer behind."""
    assert set(RECORD) == {one.case for one in QUESTIONS if one.ways}


@pytest.mark.spark
def test_engine_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """A sample of the questions, always the same."""
    sample = random.Random(4).sample([one for one in QUESTIONS if one.ways], SAMPLE)  # noqa: S311 (no secret)
    assert ask(spark, tmp_path, sample) == {one.case: RECORD[one.case] for one in sample}


def _errors(question: Question) -> list[Finding]:
    found = judge_pair(*of_alters(question), tuple(built_in().values()))
    return [one for one in found if one.severity >= Severity.ERROR and not one.existing]
