"""Finding the revision that a table is at without a valid marker, on real git branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.base.values import replace
from schemalint.contract import contract_history
from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.datatype import STRING
from schemalint.deploy.last_applied import LastApplied, find_last_applied
from schemalint.model.marker import Marker, declaration_hash
from schemalint.model.table_plan import Refusal
from schemalint.project.git import DEFAULT_GLOBS, MissingHistoryError, Worktree, open_repository
from support.branch import (
    A2_B,
    A_B,
    A_B_C,
    KEY,
    SWAPPED,
    Branch,
    outcome,
    reason,
    with_field,
    with_marker,
    with_property,
    without_field,
)
from support.effective import counting
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

    from schemalint.delta.table import LiveTable

A = "{name: a, type: int}"
BY_HAND = "b is missing, and the undeclared by_hand could be it"


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(Repo(tmp_path / "repository"))


def without_revision(branch: Branch, commit: str) -> LiveTable:
    """Return a table whose marker has the hash of a revision, and no commit."""
    return with_marker(branch.live(commit), Marker(declaration_hash(branch.contract(commit))))


# Which revision the table equals


def test_table_does_not_equal_a_revision_while_what_it_drops_is_live(branch: Branch) -> None:
    first = branch.declare(A_B_C)
    branch.declare(A_B, "dropped: [c]")
    table = branch.live(first, marked=False)
    assert branch.column_names(table) == ["a b c", "a b"]
    assert outcome(branch.plan(table)) == ["FieldRemoved c"]


def test_nested_column_that_a_revision_drops_counts_too(branch: Branch) -> None:
    lines = '{name: lines, type: "array<struct<sku: string, qty: int>>"}'
    first = branch.declare(lines)
    branch.declare('{name: lines, type: "array<struct<sku: string>>"}', "dropped: [lines.element.qty]")
    assert outcome(branch.plan(branch.live(first, marked=False))) == ["FieldRemoved lines.element.qty"]


def test_table_does_not_equal_a_revision_while_a_name_that_it_gives_up_is_live(branch: Branch) -> None:
    first = branch.declare(A_B)
    second = branch.declare(A2_B)
    both = branch.live(second, marked=False, more="a")
    assert branch.column_names(both) == ["a b", "a2 b"]
    assert outcome(branch.plan(both)) == ["an undeclared column a2 exists already"]
    assert branch.column_names(branch.live(first, marked=False)) == ["a b", "a2 b"]
    assert branch.column_names(branch.live(second, marked=False)) == ["a2 b"]


def test_name_that_a_revision_gives_up_and_declares_anew_may_be_live(branch: Branch) -> None:
    branch.declare("{name: a, type: int}")
    second = branch.declare(
        "{name: b, type: int, renamed_from: a}, {name: a, type: date}, {name: c, type: string}",
        "dropped: [{column: c, type: int}]",
    )
    assert branch.column_names(branch.live(second, marked=False)) == ["b a c"]


def test_table_between_two_revisions_is_at_neither(branch: Branch) -> None:
    """A CREATE that was killed before its constraint, and a column altered by hand."""
    branch.declare(A_B, "constraints: {positive: a > 0}")
    created = branch.live(branch.declare(A_B), marked=False)
    branch.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    assert branch.column_names(created) == []
    plan = branch.plan(created)
    assert [step.kind.value for step in plan.steps] == ["add a constraint"]
    assert plan.writes_marker


def test_uncommitted_swap_that_the_table_may_have_is_refused(branch: Branch) -> None:
    table = branch.live(branch.declare(A_B), marked=False)
    declared = branch.contract(branch.declare(SWAPPED))
    branch.repo.git("reset", "--quiet", "--mixed", "HEAD~1")
    repository = open_repository(branch.repo.path, branch.repo.env)
    found = find_last_applied(
        Revisions(repository, ContractFiles(DEFAULT_GLOBS), "prod", Worktree()), counting(declared), table
    )
    assert "and at the working tree, with renames in between" in reason(found)


# Columns that somebody renamed


@pytest.mark.parametrize("earlier", [A, None], ids=["known revision", "adoption"])
def test_column_is_not_added_beside_one_that_could_be_it(branch: Branch, earlier: str | None) -> None:
    first = branch.declare(earlier) if earlier else None
    newest = branch.declare(A_B)
    renamed = with_field(branch.live(newest, marked=False), "b", lambda field: replace(field, name="by_hand"))
    refused = branch.find(renamed)
    assert reason(refused) == BY_HAND
    assert isinstance(refused, Refusal)
    assert "--base none" in refused.help
    assert outcome(branch.plan(renamed, base="none")) == ["FieldAdded b"]
    if first:
        assert outcome(branch.plan(renamed, base=first)) == ["FieldAdded b"]
    other_type = with_field(renamed, "by_hand", lambda field: replace(field, type=STRING))
    assert outcome(branch.plan(other_type)) == ["FieldAdded b"]
    unmapped = with_property(renamed, "delta.columnMapping.mode", "none")
    assert isinstance(branch.find(unmapped), LastApplied)


def test_column_that_could_be_renamed_has_the_type_of_any_revision(branch: Branch) -> None:
    old = branch.declare(A_B)
    branch.declare(A_B.replace("b, type: int", "b, type: bigint"))
    renamed = with_field(branch.live(old, marked=False), "b", lambda field: replace(field, name="by_hand"))
    assert reason(branch.find(renamed)) == BY_HAND


def test_nested_column_is_not_added_beside_one_that_could_be_it(branch: Branch) -> None:
    newest = branch.declare('{name: s, type: "struct<x: int, y: int>"}')
    table = branch.live(newest, marked=False)
    (struct,) = table.state.columns.fields
    other = branch.live(branch.declare('{name: s, type: "struct<x: int, z: int>"}'), marked=False)
    branch.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    assert reason(branch.find(other)) == "s.y is missing, and the undeclared z could be it"
    assert struct.name == "s"


def test_adoption_refuses_renames_and_drops_by_name_whatever_the_user_names(branch: Branch) -> None:
    table = branch.live(branch.declare("{name: a, type: int}, {name: b, type: int}"), marked=False)
    branch.repo.git("checkout", "--quiet", "--orphan", "another")
    branch.declare("{name: a2, type: int, renamed_from: a}, {name: n, type: date}", "dropped: [b]")
    expected = [
        "it is unknown whether the rename of a to a2 was applied",
        "it is unknown whether the drop of b was applied",
    ]
    plan = branch.plan(table)
    assert outcome(plan) == expected
    assert all("apply the contract without" in refusal.help for refusal in plan.refusals)
    assert outcome(branch.plan(table, base="none")) == expected


# What the user names


def test_named_base_does_not_count_against_a_valid_marker(branch: Branch) -> None:
    first = branch.declare(A_B)
    second = branch.declare(A2_B)
    newest = branch.declare(f"{A2_B}, {{name: n, type: date}}")
    table = branch.live(second)
    for base in (first, "none"):
        assert branch.column_names(table, base=base) == ["a2 b", "a2 b n"]
        assert branch.column_names(branch.live(newest), base=base) == ["a2 b n"]
        assert branch.column_names(branch.live(second, marked=False), base=base) == ["a2 b", "a2 b n"]
        assert "the table is ahead" in reason(branch.find(table, first, base=base))


def test_named_base_that_is_newer_needs_allow_older(branch: Branch) -> None:
    first = branch.declare(A_B)
    newer = branch.declare("{name: a2, type: date, renamed_from: a}")
    table = without_field(branch.live(newer, marked=False), "a2")
    assert "the table is ahead" in reason(branch.find(table, first, base=newer))
    assert isinstance(branch.find(table, first, base=newer, allow_older=True), LastApplied)


# History that is missing, or that others rewrote


@pytest.mark.parametrize("marked", [True, False])
def test_shallow_clone_never_claims_to_know_all_revisions(
    branch: Branch, tmp_path: Path, *, marked: bool
) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    table = without_revision(branch, first) if marked else branch.live(first, marked=False)
    shallow = Branch(branch.repo.clone(tmp_path / "clone", "--depth=1"))
    for base in (None, "none", "HEAD"):
        with pytest.raises(MissingHistoryError) as caught:
            shallow.find(table, base=base)
        assert caught.value.exit_status == 2
        assert "git fetch --no-tags --unshallow origin" in caught.value.help
        assert "this shallow clone lacks the revisions of Sales.Orders before" in str(caught.value)


def test_shallow_clone_that_has_all_revisions_of_a_table_is_enough(branch: Branch, tmp_path: Path) -> None:
    for number in range(2):
        branch.repo.write("other.yml", f"schemalint: 1\ntable: other\ncolumns: []\ndescription: x{number}\n")
        branch.repo.commit()
    first = branch.declare(A_B)
    branch.declare(A2_B)
    shallow = Branch(branch.repo.clone(tmp_path / "clone", "--depth=3"))
    for table in (branch.live(first, marked=False), without_revision(branch, first), branch.live(first)):
        assert shallow.column_names(table) == ["a b", "a2 b"]


def test_named_base_whose_later_revisions_are_missing_is_an_error(branch: Branch, tmp_path: Path) -> None:
    branch.repo.write("README.md", "x")
    base = branch.repo.commit()
    branch.repo.git("checkout", "--quiet", "-b", "other")
    first = branch.declare(A_B)
    branch.repo.git("checkout", "--quiet", "main")
    branch.declare(A_B)
    branch.declare(SWAPPED)
    branch.declare("{name: b, type: int}, {name: a, type: int}")
    shallow = Branch(branch.repo.clone(tmp_path / "clone", "--depth=1", "--no-single-branch"))
    assert base != first
    with pytest.raises(MissingHistoryError):
        shallow.revisions().since(first, KEY)


def test_history_too_long_to_be_searched_needs_a_named_base(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    for number in range(50):
        branch.declare(A2_B, f"description: x{number}")
    monkeypatch.setattr(contract_history, "_MOST_CHANGES", 20)
    for table in (branch.live(first, marked=False), without_revision(branch, first)):
        with pytest.raises(MissingHistoryError, match="only the newest 20 commits") as caught:
            branch.find(table)
        assert "--base REV" in caught.value.help
        assert branch.column_names(table, base=first)[0] == "a b"


@pytest.mark.parametrize("known", ["state", "hash", "commit"])
@pytest.mark.parametrize("moved", ["file", "table", "both"])
def test_table_keeps_its_revisions_when_its_contract_moves(branch: Branch, moved: str, known: str) -> None:
    first = branch.declare(A_B)
    table = {
        "state": lambda: branch.live(first, marked=False),
        "hash": lambda: without_revision(branch, first),
        "commit": lambda: branch.live(first),
    }[known]()
    branch.declare(A2_B)
    file = "new/orders.yml" if moved != "table" else branch.file
    text = (branch.repo.path / branch.file).read_text()
    if moved != "file":
        text = text.replace("Sales.Orders", "Sales.NewOrders") + "location: Sales/Orders\n"
    branch.repo.git("rm", "--quiet", branch.file)
    branch.repo.write(file, text)
    branch.repo.commit()
    branch.repo.write(file, text.replace("a2, type: int, renamed_from: a", "a3, type: int, renamed_from: a2"))
    branch.repo.commit()
    revisions = branch.revisions()
    contract = revisions.at(revisions.tip, KEY if moved == "file" else "sales.neworders")
    assert contract is not None
    found = find_last_applied(revisions, contract, table)
    assert isinstance(found, LastApplied)
    assert [state.state.columns.fields[0].name for state in found.revisions] == ["a", "a2", "a3"]


def test_revision_that_cannot_be_read_is_passed_over(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.repo.write(branch.file, "schemalint: 1\ntable: [\n")
    branch.repo.commit()
    branch.declare(A2_B)
    for table in (branch.live(first, marked=False), without_revision(branch, first), branch.live(first)):
        assert branch.column_names(table) == ["a b", "a2 b"]


# Drift


@pytest.mark.parametrize("repair", [False, True])
def test_column_that_is_back_after_its_drop_is_never_dropped_again(branch: Branch, *, repair: bool) -> None:
    branch.declare(A_B_C)
    listed = branch.declare(A_B, "dropped: [c]")
    plan = branch.plan(branch.live(listed, more="c"), repair=repair)
    assert outcome(plan) == ["c was dropped, and exists again"]


@pytest.mark.parametrize("listed", ["c", "{column: c, type: date}"])
def test_repair_drops_no_column_that_was_made_anew_with_another_type(branch: Branch, listed: str) -> None:
    first = branch.declare(A_B_C)
    branch.declare(A_B, f"dropped: [{listed}]")
    remade = with_field(branch.live(first), "c", lambda field: replace(field, type=STRING))
    plan = branch.plan(remade, repair=True)
    assert outcome(plan) == ["c has the type string, which no revision gives it"]


def test_column_of_an_older_type_of_its_own_is_dropped(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B.replace("b, type: int", "b, type: bigint"))
    branch.declare(A, "dropped: [{column: b, type: bigint}]")
    assert outcome(branch.plan(branch.live(first), repair=True)) == ["FieldRemoved b"]


def test_column_that_writers_may_widen_is_dropped(branch: Branch) -> None:
    first = branch.declare(A_B.replace("b, type: int", "b, type: smallint"), "open: {widening: true}")
    branch.declare(A, "open: {widening: true}\ndropped: [b]")
    widened = branch.live(branch.declare(A_B), marked=False)
    branch.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    assert outcome(branch.plan(branch.marked(widened, first))) == ["FieldRemoved b"]


def test_undeclared_column_of_another_type_than_the_entry_names_stays(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B, "dropped: [{column: junk, type: date}]")
    plan = branch.plan(branch.live(first, more="junk"), repair=True)
    assert outcome(plan) == ["junk has the type int, which no revision gives it"]


def test_applied_column_that_was_renamed_once_is_not_added_again_by_a_repair(branch: Branch) -> None:
    branch.declare(A_B)
    table = without_field(branch.live(branch.declare(A2_B)), "a2")
    not_added = "a2 cannot be added: it is renamed from a, which does not exist"
    drifted = "a2 matches neither the contract nor what was applied last"
    assert outcome(branch.plan(table)) == [drifted, not_added]
    assert outcome(branch.plan(table, repair=True)) == [not_added]


def test_replaced_table_with_the_marker_of_the_declaration_is_drift(branch: Branch) -> None:
    """A transaction identifier outlives CREATE OR REPLACE and RESTORE."""
    branch.declare(A_B)
    newest = branch.declare(A_B_C)
    replaced = branch.marked(branch.live(branch.declare(A), marked=False), newest)
    branch.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    drifted = "matches neither the contract nor what was applied last"
    assert outcome(branch.plan(replaced)) == [f"b {drifted}", f"c {drifted}"]
