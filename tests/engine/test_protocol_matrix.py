"""For every start protocol and every change, the computed protocol is the one that Spark wrote."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from engine.pairs import protocol_contracts
from engine.record_protocols import (
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
from schemalint.delta.feature import FEATURES, TABLE_FEATURES_READER
from schemalint.delta.protocol import (
    Protocol,
    features_of_versions,
    minimum_versions,
    needed_features,
    needed_to_alter,
)
from schemalint.model.finding import Severity
from support.judging import judge_pair
from support.rule_judging import built_in

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.model.contract import Contract

RECORD = read_record()
SAMPLE = 8


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.parametrize("start", ["", *STARTS])
def test_computed_protocol_is_the_recorded_one(start: str) -> None:
    recorded = {
        question: answer
        for question, answer in RECORD.items()
        if question.start == start and isinstance(answer, Protocol)
    }
    assert {question: _protocol_with(_features(question)) for question in recorded} == recorded


@pytest.mark.parametrize("start", ["", *STARTS])
def test_rules_report_an_error_exactly_for_recorded_refusals(start: str) -> None:
    """Expect one error with Spark's error class if Spark refuses the change, else no error."""
    refusals = {
        question: [] if isinstance(answer, Protocol) else [None if answer == REFUSED else answer]
        for question, answer in RECORD.items()
        if question.start == start
    }
    assert {question: _errors(question) for question in refusals} == refusals


@pytest.mark.parametrize("start", STARTS)
def test_features_to_enable_by_hand_are_left_out_of_the_upgrade(start: str) -> None:
    """The computed upgrade lacks a needed feature only if Spark requires enabling it by hand."""
    altered = {question: answer for question, answer in RECORD.items() if question.start == start}
    by_hand = {
        question
        for question, answer in altered.items()
        if answer == "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"
    }
    assert {question for question in altered if _features(question) != _needed(question)} == by_hand


@pytest.mark.parametrize("start", LEGACY)
def test_legacy_versions_imply_the_features_that_the_engine_keeps(start: str) -> None:
    """The requested versions and the written protocol imply the same features."""
    reader, writer = map(int, STARTS[start].values())
    written = RECORD[Question(start, NOTHING)]
    assert isinstance(written, Protocol)
    assert written.features == Protocol(reader, writer).features


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask a sample of the questions again, chosen by ``SCHEMALINT_SEED``."""
    seed = os.environ.get("SCHEMALINT_SEED", "1")
    sample = random.Random(seed).sample(list(RECORD), SAMPLE)  # noqa: S311 (no secret is made of it)
    assert ask(spark, tmp_path, sample) == {question: RECORD[question] for question in sample}


def _features(question: Question) -> frozenset[str]:
    """Return the features that the table supports afterwards, as computed."""
    after = _after(question)
    if not question.start:
        return after.created_features
    return needed_to_alter(_supported(question), after.state.active_features, after.state.requested_features)


def _needed(question: Question) -> frozenset[str]:
    """Return the features that the table has to support afterwards."""
    after = _after(question).state
    return needed_features(_supported(question), after.active_features, after.requested_features)


def _supported(question: Question) -> frozenset[str]:
    """Return the features that the start supports or the requested versions imply."""
    before = RECORD[Question(question.start, NOTHING)]
    assert isinstance(before, Protocol)
    requested = CHANGES[question.change].get("properties", {})
    return before.features | features_of_versions(requested, before.features)


def _protocol_with(features: frozenset[str]) -> Protocol:
    """Return the protocol that supports exactly these features; legacy versions list none."""
    reader, writer = minimum_versions(features)
    if Protocol(reader, writer).features == features:
        return Protocol(reader, writer)
    read = frozenset(name for name in features if FEATURES[name].reader)
    return Protocol(reader, writer, read if reader == TABLE_FEATURES_READER else frozenset(), features)


def _errors(question: Question) -> list[str | None]:
    findings = judge_pair(*protocol_contracts(question), tuple(built_in().values()))
    return [finding.delta_error for finding in findings if finding.severity == Severity.ERROR]


def _after(question: Question) -> Contract:
    return protocol_contracts(question)[1]
