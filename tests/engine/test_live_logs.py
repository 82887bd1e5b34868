"""What the rules say of a log is what the engine does with it: over every recorded log."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.ask_logs import ACCEPTED, Answer, all_questions, ask, read_record, text_of
from schemalint.lint.table import judge_table
from support.rule_judging import built_in
from support.short_logs import logged_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
RULES = tuple(built_in().values())
SAMPLE = 12

# Where no finding names the engine's error, with the reason.
DISAGREEMENTS = {
    "log-inconsistent/checksum-with-another-schema": (
        "only the first read is refused: then Spark goes on with the state that it rebuilt meanwhile"
    ),
    "log-inconsistent/no-schema": (
        "a table without columns is lawful: Spark alters it, and has nothing to read or write there"
    ),
}


@pytest.mark.parametrize("case", RECORD)
def test_what_the_engine_refuses_is_said_and_nothing_else(case: str, tmp_path: Path) -> None:
    """One of the findings names the engine's error; and no finding names an error that it does not give."""
    answer = RECORD[case]
    found = judge_table(logged_table(text_of(case), tmp_path), RULES)
    named = {one.delta_error for one in found if one.delta_error}
    is_said = bool(answer.refusals & named) == bool(answer.refusals)
    assert is_said != (case in DISAGREEMENTS)
    assert named <= answer.refusals


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


def test_there_are_logs_that_the_engine_takes_though_they_are_wrong() -> None:
    """Findings without an error class: nobody else tells."""
    assert RECORD["unrecorded-type-change/hand-edited"] == Answer(ACCEPTED, ACCEPTED, ACCEPTED)
    assert RECORD["type-changes-misplaced/across-a-struct"] == Answer(ACCEPTED, ACCEPTED, ACCEPTED)


@pytest.mark.spark
def test_the_engine_still_answers_so(spark: SparkSession, tmp_path: Path) -> None:
    """A sample of the logs; ``SCHEMALINT_SEED`` chooses it."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {case: RECORD[case] for case in sample}
