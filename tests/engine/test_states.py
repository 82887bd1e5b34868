"""The rules' errors are the engine's refusals: over every recorded state, and a sample asked again."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.ask_states import ACCEPTED, REFUSED, UNCHANGED, Question, all_questions, ask, read_record
from engine.pairs import of_states
from schemalint.lint.judge import judge_pair
from schemalint.lint.rulebook import load_rules
from schemalint.plugin import Severity

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
RULES = tuple(rule for rule in load_rules() if rule.module.startswith("schemalint_rules."))
SAMPLE = 12


# What a check cannot know, by a part of the state asked for, with the reason.
DISAGREEMENTS = {
    '"delta.coordinatedCommits.commitCoordinator-preview": "x", '
    '"delta.coordinatedCommits.commitCoordinatorConf-preview": "{}"': (
        "Delta knows the commit coordinators that were registered in its process, and refuses any other"
    ),
}


@pytest.mark.parametrize("question", RECORD, ids=lambda question: f"{question.before}->{question.after}")
def test_errors_are_refusals(question: Question) -> None:
    """One error with the engine's class where it refuses, none where it accepts."""
    agrees = _errors(question) == _expected(RECORD[question])
    assert agrees != any(part in question.after for part in DISAGREEMENTS)


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.spark
def test_the_engine_still_answers_so(spark: SparkSession, tmp_path: Path) -> None:
    """A sample of the questions; ``SCHEMALINT_SEED`` chooses it."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {question: RECORD[question] for question in sample}


def _expected(answer: str) -> list[str | None]:
    if answer == ACCEPTED:
        return []
    return [None if answer in (REFUSED, UNCHANGED) else answer]


def _errors(question: Question) -> list[str | None]:
    found = judge_pair(*of_states(question), RULES)
    return [one.delta_error for one in found if one.severity == Severity.ERROR]
