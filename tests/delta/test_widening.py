"""Type changes, compared with the answers of Spark with Delta in ``engine/types.csv``."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given

from engine.record_types import TYPES, Answer, Question, read_record
from schemalint.delta.datatype import BYTE, INTEGER, LONG, TIMESTAMP_NTZ, VOID, DataType, Decimal, Varchar
from schemalint.delta.type_text import parse_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.delta.widening import MAX_PRECISION, TypeStep, narrows, refusal, smallest_decimal, step
from support.strategies import decimals

ANSWERS = read_record()
NOT_ENABLED = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"
NO_FEATURE = "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT"


def test_the_record_holds_every_pair_in_every_configuration() -> None:
    # A table with a timestamp_ntz column always supports the feature: two configurations, not four.
    assert len(ANSWERS) == len(TYPES) * (4 * (len(TYPES) - 1) + 2)


@pytest.mark.parametrize("source", TYPES)
def test_type_steps_agree_with_every_recorded_answer(source: str) -> None:
    recorded = {question: answer for question, answer in ANSWERS.items() if question.source == source}
    assert {question: _predicted(question) for question in recorded} == recorded


def _predicted(question: Question) -> Answer:
    old, new = parse_type(question.source), parse_type(question.target)
    type_step = step(old, new)
    error = refusal(old, new)
    if type_step == TypeStep.WIDENING and not question.widening:
        error = NOT_ENABLED
    elif type_step != TypeStep.SAME and new == TIMESTAMP_NTZ and not question.ntz:
        error = error or NO_FEATURE
    return Answer(error is None, error)


WIDENED = [
    ("decimal(10,2)", "decimal(12,2)"),
    ("decimal(10,2)", "decimal(11,3)"),
    ("tinyint", "decimal(10,0)"),
    ("int", "decimal(38,28)"),
    ("bigint", "decimal(38,18)"),
    ("smallint", "double"),
]
REFUSED = [
    ("decimal(10,2)", "decimal(10,4)", "decimal(12,4)"),
    ("decimal(38,2)", "decimal(38,3)", "decimal(39,3)"),
    ("int", "decimal(9,0)", "decimal(10,0)"),
    ("int", "decimal(38,29)", "decimal(39,29)"),
    ("bigint", "decimal(19,0)", "decimal(20,0)"),
    ("bigint", "decimal(21,2)", "decimal(22,2)"),
]


@pytest.mark.parametrize(("old", "new"), WIDENED)
def test_a_widening_is_recognized(old: str, new: str) -> None:
    assert step(parse_type(old), parse_type(new)) == TypeStep.WIDENING


@pytest.mark.parametrize(("old", "new", "least"), REFUSED)
def test_the_least_decimal_that_fits_is_suggested(old: str, new: str, least: str) -> None:
    assert step(parse_type(old), parse_type(new)) == TypeStep.REFUSED
    assert smallest_decimal(parse_type(old), parse_type(new)) == parse_type(least)


@given(decimals(), decimals())
def test_the_least_decimal_is_a_widening_and_no_smaller_one_is(old: Decimal, new: Decimal) -> None:
    least = smallest_decimal(old, new)
    assert least is not None
    if least.precision <= MAX_PRECISION:
        assert step(old, least) in (TypeStep.WIDENING, TypeStep.SAME)
        smaller = Decimal(least.precision - 1, least.scale)
        assert smaller.precision < new.precision or step(old, smaller) == TypeStep.REFUSED
    assert (step(old, new) != TypeStep.REFUSED) == (least == new)


@pytest.mark.parametrize("old", [BYTE, INTEGER, LONG])
@given(new=decimals())
def test_the_least_decimal_for_an_integer_is_a_widening(old: DataType, new: Decimal) -> None:
    least = smallest_decimal(old, new)
    assert least is not None
    if least.precision <= MAX_PRECISION:
        assert step(old, least) == TypeStep.WIDENING
    assert (step(old, new) == TypeStep.WIDENING) == (least == new)


def test_other_types_have_no_least_decimal() -> None:
    assert smallest_decimal(INTEGER, LONG) is None
    assert smallest_decimal(VOID, Decimal(10, 0)) is None


def test_varchar_grows_only_as_a_top_level_column() -> None:
    """Nested: Delta refuses a longer varchar and ignores string (measured on Delta 4.4.0)."""
    short, long, string = Varchar(5), Varchar(10), parse_type("string")
    assert step(short, long) == step(short, string) == TypeStep.FREE
    assert step(short, long, nested=True) == step(short, string, nested=True) == TypeStep.REFUSED
    assert refusal(short, string) is None
    assert step(short, short, nested=True) == TypeStep.SAME


def test_narrowing_is_the_reverse_of_widening() -> None:
    for old, new in product(map(parse_type, TYPES), repeat=2):
        if step(old, new) == TypeStep.WIDENING:
            assert narrows(new, old), (new, old)
        if step(old, new) != TypeStep.REFUSED and old != VOID:
            assert not narrows(old, new) or old == new, (old, new)


def test_the_verdict_of_every_pair_agrees_with_its_step() -> None:
    legal = {TypeStep.SAME: TypeVerdict.FREE, TypeStep.FREE: TypeVerdict.FREE}
    legal |= {TypeStep.WIDENING: TypeVerdict.WIDENING}
    for old, new in product(map(parse_type, TYPES), repeat=2):
        type_step, verdict = step(old, new), classify(old, new)
        assert legal.get(type_step, verdict) == verdict
        assert (verdict in legal.values()) == (type_step in legal)


def test_containers_of_different_kinds_differ_in_shape() -> None:
    array, map_, struct = parse_type("array<int>"), parse_type("map<int,int>"), parse_type("struct<a:int>")
    assert classify(array, map_) == classify(INTEGER, struct) == TypeVerdict.SHAPE
