"""The nearest name of a misspelt one is found among few names and among many."""

from __future__ import annotations

import pytest

from schemalint.delta.column_names import nearest_name

NAME = "Customer_name"
MISSPELT = {
    spelling
    for index in range(len(NAME))
    for spelling in (
        NAME[:index] + NAME[index + 1 :],
        NAME[:index] + "x" + NAME[index:],
        NAME[:index] + "x" + NAME[index + 1 :],
        NAME[:index] + NAME[index : index + 2][::-1] + NAME[index + 2 :],
    )
}


@pytest.mark.parametrize("number", [0, 10, 1000])
def test_a_misspelt_name_is_found_among_any_number_of_names(number: int) -> None:
    others = [f"customer_{n}" for n in range(number)] + [f"{n}_name" for n in range(number)]
    known = frozenset([*others, NAME])
    assert {spelling for spelling in MISSPELT if nearest_name(spelling.lower(), known) != NAME} == set()


@pytest.mark.parametrize("number", [10, 1000])
def test_a_name_that_is_like_no_other_has_no_nearest_name(number: int) -> None:
    assert nearest_name("zip", [f"column_{n}" for n in range(number)]) is None
