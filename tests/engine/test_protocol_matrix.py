"""What every start protocol becomes by every change, as computed and as the engine did it."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.ask_protocols import (
    CHANGES,
    LEGACY,
    NOTHING,
    REFUSED,
    STARTS,
    Question,
    all_questions,
    ask,
    read_record,
)
from engine.pairs import of_protocols
from schemalint.delta.feature import FEATURES
from schemalint.delta.protocol import (
    TABLE_FEATURES_READER,
    Protocol,
    features_of_versions,
    minimum_versions,
    needed,
    needed_to_alter,
)
from schemalint.lint.judge import judge_pair
from schemalint.model.finding import Severity
from support.rule_judging import built_in

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.model.contract import Contract

RECORD = read_record()
SAMPLE = 25


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.parametrize("start", ["", *STARTS])
def test_the_protocol_is_what_the_engine_made_of_it(start: str) -> None:
    recorded = {
        question: answer
        for question, answer in RECORD.items()
        if question.start == start and isinstance(answer, Protocol)
    }
    assert {question: _written(_features(question)) for question in recorded} == recorded


@pytest.mark.parametrize("start", ["", *STARTS])
def test_an_error_is_a_refusal(start: str) -> None:
    """One error with the engine's class where it refuses, none where it accepts."""
    refusals = {
        question: [] if isinstance(answer, Protocol) else [None if answer == REFUSED else answer]
        for question, answer in RECORD.items()
        if question.start == start
    }
    assert {question: _errors(question) for question in refusals} == refusals


@pytest.mark.parametrize("start", STARTS)
def test_only_what_delta_adds_when_asked_to_needs_asking(start: str) -> None:
    """The model leaves a feature out of an upgrade where the engine wants it enabled by hand."""
    altered = {question: answer for question, answer in RECORD.items() if question.start == start}
    by_hand = {one for one, answer in altered.items() if answer == "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"}
    assert {one for one in altered if _features(one) != _needed(one)} == by_hand


@pytest.mark.parametrize("start", LEGACY)
def test_legacy_versions_imply_what_the_engine_keeps(start: str) -> None:
    """The pair that was asked for and the one that was written mean the same features."""
    reader, writer = map(int, STARTS[start].values())
    written = RECORD[Question(start, NOTHING)]
    assert isinstance(written, Protocol)
    assert written.features == Protocol(reader, writer).features


@pytest.mark.spark
def test_the_engine_still_answers_so(spark: SparkSession, tmp_path: Path) -> None:
    """A sample of the questions; ``SCHEMALINT_SEED`` chooses it."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {question: RECORD[question] for question in sample}


def _features(question: Question) -> frozenset[str]:
    """The features that the table supports afterwards, by the model."""
    after = _after(question)
    if not question.start:
        return after.created_features
    return needed_to_alter(_supported(question), after.state.active_features, after.state.asked_features)


def _needed(question: Question) -> frozenset[str]:
    """The features that the table has to support afterwards."""
    after = _after(question).state
    return needed(_supported(question), after.active_features, after.asked_features)


def _supported(question: Question) -> frozenset[str]:
    """What the start supports, and what the versions imply that are asked for."""
    before = RECORD[Question(question.start, NOTHING)]
    assert isinstance(before, Protocol)
    asked = CHANGES[question.change].get("properties", {})
    return before.features | features_of_versions(asked, before.features)


def _written(features: frozenset[str]) -> Protocol:
    """The protocol action for a set of features: a legacy pair lists none."""
    reader, writer = minimum_versions(features)
    if Protocol(reader, writer).features == features:
        return Protocol(reader, writer)
    read = frozenset(name for name in features if FEATURES[name].reader)
    return Protocol(reader, writer, read if reader == TABLE_FEATURES_READER else frozenset(), features)


def _errors(question: Question) -> list[str | None]:
    found = judge_pair(*of_protocols(question), tuple(built_in().values()))
    return [one.delta_error for one in found if one.severity == Severity.ERROR]


def _after(question: Question) -> Contract:
    return of_protocols(question)[1]
