"""The last day on which CT003 reports the drop of a deprecated column."""

from __future__ import annotations

import datetime as dt

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.change import FieldRemoved
from schemalint.delta.diff import diff
from schemalint.judge.case import git_context
from schemalint.model.contract import Contract
from support.effective import counting
from support.rule_judging import built_in

MAPPED = "properties: {delta.columnMapping.mode: name}\n"
HEAD = f"schemalint: 1\ntable: t\n{MAPPED}columns:\n  - {{name: a, type: int}}\n"
BEFORE = HEAD + "  - {name: b, type: int, deprecated: {remove_after: 2026-03-31}}\n"
AFTER = HEAD + "dropped: [b]\n"


@pytest.mark.parametrize(
    ("today", "problems"),
    [("2026-03-30", 1), ("2026-03-31", 1), ("2026-04-01", 0)],
)
def test_drop_is_a_finding_up_to_and_including_the_last_day(today: str, problems: int) -> None:
    """A drop is allowed after ``remove_after``, not on that day."""
    before, after = _contract(BEFORE), _contract(AFTER)
    ctx = replace(git_context(counting(before), counting(after)), today=dt.date.fromisoformat(today))
    (removal,) = (change for change in diff(before.state, after.state) if isinstance(change, FieldRemoved))
    assert len(list(built_in()["deprecated-dropped-early"].check(removal, ctx))) == problems


def _contract(text: str) -> Contract:
    (declared,) = contracts.read("t.yaml", text).contracts
    return declared
