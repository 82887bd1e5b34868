"""A check agrees with ``ALTER TABLE … ALTER COLUMN … TYPE`` on every ordered pair of types."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from engine.pairs import type_contracts
from engine.record_types import CONFIGS, TYPES, Answer, Question, _logged_types, ask_again, read_record
from schemalint.model.finding import Severity
from schemalint.review.rulebook import load_rules
from support.judging import judge_pair
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from schemalint.plugin import Rule

QUESTIONS = tuple(read_record())
SAMPLE: Final = 3


@cache
def built_in() -> tuple[Rule, ...]:
    return tuple(rule for rule in load_rules() if rule.module.startswith("schemalint_rules."))


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    """Ask a sample again: of each configuration, and each answer in it."""
    record = read_record()
    sample = some_of_each(QUESTIONS, lambda question: (question[2:], record[question]), SAMPLE)
    assert ask_again(spark, tmp_path, sample) == {question: record[question] for question in sample}


def test_every_pair_of_types_is_recorded() -> None:
    pairs = ((source, target) for source in TYPES for target in TYPES)
    every = {Question(*pair, *config) for pair in pairs for config in CONFIGS.values()}
    # A new table with a timestamp_ntz column always supports the feature.
    assert set(QUESTIONS) == {row for row in every if row.ntz or row.source != "timestamp_ntz"}


@pytest.mark.parametrize("source", TYPES)
def test_check_agrees_with_the_recorded_answers(source: str) -> None:
    """Compare with the record, so that every test run does it."""
    answers = {question: answer for question, answer in read_record().items() if question.source == source}
    assert {question: _verdict(question) for question in answers} == answers


# The types that TW002 names instead of a refused one: all pairs of recorded types for which it names one.
NAMED: Final = {
    ("byte", "float"): "double",
    ("short", "float"): "double",
    ("int", "float"): "double",
    ("long", "float"): "decimal(20,0)",
    ("long", "double"): "decimal(20,0)",
    **{("float", name): "double" for name in TYPES if name.startswith("decimal")},
    ("date", "timestamp"): "timestamp_ntz",
    ("decimal(5,0)", "int"): "decimal(10,0)",
    ("decimal(5,0)", "long"): "decimal(20,0)",
    ("decimal(5,2)", "short"): "decimal(7,2)",
    ("decimal(5,2)", "int"): "decimal(12,2)",
    ("decimal(5,2)", "long"): "decimal(22,2)",
    ("decimal(10,0)", "long"): "decimal(20,0)",
    ("decimal(10,2)", "int"): "decimal(12,2)",
    ("decimal(10,2)", "long"): "decimal(22,2)",
    ("decimal(12,2)", "long"): "decimal(22,2)",
    ("decimal(12,4)", "int"): "decimal(14,4)",
    ("decimal(12,4)", "long"): "decimal(24,4)",
    ("decimal(28,10)", "long"): "decimal(30,10)",
    ("varchar(5)", "char(10)"): "varchar(10)",
    ("char(5)", "char(10)"): "varchar(10)",
}


@pytest.mark.wide
def test_refused_pairs_name_the_nearest_type() -> None:
    """Compare all pairs of recorded types; where the record has the named type, Spark accepted it."""
    asked = [question for question in QUESTIONS if question.widening and question.ntz]
    named = {(question.source, question.target): _named(question) for question in asked}
    assert {pair: type_ for pair, type_ in named.items() if type_} == NAMED
    answers = {(question.source, question.target): read_record()[question] for question in asked}
    assert all(answers[source, type_].accepted for (source, _), type_ in NAMED.items() if type_ in TYPES)


@pytest.mark.spark
def test_engine_widens_to_every_named_type(spark: SparkSession, tmp_path: Path) -> None:
    changes = sorted({(source, type_) for (source, _), type_ in NAMED.items()})
    columns = ", ".join(f"c{number} {source}" for number, (source, _) in enumerate(changes))
    altered = ", ".join(f"c{number} TYPE {type_}" for number, (_, type_) in enumerate(changes))
    table = f"delta.`{tmp_path / 'table'}`"
    spark.sql(
        f"CREATE TABLE {table} ({columns}) USING delta TBLPROPERTIES "
        "('delta.enableTypeWidening' = 'true', 'delta.feature.timestampNtz' = 'supported')"
    )
    spark.sql(f"ALTER TABLE {table} ALTER COLUMN {altered}")
    assert list(_logged_types(tmp_path / "table").values()) == [type_ for _, type_ in changes]


def _named(question: Question) -> str | None:
    """Return the type that TW002 names in its help, if it does."""
    helps = [
        found.help for found in judge_pair(*type_contracts(question), built_in()) if found.code == "TW002"
    ]
    match = re.search(r"change to (\S+), the nearest", "".join(helps))
    return match[1] if match else None


def _verdict(question: Question) -> Answer:
    """Return the check's verdict; it must report one error at most, with an error class of Delta."""
    findings = judge_pair(*type_contracts(question), built_in())
    errors = [finding for finding in findings if finding.severity == Severity.ERROR]
    assert len(errors) <= 1, (question, errors)
    assert all(finding.delta_error for finding in errors), (question, errors)
    return Answer(not errors, errors[0].delta_error if errors else None)
