"""Which drops a run must prove: the column is there, the one that it was filled from is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint.base.values import replace
from schemalint.delta.path import format_path
from schemalint.deploy.drop_duties import drops_to_prove, outlived_backfills
from schemalint.deploy.last_applied import LastApplied
from schemalint.model.table_plan import TablePlan
from support.branch import Branch
from support.effective import counting
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

KEY: Final = ', backfill: {from: a, with: "cast(a as int)"}'
OLD: Final = "{name: a, type: string}, "
DROPPED: Final = "dropped: [a]"

REVISIONS: Final = {
    "old": (OLD + "{name: c, type: int}", ""),
    "filled": (f"{OLD}{{name: b, type: int{KEY}}}", ""),
    "both": (OLD + "{name: b, type: int}", ""),
    "dropped": (f"{{name: b, type: int{KEY}}}", DROPPED),
    "without key": ("{name: b, type: int}", DROPPED),
    "renamed": ("{name: d, type: int, renamed_from: b}", DROPPED),
}
"""Contracts by what they say of the old column ``a`` and the new one."""


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(Repo(tmp_path / "repository"))


@pytest.mark.parametrize(
    ("names", "live", "marked", "proved"),
    [
        (("filled", "dropped"), "dropped", "filled", ["b"]),
        (("filled", "dropped"), "dropped", "dropped", []),
        (("filled", "dropped"), "dropped", None, ["b"]),
        (("filled", "both", "without key"), "without key", "both", ["b"]),
        (("filled", "both", "without key"), "without key", "without key", []),
        (("filled", "both", "without key"), "without key", None, ["b"]),
        (("filled", "both", "without key", "renamed"), "renamed", "both", ["d"]),
        (("filled", "both", "without key", "dropped"), "without key", "both", ["b"]),
        # The key was there when the drop was declared: who takes it out accepts what is lost.
        (("filled", "dropped", "without key"), "without key", "filled", []),
        (("filled", "both", "without key", "dropped", "without key"), "without key", "both", []),
        # Nothing was filled since the last revision without the new column.
        (("both", "without key"), "without key", "both", []),
        (("filled", "old", "both", "without key"), "without key", "both", []),
    ],
)
def test_a_drop_is_proved_unless_a_marker_came_after_it_or_its_key_went_after_it(
    branch: Branch, names: tuple[str, ...], live: str, marked: str | None, proved: list[str]
) -> None:
    commits = {name: branch.declare(*REVISIONS[name]) for name in names}
    table = branch.live(commits[live], marked=False)
    table = table if marked is None else branch.marked(table, commits[marked])
    last_applied = branch.find(table)
    assert isinstance(last_applied, LastApplied)
    contract = counting(branch.contract())

    duties = outlived_backfills(contract, table, branch.revisions(), last_applied)
    contract = replace(contract, backfills={**duties, **contract.backfills})
    plan = TablePlan(contract.table, table.uri, "", writes_marker=True)
    due = drops_to_prove(plan, contract, table, last_applied)

    assert [format_path(drop.column) for drop in due] == proved
    assert drops_to_prove(replace(plan, writes_marker=False), contract, table, last_applied) == ()


def test_a_column_that_is_still_there_is_guarded_whenever_its_key_went(branch: Branch) -> None:
    filled = branch.declare(*REVISIONS["filled"])
    branch.declare(*REVISIONS["dropped"])
    branch.declare(*REVISIONS["without key"])
    table = branch.live(filled)
    last_applied = branch.find(table)
    assert isinstance(last_applied, LastApplied)

    duties = outlived_backfills(counting(branch.contract()), table, branch.revisions(), last_applied)

    assert [(format_path(path), fill.outlived) for path, fill in duties.items()] == [("b", True)]
