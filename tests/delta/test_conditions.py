"""Conditions of any length are read or passed over."""

from __future__ import annotations

import pytest

from schemalint.delta.conditions import condition_problem, refused_nulls
from schemalint.delta.datatype import INTEGER, STRING, Field, Struct

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
