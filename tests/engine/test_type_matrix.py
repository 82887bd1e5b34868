"""Every ordered pair of types: a check says of the change what ``ALTER TABLE … ALTER COLUMN … TYPE`` says."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from engine.ask_types import TYPES, Answer, Question, ask, read_record
from schemalint.engine import judge_pair, load_rules
from schemalint.model.datatype import UNMANAGED, DataType, Field, RecordedChange, Struct
from schemalint.model.finding import Finding, Severity
from schemalint.model.table import Contract, ProtocolLimits, TableState
from schemalint.model.typetext import parse_type
from schemalint.model.widening import TypeStep, step

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
    errors = [one for one in _findings(question) if one.severity == Severity.ERROR]
    assert len(errors) <= 1, (question, errors)
    assert all(one.delta_error for one in errors), (question, errors)
    return Answer(not errors, errors[0].delta_error if errors else None)


def _findings(question: Question) -> tuple[Finding, ...]:
    old, new = parse_type(question.source), parse_type(question.target)
    recorded = (RecordedChange(old, new),) if step(old, new) == TypeStep.WIDENING else ()
    before, after = _contract(question, old, ()), _contract(question, new, recorded)
    return judge_pair(before, after, built_in())


def _contract(question: Question, type_: DataType, record: tuple[RecordedChange, ...]) -> Contract:
    column = Field(
        "c",
        type_,
        comment=UNMANAGED,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=record,
    )
    state = TableState(
        # Another column, because a table cannot consist of void columns alone.
        Struct((Field("other", parse_type("int")), column)),
        properties={"delta.enableTypeWidening": "true"} if question.widening else {},
        features=frozenset({"timestampNtz"}) if question.ntz else frozenset(),
    )
    return Contract("sales.orders", state, protocol=ProtocolLimits(allow_upgrade=True), file="orders.yaml")
