"""The rules report an error exactly for the states that Spark refuses."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.agreement import STATES_EXPLAINED
from engine.pairs import state_contracts
from engine.record_states import ACCEPTED, REFUSED, UNCHANGED, Question, all_questions, ask, read_record
from schemalint.plugin import Severity
from schemalint.review.rulebook import load_rules
from support.judging import judge_pair
from support.recorded import check_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
RULES = tuple(rule for rule in load_rules() if rule.module.startswith("schemalint_rules."))
SAMPLE = 4


def test_rules_report_an_error_exactly_for_recorded_refusals() -> None:
    """Expect one error with Spark's error class if Spark refuses the state, else no error."""
    check_each(_check_agreement, RECORD)


def _check_agreement(question: Question) -> None:
    agrees = _errors(question) == _expected(RECORD[question])
    change = f"{question.before or 'new'} -> {question.after}"
    assert agrees != any(part in change for part in STATES_EXPLAINED)


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask a sample of the questions again, chosen by ``SCHEMALINT_SEED``."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {question: RECORD[question] for question in sample}


def _expected(answer: str) -> list[str | None]:
    if answer == ACCEPTED:
        return []
    return [None if answer in (REFUSED, UNCHANGED) else answer]


def _errors(question: Question) -> list[str | None]:
    findings = judge_pair(*state_contracts(question), RULES)
    return [finding.delta_error for finding in findings if finding.severity == Severity.ERROR]
