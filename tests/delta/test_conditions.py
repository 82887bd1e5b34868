"""Conditions of any length are read or passed over."""

from __future__ import annotations

import pytest

from schemalint.delta.conditions import condition_problem, refused_nulls
from schemalint.delta.datatype import BOOLEAN, INTEGER, STRING, Decimal, Field, Struct
from support.operations import assert_linear

COLUMNS = Struct((Field("a", INTEGER),))


@pytest.mark.parametrize("operators", [150, 5_000])
@pytest.mark.parametrize(("operator", "end"), [(" AND ", ""), ("+", " > 0")])
def test_a_long_chain_of_operators_ends_no_check(operators: int, operator: str, end: str) -> None:
    part = "a" if end else "a > 0"
    text = operator.join([part] * operators) + end
    assert condition_problem(text, COLUMNS) is None
    assert refused_nulls(text) == ({("a",)} if operators < 200 else frozenset())


def test_a_number_of_thousands_of_digits_ends_no_check() -> None:
    assert condition_problem(f"a < {'9' * 5_000}", COLUMNS) is None
    assert condition_problem(f"b < {'0' * 5_000}1", Struct((Field("b", STRING),))) is None


def test_work_grows_with_the_length_of_a_list_of_values_of_as_many_types() -> None:
    assert_linear(
        lambda number: condition_problem(
            f"a IN ({', '.join(f'CAST(NULL AS struct<x{index}: int>)' for index in range(number))}, b)",
            Struct((Field("a", Struct(())), Field("b", Struct((Field("x", STRING),))))),
        ),
        60,
    )


def test_work_grows_with_the_length_of_a_list() -> None:
    assert_linear(
        lambda number: condition_problem(f"a IN ({', '.join(map(str, range(number)))})", COLUMNS), 200
    )


def test_work_grows_with_the_length_of_a_sum() -> None:
    assert_linear(lambda number: condition_problem(f"{' + '.join(['f(a)'] * number)} > 0", COLUMNS), 40)


def test_decimals_are_numbers_whatever_their_digits() -> None:
    columns = Struct((Field("p", Decimal(10, 2)), Field("b", BOOLEAN)))
    for text in ("p * 2 > 'x'", "(p + p) * p = b", "-p / 3 > 'x'"):
        assert condition_problem(text, columns), text
