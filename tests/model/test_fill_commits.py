"""Shares of a table by the hash of its rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemalint.model.fill_commits import hashed_shares

SIZES = st.integers(1, 1 << 50)


@given(size=SIZES, most=st.integers(1, 1 << 40), more=st.integers(0, 1 << 50))
def test_shares_of_a_table_that_grows_are_halved_and_a_commit_of_them_is_no_larger_than_it_may_be(
    size: int, most: int, more: int
) -> None:
    number, together = hashed_shares(size, most)
    larger, _together = hashed_shares(size + more, most)
    assert larger % number == 0
    assert together >= 1
    is_divided_no_more = number == 1 << 15
    assert size * together <= most * number or (is_divided_no_more and together == 1)
    assert 4 * size * together >= 3 * most * number or number == 1 or is_divided_no_more
