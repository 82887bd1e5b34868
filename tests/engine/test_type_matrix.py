"""A check agrees with ``ALTER TABLE … ALTER COLUMN … TYPE`` on every ordered pair of types."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from engine.pairs import type_contracts
from engine.record_types import TYPES, Answer, Question, ask, read_record
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
def test_check_agrees_with_the_recorded_answers(source: str) -> None:
    """Compare with the record, so that every test run does it."""
    answers = {question: answer for question, answer in read_record().items() if question.source == source}
    assert {question: _verdict(question) for question in answers} == answers


def _verdict(question: Question) -> Answer:
    """Return the check's verdict; it must report one error at most, with an error class of Delta."""
    findings = judge_pair(*type_contracts(question), built_in())
    errors = [finding for finding in findings if finding.severity == Severity.ERROR]
    assert len(errors) <= 1, (question, errors)
    assert all(finding.delta_error for finding in errors), (question, errors)
    return Answer(not errors, errors[0].delta_error if errors else None)
