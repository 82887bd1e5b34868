"""Every pair of types at every nested position: a check says of the change what the engine says."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.ask_nested import POSITIONS, Question, all_questions, ask, field_path, read_record
from engine.ask_types import Answer
from rules.judging import built_in
from schemalint.contract.native.history import Entry, distributed
from schemalint.engine import judge_pair
from schemalint.model.datatype import UNMANAGED, DataType, Field, Struct
from schemalint.model.finding import Finding, Severity
from schemalint.model.table import Contract, ProtocolLimits, TableState
from schemalint.model.typetext import parse_type, print_type
from schemalint.model.widening import TypeStep, step

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
    errors = [one for one in _findings(question) if one.severity == Severity.ERROR]
    assert len(errors) <= 1, (question, errors)
    return Answer(not errors, errors[0].delta_error if errors else None)


def _findings(question: Question) -> tuple[Finding, ...]:
    old, new = parse_type(question.source), parse_type(question.target)
    widened = step(old, new, nested=True) == TypeStep.WIDENING
    recorded = (Entry(field_path(question.position), old, new),) if widened else ()
    before, after = _contract(question, old, ()), _contract(question, new, recorded)
    return judge_pair(before, after, tuple(built_in().values()))


def _contract(question: Question, leaf: DataType, recorded: tuple[Entry, ...]) -> Contract:
    type_, own = distributed(_around(question.position, leaf), recorded)
    column = Field(
        "c",
        type_,
        comment=UNMANAGED,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=own,
    )
    state = TableState(
        # Another column, because a table cannot consist of void columns alone.
        Struct((Field("other", parse_type("int")), column)),
        properties={"delta.enableTypeWidening": "true"} if question.widening else {},
        features=frozenset({"timestampNtz"}) if question.ntz else frozenset(),
    )
    return Contract("sales.orders", state, protocol=ProtocolLimits(allow_upgrade=True), file="orders.yaml")


def _around(position: str, leaf: DataType) -> DataType:
    return parse_type(POSITIONS[position].format(print_type(leaf)))
