"""Literals that are no value of any type have a verdict too; ``tests/engine/defaults.csv`` has the others."""

from __future__ import annotations

from schemalint.delta.datatype import Decimal, Varchar
from schemalint.delta.default_values import Misfit, misfit


def test_a_number_of_more_digits_than_python_prints_is_too_long() -> None:
    assert misfit("9" * 5_000, Varchar(3)) is Misfit.LENGTH
    assert misfit("-99", Varchar(3)) is misfit("000", Varchar(1)) is None
    assert misfit("-99", Varchar(2)) is Misfit.LENGTH


def test_an_exponent_beyond_all_numbers_is_no_number() -> None:
    assert misfit(f"1e{'9' * 30}", Varchar(3)) is None
    assert misfit(f"'1e{'9' * 30}'", Decimal(4, 2)) is Misfit.TYPE
