"""NC025 reports the literals that Spark refuses as the default of a column, and no others."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from engine.record_defaults import TYPES, Question, all_questions, ask, read_record, refusal
from engine.record_logs import ACCEPTED, _outcome
from schemalint.delta.datatype import Char, Struct, Varchar
from schemalint.delta.default_values import Misfit, misfit
from schemalint.delta.expression_types import expression_type
from schemalint.delta.operands import kind_of
from schemalint.delta.type_text import parse_type, print_type
from schemalint.delta.widening import TypeStep, step
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

RECORD = read_record()
SAMPLE = 4
_IN_PLACE = {TypeStep.WIDENING, TypeStep.FREE}
_LITERAL = (
    r"(?i)\(?(?:[+-]?\s*(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?:[lsydf]|bd)?|true|false|(?:\s*'[^']*')+)\)?"
)


def test_every_question_is_recorded() -> None:
    assert list(RECORD) == all_questions()


@pytest.mark.parametrize("type_", TYPES)
def test_what_the_rule_reports_is_refused(type_: str) -> None:
    reported = {question for question in RECORD if question.type == type_ and _is_reported(question)}
    assert [question for question in reported if RECORD[question]] == []


@pytest.mark.parametrize("type_", TYPES)
def test_a_literal_that_is_refused_is_reported(type_: str) -> None:
    refused = {
        question.default
        for question, accepted in RECORD.items()
        if question.type == type_ and not accepted and re.fullmatch(_LITERAL, question.default)
    }
    reported = {question.default for question in RECORD if question.type == type_ and _is_reported(question)}
    assert {default for default in refused - reported if not _is_undecided(default, type_)} == set()


@pytest.mark.parametrize("kind", sorted({kind_of(parse_type(type_)) for type_ in TYPES}))
def test_an_expression_of_a_type_of_which_no_value_is_accepted_is_reported(kind: str) -> None:
    by_type = defaultdict(list)
    for question in RECORD:
        computed = expression_type(question.default, Struct(()))
        # Intervals and arrays are left to `apply`.
        if computed is None or kind_of(computed) in {"interval", "array"}:
            continue
        if kind_of(parse_type(question.type)) == kind:
            by_type[re.sub(r"\(.*", "", print_type(computed))].append(question)
    refused = [
        question
        for questions in by_type.values()
        if not any(RECORD[question] for question in questions)
        for question in questions
    ]
    assert [question for question in refused if not _is_reported(question)] == []


@pytest.mark.spark
@pytest.mark.each_time
def test_engine_still_answers_as_recorded(spark: SparkSession, tmp_path: Path) -> None:
    asked = some_of_each(RECORD, lambda question: RECORD[question], SAMPLE)
    assert ask(spark, tmp_path, asked) == {question: RECORD[question] for question in asked}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("question", "error"),
    [
        (Question("tinyint", "300"), "INVALID_DEFAULT_VALUE.DATA_TYPE"),
        (Question("boolean", "1"), "INVALID_DEFAULT_VALUE.DATA_TYPE"),
        (Question("varchar(3)", "'abcdef'"), "EXCEED_LIMIT_LENGTH"),
    ],
)
def test_spark_s_errors(spark: SparkSession, tmp_path: Path, question: Question, error: str) -> None:
    assert refusal(spark, f"{tmp_path}/t", question) == error


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (old, new)
        for old, new in permutations(TYPES, 2)
        if step(parse_type(old), parse_type(new)) in _IN_PLACE
    ],
)
def test_no_literal_stops_to_fit_where_delta_widens_its_column(old: str, new: str) -> None:
    literals = {question.default for question in RECORD if re.fullmatch(_LITERAL, question.default)}
    fits = {default for default in literals if RECORD[Question(old, default)]}
    assert [default for default in fits if not RECORD[Question(new, default)]] == []


@pytest.mark.spark
@pytest.mark.parametrize(
    ("type_", "default", "error"),
    [
        ("int", "5", ACCEPTED),
        ("int", "'x'", "INVALID_DEFAULT_VALUE.DATA_TYPE"),
        ("varchar(3)", "'abcdef'", "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"),
    ],
)
def test_a_stored_default_fails_only_writes_that_use_it(
    spark: SparkSession, tmp_path: Path, type_: str, default: str, error: str
) -> None:
    table = f"delta.`{tmp_path}/t`"
    feature = "'delta.feature.allowColumnDefaults' = 'supported'"
    spark.sql(f"CREATE TABLE {table} (id INT, c {type_} DEFAULT '1') USING delta TBLPROPERTIES ({feature})")
    log = tmp_path / "t" / "_delta_log" / f"{0:020}.json"
    log.write_text(log.read_text(encoding="utf-8").replace("'1'", default), encoding="utf-8")
    (log.parent / f".{log.name}.crc").unlink(missing_ok=True)
    log.with_suffix(".crc").unlink(missing_ok=True)
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()  # noqa: SLF001 (no public name)
    outcomes = [
        _outcome(spark, statement)
        for statement in (
            f"INSERT INTO {table} VALUES (1, NULL)",
            f"ALTER TABLE {table} SET TBLPROPERTIES ('team' = 'sales')",
            f"INSERT INTO {table} (id) VALUES (2)",
        )
    ]
    assert outcomes == [ACCEPTED, ACCEPTED, error]


def _is_reported(question: Question) -> bool:
    return misfit(question.default, parse_type(question.type)) in {Misfit.TYPE, Misfit.LENGTH}


def _is_undecided(default: str, type_: str) -> bool:
    """Whether the rule leaves a literal to the engine: it does not print numbers as Spark does."""
    is_text = isinstance(parse_type(type_), Char | Varchar)
    is_fraction = re.search(r"[.eE]", default) is not None and "'" not in default
    out_of_range = default == "200Y"
    too_late = type_ == "timestamp" and default == "1e40"
    return (
        (is_text and is_fraction)
        or out_of_range
        or too_late
        or (type_, default) == ("timestamp_ntz", "'12:30'")
    )
