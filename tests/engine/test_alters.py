"""The rules agree with Spark on every recorded alteration, and Spark still answers as recorded."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.pairs import alter_contracts
from engine.record_alters import ACCEPTED, UNCHANGED, Question, ask, questions, read_record
from schemalint.model.finding import Finding, Severity
from support.judging import judge_pair
from support.recorded import check_each
from support.rule_judging import built_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUESTIONS = questions()
RECORD = read_record()
WITHOUT_CLASS = {UNCHANGED, "PARSE_SYNTAX_ERROR"}
"""Answers without an error class of Delta: no effect, or a statement that Spark cannot parse."""
SAMPLE = 4


def test_rule_reports_an_error_exactly_if_every_statement_sequence_fails() -> None:
    """The error has the error class of one of the sequences."""
    checks = {question.case: question for question in QUESTIONS}
    check_each(lambda case: _check_errors(checks[case]), checks)


def _check_errors(question: Question) -> None:
    answers = RECORD.get(question.case, ())
    assert len(answers) == len(question.ways), "the record is outdated: python -m engine.record_alters"
    errors = _errors(question)
    if ACCEPTED in answers:
        assert not errors
        return
    assert len(errors) == 1, "one edit, one finding"
    error_classes: set[str | None] = {answer for answer in answers if answer not in WITHOUT_CLASS}
    assert question.differs or errors[0].delta_error in (error_classes or {None, *answers})


def test_explained_disagreement_exists() -> None:
    """A question has a `differs` entry only if the rule and Spark disagree."""
    for question in QUESTIONS:
        if question.differs:
            assert _errors(question)[0].delta_error not in RECORD[question.case], question.case


def test_record_has_no_answers_without_a_question() -> None:
    """A removed or renamed question leaves no answer behind."""
    assert set(RECORD) == {question.case for question in QUESTIONS if question.ways}


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask a fixed sample of the questions again."""
    questions_with_sql = [question for question in QUESTIONS if question.ways]
    sample = random.Random(4).sample(questions_with_sql, SAMPLE)  # noqa: S311 (no secret)
    assert ask(spark, tmp_path, sample) == {question.case: RECORD[question.case] for question in sample}


def _errors(question: Question) -> list[Finding]:
    findings = judge_pair(*alter_contracts(question), tuple(built_in().values()))
    return [finding for finding in findings if finding.severity >= Severity.ERROR and not finding.existing]
