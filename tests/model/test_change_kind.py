"""Each kind of change has a row."""

from __future__ import annotations

from typing import get_args

from schemalint.delta.change import Change
from schemalint.model.change_kind import _KINDS


def test_each_kind_of_change_has_a_row() -> None:
    assert set(get_args(Change)) == set(_KINDS)
