"""Every ordered pair of types: a check says of the change what ``ALTER TABLE … ALTER COLUMN … TYPE`` says."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from engine.ask_types import TYPES, Answer, Question, ask, read_record
from engine.pairs import of_types
from schemalint.lint.judge import judge_pair
from schemalint.lint.rulebook import load_rules
from schemalint.model.finding import Severity

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.plugin import Rule

QUESTIONS = tuple(read_record())


@cache
def built_in() -> tuple[Rule, ...]:
    return tuple(rule for rule in load_rules() if rule.module.startswith("schemalint_rules."))


@pytest.mark.spark
def test_check_agrees_with_the_engine_on_every_pair_of_types(spark: SparkSession, tmp_path: Path) -> None:
    answers = ask(spark, tmp_path)
    assert answers.keys() == set(QUESTIONS)
    assert {question: _verdict(question) for question in answers} == answers


@pytest.mark.parametrize("source", TYPES)
def test_check_agrees_with_what_the_engine_answered(source: str) -> None:
    """The same by the recorded answers, for every run of the tests."""
    answers = {question: answer for question, answer in read_record().items() if question.source == source}
    assert {question: _verdict(question) for question in answers} == answers


def _verdict(question: Question) -> Answer:
    """What the errors that name an error of Delta come to: none, or exactly one."""
    errors = [one for one in judge_pair(*of_types(question), built_in()) if one.severity == Severity.ERROR]
    assert len(errors) <= 1, (question, errors)
    assert all(one.delta_error for one in errors), (question, errors)
    return Answer(not errors, errors[0].delta_error if errors else None)
