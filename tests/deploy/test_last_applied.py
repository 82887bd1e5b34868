"""Finding the revision applied last, on real git branches with tables as earlier runs left them."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import LiveError, SchemalintError
from schemalint.base.values import replace
from schemalint.contract.contract_files import ContractFiles
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.datatype import LONG, SHORT
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable
from schemalint.deploy.last_applied import LastApplied, find_last_applied, resolved_base
from schemalint.model.marker import PENDING, Marker, Pending, declaration_hash
from schemalint.model.table_plan import Refusal, StepKind
from schemalint.planner import after_interrupted_run, simulate
from schemalint.project.git import DEFAULT_GLOBS, MissingHistoryError, Worktree, open_repository
from support.branch import (
    A2_B,
    A_B,
    A_B_C,
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
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(Repo(tmp_path / "repository"))


def test_table_with_the_marker_of_the_newest_revision_needs_no_steps(branch: Branch) -> None:
    branch.declare(A_B)
    newest = branch.declare(A2_B)
    table = branch.live(newest)
    assert branch.column_names(table) == ["a2 b"]
    plan = branch.plan(table)
    assert (plan.steps, plan.writes_marker) == ((), False)


def test_older_marker_gives_all_revisions_since(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    branch.declare("{name: a3, type: int, renamed_from: a2}, {name: b, type: int}")
    table = branch.live(first)
    assert branch.column_names(table) == ["a b", "a2 b", "a3 b"]
    assert outcome(branch.plan(table)) == ["FieldRenamed a3"]


def test_commits_that_do_not_change_the_declaration_are_skipped(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.repo.write("README.md", "x")
    branch.repo.commit()
    branch.write(A_B, "owner: sales")
    branch.repo.commit()
    branch.declare(A2_B)
    assert branch.column_names(branch.live(first)) == ["a b", "a2 b"]


def test_older_revision_than_the_marker_is_refused(branch: Branch) -> None:
    old = branch.declare(A_B)
    newest = branch.declare(A2_B)
    table = branch.live(newest)
    assert "the table is ahead" in reason(branch.find(table, old))


def test_allow_older_renames_back_and_drops_nothing(branch: Branch) -> None:
    old = branch.declare(A_B)
    newest = branch.declare("{name: a2, type: int, renamed_from: a}, {name: n, type: date}", "dropped: [b]")
    table = branch.live(newest)
    plan = branch.plan(table, old, allow_older=True)
    assert outcome(plan) == ["FieldRenamed a", "FieldAdded b"]
    assert simulate(table.state, plan.steps).columns.get("n") is not None


@pytest.mark.parametrize("merged", ["squash", "rebase"])
def test_revision_applied_before_a_squash_or_rebase_is_found_by_its_hash(branch: Branch, merged: str) -> None:
    first = branch.declare(A_B)
    branch.repo.git("checkout", "--quiet", "-b", "topic")
    branch.declare(A2_B)
    topic = branch.declare(f"{A2_B}, {{name: n, type: date}}")
    table = branch.live(topic)
    branch.repo.git("checkout", "--quiet", "main")
    branch.repo.write("README.md", "x")
    branch.repo.commit()
    if merged == "squash":
        branch.repo.git("merge", "--quiet", "--squash", "topic")
        branch.repo.commit()
    else:
        branch.repo.git("rebase", "--quiet", "main", "topic")
        branch.repo.git("checkout", "--quiet", "main")
        branch.repo.git("merge", "--quiet", "--ff-only", "topic")
    branch.declare(f"{A2_B}, {{name: n2, type: date, renamed_from: n}}")
    assert first != topic
    assert branch.column_names(table) == ["a2 b n", "a2 b n2"]
    assert outcome(branch.plan(table)) == ["FieldRenamed n2"]


def test_marker_of_an_unmerged_branch_is_refused_until_the_base_is_named(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.repo.git("checkout", "--quiet", "-b", "other")
    table = branch.live(branch.declare(A_B_C))
    branch.repo.git("checkout", "--quiet", "main")
    branch.declare(A2_B)
    refused = branch.find(table)
    assert reason(refused) == "the contract applied last is not in the history of this branch"
    assert isinstance(refused, Refusal)
    assert "--base REV" in refused.help
    assert branch.column_names(table, base=first) == ["a b", "a2 b"]


def test_shallow_clone_without_the_commit_suggests_the_fetch_command(branch: Branch, tmp_path: Path) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    shallow = Branch(branch.repo.clone(tmp_path / "clone", "--depth=1"))
    with pytest.raises(MissingHistoryError) as caught:
        shallow.find(branch.live(first))
    assert "git fetch --no-tags --unshallow origin" in caught.value.help


@pytest.mark.parametrize("text", ["--output=x", "a..b", "HEAD:x", "", "^HEAD", "unknown"])
def test_base_that_is_not_a_revision_is_refused(branch: Branch, text: str) -> None:
    branch.declare(A_B)
    with pytest.raises(SchemalintError) as caught:
        resolved_base(branch.revisions().repository, text)
    assert caught.value.exit_status == 2


def test_marker_with_an_unknown_or_missing_revision_is_found_by_its_hash(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    hash_ = declaration_hash(branch.contract(first))
    for marker in (Marker(hash_, "c0ffee" * 6 + "abcd"), Marker(hash_)):
        assert branch.column_names(with_marker(branch.live(first), marker)) == ["a b", "a2 b"]


def test_without_a_marker_the_newest_matching_revision_is_used(branch: Branch) -> None:
    branch.declare(A_B)
    second = branch.declare(A_B_C)
    branch.declare(f"{A2_B}, {{name: c, type: date}}")
    table = branch.live(second, marked=False)
    assert branch.column_names(table) == ["a b c", "a2 b c"]
    assert outcome(branch.plan(table)) == ["FieldRenamed a2"]


def test_without_a_marker_two_matching_revisions_around_a_swap_are_refused(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(SWAPPED)
    branch.declare("{name: a, type: int}, {name: b, type: int}, {name: n, type: date}")
    table = branch.live(first, marked=False)
    assert "with renames in between" in reason(branch.find(table))
    assert branch.column_names(table, base=first)[0] == "a b"


def test_without_a_marker_two_matching_revisions_around_a_recreated_column_are_refused(
    branch: Branch,
) -> None:
    first = branch.declare("{name: a, type: int}, {name: b, type: int}")
    branch.declare(A2_B)
    branch.declare(A_B, "dropped: [a2]")
    branch.declare(A_B_C, "dropped: [a2]")
    table = branch.live(first, marked=False)
    assert "--base REV" in getattr(branch.find(table), "help", "")


def test_without_a_base_columns_match_by_name_and_none_is_renamed_or_dropped(branch: Branch) -> None:
    branch.declare("{name: a, type: bigint}, {name: n, type: date}")
    table = branch.live(branch.declare("{name: a, type: int}, {name: x, type: int}"), marked=False)
    branch.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    assert branch.column_names(table) == []
    assert outcome(branch.plan(table)) == ["FieldAdded n", "TypeChanged a"]


def test_without_a_base_a_rename_and_a_drop_are_refused(branch: Branch) -> None:
    other = branch.declare("{name: a, type: date}, {name: b, type: int}, {name: x, type: int}")
    table = branch.live(other, marked=False)
    branch.repo.git("checkout", "--quiet", "--orphan", "main2")
    branch.declare("{name: a2, type: date, renamed_from: a}, {name: x, type: int}", "dropped: [b]")
    assert branch.column_names(table) == []
    reasons = outcome(branch.plan(table))
    assert "it is unknown whether the rename of a to a2 was applied" in reasons
    assert "it is unknown whether the drop of b was applied" in reasons


def test_renames_of_several_revisions_are_combined_in_order(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(SWAPPED)
    branch.declare("{name: c, type: int, renamed_from: b}, {name: a, type: int}")
    plan = branch.plan(branch.live(first))
    after = simulate(branch.live(first).state, plan.steps).columns
    assert {field.column_id: field.name for field in after.fields} == {1: "c", 2: "a"}


def test_listed_column_is_dropped_only_if_the_base_does_not_list_it(branch: Branch) -> None:
    first = branch.declare(A_B_C)
    listed = branch.declare(A_B, "dropped: [c]")
    assert outcome(branch.plan(branch.live(first))) == ["FieldRemoved c"]
    assert outcome(branch.plan(branch.live(listed))) == []


@pytest.mark.parametrize("entry", ["c", "{column: c, type: date}"])
def test_column_that_the_contract_declares_again_is_dropped_by_another_entry(
    branch: Branch, entry: str
) -> None:
    again = branch.declare(f"{A_B}, {{name: c, type: date}}", "dropped: [{column: c, type: int}]")
    branch.declare(A_B, f"dropped: [{{column: c, type: int}}, {entry}]")
    assert outcome(branch.plan(branch.live(again))) == ["FieldRemoved c"]


def test_column_that_the_contract_declares_again_is_not_dropped_by_the_old_entry(branch: Branch) -> None:
    again = branch.declare(f"{A_B}, {{name: c, type: date}}", "dropped: [{column: c, type: int}]")
    branch.declare(A_B, "dropped: [{column: c, type: int}]")
    assert outcome(branch.plan(branch.live(again))) == ["c is left out"]


def test_dropped_column_that_exists_again_is_drift(branch: Branch) -> None:
    branch.declare(A_B_C)
    listed = branch.declare(A_B, "dropped: [c]")
    branch.declare(f"{A_B}, {{name: n, type: date}}", "dropped: [c]")
    plan = branch.plan(branch.live(listed, more="c"))
    assert outcome(plan) == ["c was dropped, and exists again"]


@pytest.mark.parametrize(
    ("later", "expected"),
    [(A_B_C, []), (A_B, ["c is left out"])],
    ids=["declared again", "neither declared nor listed"],
)
def test_drop_reverted_before_it_was_applied_drops_nothing(
    branch: Branch, later: str, expected: list[str]
) -> None:
    first = branch.declare(A_B_C)
    branch.declare(A_B, "dropped: [c]")
    branch.declare(later)
    assert outcome(branch.plan(branch.live(first))) == expected


def test_undeclared_column_is_dropped_once_it_is_listed(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B, "dropped: [junk]")
    assert outcome(branch.plan(branch.live(first, more="junk other"))) == ["FieldRemoved junk"]


def test_renamed_column_is_not_added_if_the_old_one_is_missing(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    plan = branch.plan(without_field(branch.live(first), "a"), repair=True)
    assert outcome(plan) == ["a2 cannot be added: it is renamed from a, which does not exist"]


def test_column_removed_from_the_contract_without_a_dropped_entry_is_left_out(branch: Branch) -> None:
    first = branch.declare(A_B_C)
    branch.declare(A_B)
    third = branch.declare(f"{A_B}, {{name: n, type: date}}")
    assert outcome(branch.plan(branch.live(first))) == ["c is left out"]
    assert outcome(branch.plan(branch.live(third, more="c"))) == [], "the revision applied last leaves it out"


def test_column_recreated_and_renamed_before_any_apply_is_not_the_dropped_one(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare("{name: a, type: date}, {name: b, type: int}", "dropped: [{column: a, type: int}]")
    branch.declare(
        "{name: n, type: date, renamed_from: a}, {name: b, type: int}", "dropped: [{column: a, type: int}]"
    )
    assert outcome(branch.plan(branch.live(first))) == ["FieldRemoved a", "FieldAdded n"]


def test_column_left_out_and_renamed_later_keeps_its_data(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare("{name: b, type: int}")
    branch.declare("{name: a2, type: int, renamed_from: a}, {name: b, type: int}")
    assert outcome(branch.plan(branch.live(first))) == ["FieldRenamed a2"]


def test_older_revision_may_leave_newer_columns_out(branch: Branch) -> None:
    first = branch.declare(A_B)
    newer = branch.declare(A_B_C)
    assert outcome(branch.plan(branch.live(newer), first, allow_older=True)) == []


@pytest.mark.parametrize(
    ("altered", "name"),
    [
        (lambda table: with_field(table, "b", lambda field: replace(field, comment="theirs")), "b"),
        (lambda table: with_field(table, "b", lambda field: replace(field, type=SHORT)), "b"),
        (lambda table: with_property(table, "team", "theirs"), "team"),
        (
            lambda table: replace(
                table,
                metadata=replace(
                    table.metadata, state=replace(table.state, constraints={"positive": "b > 9"})
                ),
            ),
            "positive",
        ),
        (lambda table: with_field(table, "a", lambda field: replace(field, nullable=False)), "a2"),
    ],
    ids=["comment", "type", "property", "constraint", "renamed"],
)
def test_drift_is_refused_without_repair_and_then_overwritten(
    branch: Branch, altered: Callable[[LiveTable], LiveTable], name: str
) -> None:
    guard = "constraints: {positive: b > 0}"
    first = branch.declare(A_B.replace("b, type: int", 'b, type: int, comment: ""'), guard)
    branch.declare(A2_B.replace("b, type: int", 'b, type: int, comment: ""'), guard)
    table = altered(branch.live(first))
    assert outcome(branch.plan(table)) == [f"{name} matches neither the contract nor what was applied last"]
    repaired = branch.plan(table, repair=True)
    assert repaired.refusals == ()
    assert branch.contract().state.properties["team"] == "x"
    assert simulate(table.state, repaired.steps).properties["team"] == "x"


def test_manual_change_that_the_contract_now_declares_is_no_drift(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B.replace("b, type: int", "b, type: bigint"))
    table = with_field(branch.live(first), "b", lambda field: replace(field, type=LONG))
    assert outcome(branch.plan(table)) == []


def test_missing_column_is_not_added_while_an_undeclared_one_could_be_it(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B_C)
    table = with_field(branch.live(first), "b", lambda field: replace(field, name="b_by_hand"))
    expected = "b is missing, and the undeclared b_by_hand could be it"
    assert expected in outcome(branch.plan(table))
    assert outcome(branch.plan(table, repair=True)) == [expected]
    assert "FieldAdded b" in outcome(branch.plan(without_field(table, "b_by_hand"), repair=True))


def test_removed_rename_is_refused_instead_of_adding_an_empty_column(branch: Branch) -> None:
    """`git revert` produces this contract: the values would stay in the column that it no longer declares."""
    branch.declare(A_B)
    renamed = branch.declare(A2_B)
    branch.declare(A_B, "description: as before")
    expected = "a2 is left out"
    assert outcome(branch.plan(branch.live(renamed))) == [expected]
    assert outcome(branch.plan(branch.live(renamed), repair=True)) == [expected]
    branch.declare(A_B, "description: as before\ndropped: [a2]")
    assert outcome(branch.plan(branch.live(renamed))) == ["FieldRemoved a2", "FieldAdded a"]


def test_rename_applied_on_another_branch_is_refused_instead_of_adding_an_empty_column(
    branch: Branch,
) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    other = branch.repo.git("rev-parse", "HEAD")
    branch.repo.git("checkout", "--quiet", "-b", "another", first)
    branch.declare(A_B_C)
    expected = "a2 is left out"
    assert expected in outcome(branch.plan(branch.live(other, marked=False), base=other))


def test_rename_edited_before_it_was_applied_is_a_single_rename(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    branch.declare("{name: a3, type: int, renamed_from: a}, {name: b, type: int}")
    assert outcome(branch.plan(branch.live(first))) == ["FieldRenamed a3"]


def test_new_column_renamed_before_it_was_applied_is_added(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B_C)
    branch.declare(f"{A_B}, {{name: c2, type: date, renamed_from: c}}")
    assert outcome(branch.plan(branch.live(first))) == ["FieldAdded c2"]


def test_dropped_column_is_not_mistaken_for_the_new_one(branch: Branch) -> None:
    """An interrupted run renamed the column; the newest revision drops it and adds a new one."""
    first = branch.declare(A_B)
    branch.declare("{name: x, type: int, renamed_from: a}, {name: b, type: int}")
    branch.declare(A_B, "dropped: [x]")
    table = with_field(branch.live(first), "a", lambda field: replace(field, name="x"))
    assert outcome(branch.plan(table)) == ["FieldRemoved x", "FieldAdded a"]


def test_interrupted_run_is_no_drift_after_any_statement(branch: Branch) -> None:
    """After each statement, at most the pending note shows that a run was interrupted."""
    first = branch.declare(
        f"{A_B_C}, {{name: u, type: int}}",
        "clustered_by: [c]\nconstraints: {positive: b > 0, known: u IS NOT NULL}",
    )
    branch.declare(
        "{name: a2, type: bigint, renamed_from: a}, {name: b, type: bigint}, {name: d, type: int}",
        "dropped: [c, u]\nclustered_by: [d]\nconstraints: {positive: b > 0, known: null}",
    )
    table = branch.live(first)
    steps = branch.plan(table).steps
    assert StepKind.NOTE_PENDING in {step.kind for step in steps}
    for done in range(1, len(steps) + 1):
        state = simulate(table.state, steps[:done])
        interrupted = replace(table, metadata=replace(table.metadata, state=state))
        rest = branch.plan(interrupted)
        assert rest.refusals == ()
        assert len(rest.steps) == len(steps) - done


def test_interrupted_run_of_an_intermediate_revision_is_no_drift(branch: Branch) -> None:
    first = branch.declare(A_B, "description: one")
    second = branch.declare(A2_B, "description: two")
    branch.declare("{name: a3, type: int, renamed_from: a2}, {name: b, type: int}", "description: three")
    left = branch.marked(branch.live(second, marked=False), first)
    assert outcome(branch.plan(left)) == ["FieldRenamed a3"]


def test_marker_revision_without_a_readable_contract_is_refused_until_the_base_is_named(
    branch: Branch,
) -> None:
    branch.repo.write(branch.file, "schemalint: 1\ntable: [\n")
    first = branch.repo.commit()
    second = branch.declare(A_B)
    branch.declare(A2_B)
    table = with_marker(branch.live(second), Marker("1:ab", first))
    assert reason(branch.find(table)) == "the contract applied last is not in the history of this branch"
    assert branch.column_names(table, base=second) == ["a b", "a2 b"]
    assert reason(branch.find(table, base=first)) == (
        f"Sales.Orders has no readable contract at {first[:12]}, the named base"
    )


def test_branch_without_commits_has_no_last_applied_revision(branch: Branch, tmp_path: Path) -> None:
    table = branch.live(branch.declare(A_B), marked=False)
    unborn = Branch(Repo(tmp_path / "unborn"))
    unborn.write(A2_B)
    repository = open_repository(unborn.repo.path, unborn.repo.env)
    revisions = Revisions(repository, ContractFiles(DEFAULT_GLOBS), "prod", Worktree())
    assert find_last_applied(revisions, counting(branch.contract()), table) == LastApplied(
        (counting(branch.contract()),)
    )
    other = without_field(table, "b")
    assert find_last_applied(revisions, counting(branch.contract()), other) == LastApplied()


def test_swap_begun_by_the_same_declaration_is_finished_by_column_ids(branch: Branch) -> None:
    first = branch.declare(A_B)
    newest = branch.declare(SWAPPED)
    note = Pending(declaration_hash(branch.contract(newest)), {1: ("b",), 2: ("a",)})
    table = with_property(branch.live(first), PENDING, note.to_text())
    halfway = with_field(table, "a", lambda field: replace(field, name="schemalint_1"))
    assert outcome(branch.plan(halfway)) == ["FieldRenamed a", "FieldRenamed b"]


def test_swap_begun_by_an_older_declaration_is_finished_first(branch: Branch) -> None:
    first = branch.declare(A_B)
    second = branch.declare(SWAPPED)
    branch.declare("{name: c, type: int, renamed_from: b}, {name: a, type: int}")
    hash_ = declaration_hash(branch.contract(second))
    table = with_property(branch.live(first), PENDING, Pending(hash_, {1: ("b",), 2: ("a",)}).to_text())
    after = after_interrupted_run(counting(branch.contract()), table)
    assert {field.column_id: field.name for field in after.state.columns.fields} == {1: "b", 2: "a"}
    assert branch.column_names(after) == ["b a", "c a"]
    plan = branch.plan(table)
    assert outcome(plan)[-1] == "FieldRenamed c"
    state = simulate(table.state, plan.steps)
    assert {field.column_id: field.name for field in state.columns.fields} == {1: "c", 2: "a"}


def test_interrupted_run_that_would_drop_all_columns_is_refused(branch: Branch) -> None:
    first = branch.declare("{name: b, type: int}")
    second = branch.declare("{name: c, type: date}", "dropped: [b]")
    branch.declare("{name: c, type: date}", "dropped: [b]\ndescription: three")
    note = Pending(declaration_hash(branch.contract(second)), {1: None})
    plan = branch.plan(with_property(branch.live(first), PENDING, note.to_text()))
    assert outcome(plan) == ["an interrupted run of another revision drops all columns of the table"]


def test_swap_begun_on_an_unmerged_branch_is_finished_by_column_ids(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    note = Pending("1:of no revision", {1: ("b",), 2: ("a",)})
    table = with_property(branch.live(first), PENDING, note.to_text())
    begun = after_interrupted_run(counting(branch.contract()), table)
    assert {field.column_id: field.name for field in begun.state.columns.fields} == {1: "b", 2: "a"}
    assert reason(branch.find(begun)) == "the contract applied last is not in the history of this branch"
    assert outcome(branch.plan(table, base=first))[-1] == "FieldRenamed a2"


def test_finishing_an_older_swap_keeps_clustering_on_the_same_column(branch: Branch) -> None:
    first = branch.declare(A_B, "clustered_by: [a]")
    second = branch.declare(SWAPPED, "clustered_by: [b]")
    branch.declare(SWAPPED, "clustered_by: [b]\ndescription: three")
    hash_ = declaration_hash(branch.contract(second))
    table = with_property(branch.live(first), PENDING, Pending(hash_, {1: ("b",), 2: ("a",)}).to_text())
    plan = branch.plan(table)
    assert plan.steps
    assert StepKind.CLUSTER not in {step.kind for step in plan.steps}
    assert simulate(table.state, plan.steps).clustered_by == (("b",),)


def test_unreadable_pending_note_is_an_error(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    with pytest.raises(LiveError):
        branch.find(with_property(branch.live(first), PENDING, "{}"))


def test_commits_without_contract_changes_start_no_git_process(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = branch.live(branch.declare(A_B))
    branch.declare(A2_B)
    baseline = processes(branch, table, monkeypatch)
    for number in range(10):
        branch.repo.write("README.md", str(number))
        branch.repo.commit()
    assert processes(branch, table, monkeypatch) == baseline


def test_each_contract_revision_starts_at_most_three_git_processes(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = branch.live(branch.declare(A_B))
    branch.declare(A2_B)
    baseline = processes(branch, table, monkeypatch)
    for number in range(10):
        branch.declare(A2_B, f"owner: team{number}")
    assert processes(branch, table, monkeypatch) <= baseline + 10 * 3


def processes(branch: Branch, table: LiveTable, monkeypatch: pytest.MonkeyPatch) -> int:
    """Count the git processes that `find_last_applied` starts."""
    revisions, contract, started = branch.revisions(), branch.contract(), 0
    original = subprocess.Popen.__init__

    def counted(self: object, *args: object, **kwargs: object) -> None:
        nonlocal started
        started += 1
        original(self, *args, **kwargs)  # type: ignore[call-overload]

    with monkeypatch.context() as patched:
        patched.setattr(subprocess.Popen, "__init__", counted)
        assert isinstance(find_last_applied(revisions, counting(contract), table), LastApplied)
    assert started
    return started


def test_what_a_drop_of_a_feature_sets_is_no_drift(branch: Branch) -> None:
    """The first of its commits sets them (PreDowngradeTableFeatureCommand.scala), and they may stay."""
    head = "schemalint: 1\ntable: Sales.Orders\ncolumns: [{name: a, type: int}]\n"
    tracked, policy = "delta.enableRowTracking", "delta.checkpointPolicy"
    branch.repo.write(branch.file, f"{head}properties: {{{tracked}: true, {policy}: v2}}\n")
    first = branch.repo.commit()
    changed = f"properties: {{{tracked}: null, {policy}: null}}\ndrop_features: [rowTracking, v2Checkpoint]\n"
    branch.repo.write(branch.file, head + changed)
    branch.repo.commit()
    live = branch.live(first)
    live = replace(live, protocol=Protocol(3, 7, writer_features=live.state.features - {"v2Checkpoint"}))
    by_hand = with_property(with_property(live, tracked, "false"), policy, "classic")

    begun = branch.plan(with_property(by_hand, "delta.rowTrackingSuspended", "true"))

    assert begun.refusals == ()
    assert [step.kind for step in begun.steps] == [StepKind.UNSET_PROPERTIES, StepKind.DROP_FEATURE]
    assert len(branch.plan(by_hand).refusals) == 1
