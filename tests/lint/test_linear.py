"""The work of a check grows with the width of a table, not with its square."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.git import Contents, File, Worktree
from schemalint.lint.check import check
from schemalint.lint.check_input import CheckInput
from schemalint.lint.rulebook import load_rules
from schemalint.report import findings as reports
from support.operations import assert_linear
from support.wide import CHANGES

if TYPE_CHECKING:
    from schemalint.model.finding import CheckResult

NUMBER = 60


def checked(change: str, number: int) -> CheckResult:
    """Return the result of a check of one contract with so many columns."""
    before, after = (text(number) for text in CHANGES[change])
    base, head = ({"a.yml": File("a.yml", text.encode(), None)} if text else {} for text in (before, after))
    return check(CheckInput(Worktree(), Worktree(), Contents(base, head), load_rules()))


@pytest.mark.parametrize("change", CHANGES)
def test_twice_the_columns_take_about_twice_the_calls(change: str) -> None:
    assert_linear(lambda number: checked(change, number), NUMBER)


@pytest.mark.parametrize("style", reports.names())
def test_twice_the_findings_take_about_twice_the_calls_in_every_format(style: str) -> None:
    results = {number: checked("widened, enabled", number) for number in (2, NUMBER, 2 * NUMBER)}
    assert_linear(lambda number: reports.get(style).render(results[number]), NUMBER)
