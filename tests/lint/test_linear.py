"""The work of a check grows with the width of a table, not with its square."""

from __future__ import annotations

import pytest

from schemalint.git import Contents, File, Worktree
from schemalint.lint.check import check
from schemalint.lint.check_input import CheckInput
from schemalint.lint.fixing import check_and_fix
from schemalint.report import findings as reports
from support.operations import assert_linear
from support.rule_judging import built_in
from support.wide import CHANGES

NUMBER = 60


def request(change: str, number: int) -> CheckInput:
    """Return the input of a check of one contract with so many columns."""
    before, after = (text(number) for text in CHANGES[change])
    base, head = ({"a.yml": File("a.yml", text.encode(), None)} if text else {} for text in (before, after))
    return CheckInput(Worktree(), Worktree(), Contents(base, head), tuple(built_in().values()))


@pytest.mark.parametrize("change", CHANGES)
def test_twice_the_columns_take_about_twice_the_calls(change: str) -> None:
    assert_linear(lambda number: check(request(change, number)), NUMBER)


@pytest.mark.parametrize("style", reports.names())
def test_twice_the_findings_take_about_twice_the_calls_in_every_format(style: str) -> None:
    results = {number: check(request("widened, enabled", number)) for number in (2, NUMBER, 2 * NUMBER)}
    assert_linear(lambda number: reports.get(style).render(results[number]), NUMBER)


@pytest.mark.parametrize("change", ["widened", "struct text", "struct levels", "type_changes, wrong"])
def test_twice_the_fixes_take_about_twice_the_calls(change: str) -> None:
    """The fixes of one struct add to one list, or make it: they are applied together."""
    assert_linear(lambda number: check_and_fix(request(change, number), unsafe=False), NUMBER // 2)
