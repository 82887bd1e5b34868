"""What was applied last: real branches, and tables as runs left them."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

import pytest

from schemalint.contract.revisions import Revisions
from schemalint.delta.datatype import LONG, SHORT, Field, map_fields
from schemalint.delta.path import format_path
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.deploy.last_applied import LastApplied, drift, find_last_applied
from schemalint.errors import LiveError, UsageError
from schemalint.git import DEFAULT_GLOBS, MissingHistoryError, Revision, Worktree, open_repository, resolve
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.marker import MARKER, PENDING, Marker, Pending, declaration_hash
from schemalint.model.plan import Refusal, StepKind, TablePlan
from schemalint.planner import PlanOptions, plan_table, simulate
from schemalint.values import replace
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = "sales.orders"
A_B = "{name: a, type: int}, {name: b, type: int}"
A_B_C = f"{A_B}, {{name: c, type: date}}"
A2_B = "{name: a2, type: int, renamed_from: a}, {name: b, type: int}"
SWAPPED = "{name: b, type: int, renamed_from: a}, {name: a, type: int, renamed_from: b}"


@dataclass
class Branch:
    """A repository with one contract, and what its revisions make of a table."""

    repo: Repo
    file: str = "orders.yml"

    def declare(self, columns: str, more: str = "") -> str:
        """The commit with these columns; the properties switch column mapping and type widening on."""
        self.write(columns, more)
        return self.repo.commit()

    def write(self, columns: str, more: str = "") -> None:
        properties = "properties: {delta.columnMapping.mode: name, delta.enableTypeWidening: true, team: x}"
        text = f"schemalint: 1\ntable: Sales.Orders\ncolumns: [{columns}]\n{properties}\n{more}\n"
        self.repo.write(self.file, text)

    def revisions(self, head: str = "HEAD") -> Revisions:
        repository = open_repository(self.repo.path, self.repo.env)
        commit = resolve(repository, head)
        return Revisions(repository, DEFAULT_GLOBS, "prod", Revision(commit, commit, "head"))

    def contract(self, commit: str = "HEAD") -> Contract:
        revisions = self.revisions(commit)
        found = revisions.at(revisions.tip, KEY)
        assert found is not None
        return found

    def live(self, commit: str, *, marked: bool = True, more: str = "") -> LiveTable:
        """The table as a run of that revision left it; with other columns that nobody declares."""
        contract = self.contract(commit)
        state, ids = created_state(contract.state), count(1)
        extra = tuple(Field(name, contract.state.columns.fields[0].type) for name in more.split())
        columns = replace(state.columns, fields=(*state.columns.fields, *extra))
        state = replace(
            state,
            columns=map_fields(columns, lambda _path, field: replace(field, column_id=next(ids))),
            features=contract.created_features,
        )
        table = LiveTable("/lake/orders", 3, Protocol(3, 7), Metadata("id", state))
        return self.marked(table, commit) if marked else table

    def marked(self, table: LiveTable, commit: str, table_id: str = "id") -> LiveTable:
        marker = Marker(declaration_hash(self.contract(commit)), commit, table_id)
        return with_property(table, MARKER, marker.to_text())

    def find(
        self, table: LiveTable, head: str = "HEAD", *, base: str | None = None, allow_older: bool = False
    ) -> LastApplied | Refusal:
        revisions = self.revisions(head)
        return find_last_applied(revisions, self.contract(head), table, base=base, allow_older=allow_older)

    def known(self, table: LiveTable, head: str = "HEAD", *, base: str | None = None) -> list[str]:
        """The names of the columns in each revision of the last_applied."""
        found = self.find(table, head, base=base)
        assert isinstance(found, LastApplied)
        return [" ".join(field.name for field in one.state.columns.fields) for one in found.revisions]

    def plan(
        self,
        table: LiveTable,
        head: str = "HEAD",
        *,
        base: str | None = None,
        allow_older: bool = False,
        repair: bool = False,
    ) -> TablePlan:
        """As `deploy` makes it."""
        contract = self.contract(head)
        found = self.find(table, head, base=base, allow_older=allow_older)
        assert isinstance(found, LastApplied), found
        options = PlanOptions(found.tracking(table.state.columns))
        obstacles = tuple(drift(contract, found, table, options, repair=repair))
        plan = plan_table(contract, table, table.uri, options=options)
        return replace(plan, refusals=(*obstacles, *plan.refusals))


def with_property(table: LiveTable, key: str, value: str) -> LiveTable:
    state = replace(table.state, properties={**table.state.properties, key: value})
    return replace(table, metadata=replace(table.metadata, state=state))


def with_field(table: LiveTable, name: str, update: Callable[[Field], Field]) -> LiveTable:
    """The table with a column altered by hand."""
    fields = tuple(update(one) if one.name == name else one for one in table.state.columns.fields)
    state = replace(table.state, columns=replace(table.state.columns, fields=fields))
    return replace(table, metadata=replace(table.metadata, state=state))


def without_field(table: LiveTable, name: str) -> LiveTable:
    fields = tuple(one for one in table.state.columns.fields if one.name != name)
    state = replace(table.state, columns=replace(table.state.columns, fields=fields))
    return replace(table, metadata=replace(table.metadata, state=state))


def said(plan: TablePlan) -> list[str]:
    """What is done to columns, or why nothing is."""
    if plan.refusals:
        return [one.reason for one in plan.refusals]
    return [
        f"{type(one).__name__} {format_path(path)}"
        for step in plan.steps
        for one in step.changes
        if (path := getattr(one, "path", None)) is not None
    ]


def reason(found: LastApplied | Refusal) -> str:
    assert isinstance(found, Refusal), found
    return found.reason


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(Repo(tmp_path / "repository"))


def test_what_the_marker_names_is_done(branch: Branch) -> None:
    branch.declare(A_B)
    newest = branch.declare(A2_B)
    table = branch.live(newest)
    assert branch.known(table) == ["a2 b"]
    plan = branch.plan(table)
    assert (plan.steps, plan.record) == ((), False)


def test_a_marker_behind_gives_the_revisions_since(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    branch.declare("{name: a3, type: int, renamed_from: a2}, {name: b, type: int}")
    table = branch.live(first)
    assert branch.known(table) == ["a b", "a2 b", "a3 b"]
    assert said(branch.plan(table)) == ["FieldRenamed a3"]


def test_revisions_in_between_that_do_not_touch_the_contract_do_not_count(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.repo.write("README.md", "x")
    branch.repo.commit()
    branch.write(A_B, "owner: sales")
    branch.repo.commit()
    branch.declare(A2_B)
    assert branch.known(branch.live(first)) == ["a b", "a2 b"]


def test_an_old_job_that_runs_again_is_behind_the_table(branch: Branch) -> None:
    old = branch.declare(A_B)
    newest = branch.declare(A2_B)
    table = branch.live(newest)
    assert "the table is ahead" in reason(branch.find(table, old))


def test_a_way_back_that_is_allowed_renames_back_and_drops_nothing(branch: Branch) -> None:
    old = branch.declare(A_B)
    newest = branch.declare("{name: a2, type: int, renamed_from: a}, {name: n, type: date}", "dropped: [b]")
    table = branch.live(newest)
    plan = branch.plan(table, old, allow_older=True)
    assert said(plan) == ["FieldRenamed a", "FieldAdded b"]
    assert simulate(table.state, plan.steps).columns.get("n") is not None


@pytest.mark.parametrize("merged", ["squash", "rebase"])
def test_what_was_applied_on_a_branch_is_found_by_its_hash(branch: Branch, merged: str) -> None:
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
    assert branch.known(table) == ["a2 b n", "a2 b n2"]
    assert said(branch.plan(table)) == ["FieldRenamed n2"]


def test_a_branch_of_its_own_is_refused_until_the_base_is_named(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.repo.git("checkout", "--quiet", "-b", "other")
    table = branch.live(branch.declare(A_B_C))
    branch.repo.git("checkout", "--quiet", "main")
    branch.declare(A2_B)
    refused = branch.find(table)
    assert reason(refused) == "what was applied last is no revision of this branch"
    assert isinstance(refused, Refusal)
    assert "--base REV" in refused.help
    assert branch.known(table, base=first) == ["a b", "a2 b"]


def test_a_shallow_clone_that_lacks_the_commit_names_the_fetch(branch: Branch, tmp_path: Path) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    shallow = Branch(branch.repo.clone(tmp_path / "clone", "--depth=1"))
    with pytest.raises(MissingHistoryError) as caught:
        shallow.find(branch.live(first))
    assert "git fetch --no-tags --unshallow origin" in caught.value.help


@pytest.mark.parametrize("text", ["--output=x", "a..b", "HEAD:x", "", "^HEAD"])
def test_a_base_must_look_like_a_revision(branch: Branch, text: str) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    with pytest.raises(UsageError):
        branch.find(branch.live(first), base=text)


def test_a_marker_whose_revision_is_none_of_gits_is_found_by_its_hash(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    hash_ = declaration_hash(branch.contract(first))
    for text in (Marker(hash_, "c0ffee" * 6 + "abcd", "id").to_text(), Marker(hash_, None, "id").to_text()):
        assert branch.known(with_property(branch.live(first), MARKER, text)) == ["a b", "a2 b"]


def test_without_a_marker_it_is_the_newest_revision_that_the_table_equals(branch: Branch) -> None:
    branch.declare(A_B)
    second = branch.declare(A_B_C)
    branch.declare(f"{A2_B}, {{name: c, type: date}}")
    table = branch.live(second, marked=False)
    assert branch.known(table) == ["a b c", "a2 b c"]
    assert said(branch.plan(table)) == ["FieldRenamed a2"]


def test_without_a_marker_two_revisions_with_a_swap_between_are_refused(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(SWAPPED)
    branch.declare("{name: a, type: int}, {name: b, type: int}, {name: n, type: date}")
    table = branch.live(first, marked=False)
    assert "with renames in between" in reason(branch.find(table))
    assert branch.known(table, base=first)[0] == "a b"


def test_without_a_marker_two_revisions_with_a_remade_name_between_are_refused(branch: Branch) -> None:
    first = branch.declare("{name: a, type: int}, {name: b, type: int}")
    branch.declare(A2_B)
    branch.declare(A_B, "dropped: [a2]")
    branch.declare(A_B_C, "dropped: [a2]")
    table = branch.live(first, marked=False)
    assert "--base REV" in getattr(branch.find(table), "help", "")


def test_without_any_base_names_decide_and_nothing_is_renamed_or_dropped(branch: Branch) -> None:
    branch.declare("{name: a, type: bigint}, {name: n, type: date}")
    table = branch.live(branch.declare("{name: a, type: int}, {name: x, type: int}"), marked=False)
    branch.repo.git("reset", "--quiet", "--hard", "HEAD~1")
    assert branch.known(table) == []
    assert said(branch.plan(table)) == ["FieldAdded n", "TypeChanged a"]


def test_without_any_base_a_rename_and_a_drop_are_refused_by_name(branch: Branch) -> None:
    other = branch.declare("{name: a, type: date}, {name: b, type: int}, {name: x, type: int}")
    table = branch.live(other, marked=False)
    branch.repo.git("checkout", "--quiet", "--orphan", "main2")
    branch.declare("{name: a2, type: date, renamed_from: a}, {name: x, type: int}", "dropped: [b]")
    assert branch.known(table) == []
    reasons = said(branch.plan(table))
    assert "whether a2 is a renamed cannot be told" in reasons
    assert "whether b is to be dropped cannot be told" in reasons


def test_renames_of_several_revisions_are_composed_in_order(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(SWAPPED)
    branch.declare("{name: c, type: int, renamed_from: b}, {name: a, type: int}")
    plan = branch.plan(branch.live(first))
    after = simulate(branch.live(first).state, plan.steps).columns
    assert {field.column_id: field.name for field in after.fields} == {1: "c", 2: "a"}


def test_a_deletion_acts_only_where_the_base_does_not_list_it(branch: Branch) -> None:
    first = branch.declare(A_B_C)
    listed = branch.declare(A_B, "dropped: [c]")
    assert said(branch.plan(branch.live(first))) == ["FieldRemoved c"]
    assert said(branch.plan(branch.live(listed))) == []


def test_a_dropped_column_that_is_there_again_is_drift(branch: Branch) -> None:
    branch.declare(A_B_C)
    listed = branch.declare(A_B, "dropped: [c]")
    branch.declare(f"{A_B}, {{name: n, type: date}}", "dropped: [c]")
    plan = branch.plan(branch.live(listed, more="c"))
    assert said(plan) == ["c was dropped, and is there again"]


@pytest.mark.parametrize("later", [A_B_C, A_B], ids=["declared again", "neither declared nor listed"])
def test_a_deletion_that_is_taken_back_before_it_was_applied_drops_nothing(
    branch: Branch, later: str
) -> None:
    first = branch.declare(A_B_C)
    branch.declare(A_B, "dropped: [c]")
    branch.declare(later)
    assert said(branch.plan(branch.live(first))) == []


def test_an_undeclared_column_goes_where_it_is_listed_anew(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B, "dropped: [junk]")
    assert said(branch.plan(branch.live(first, more="junk other"))) == ["FieldRemoved junk"]


def test_a_column_that_is_renamed_is_never_added(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    plan = branch.plan(without_field(branch.live(first), "a"), repair=True)
    assert said(plan) == ["a2 cannot be added: it is a renamed, and that is not there"]


def test_a_column_of_the_base_in_neither_list_is_never_dropped(branch: Branch) -> None:
    first = branch.declare(A_B_C)
    branch.declare(A_B)
    plan = branch.plan(branch.live(first))
    assert (said(plan), plan.record) == ([], True)


@pytest.mark.parametrize(
    ("altered", "name"),
    [
        (lambda table: with_field(table, "b", lambda one: replace(one, comment="theirs")), "b"),
        (lambda table: with_field(table, "b", lambda one: replace(one, type=SHORT)), "b"),
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
        (lambda table: with_field(table, "a", lambda one: replace(one, nullable=False)), "a2"),
    ],
    ids=["comment", "type", "property", "constraint", "renamed"],
)
def test_what_somebody_altered_stops_until_it_is_repaired(
    branch: Branch, altered: Callable[[LiveTable], LiveTable], name: str
) -> None:
    guard = "constraints: {positive: b > 0}"
    first = branch.declare(A_B.replace("b, type: int", 'b, type: int, comment: ""'), guard)
    branch.declare(A2_B.replace("b, type: int", 'b, type: int, comment: ""'), guard)
    table = altered(branch.live(first))
    assert said(branch.plan(table)) == [f"{name} is neither as declared nor as it was applied last"]
    repaired = branch.plan(table, repair=True)
    assert repaired.refusals == ()
    assert branch.contract().state.properties["team"] == "x"
    assert simulate(table.state, repaired.steps).properties["team"] == "x"


def test_an_alteration_that_is_declared_meanwhile_is_no_drift(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B.replace("b, type: int", "b, type: bigint"))
    table = with_field(branch.live(first), "b", lambda one: replace(one, type=LONG))
    assert said(branch.plan(table)) == []


def test_a_missing_column_is_not_made_while_another_could_be_it(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B_C)
    table = with_field(branch.live(first), "b", lambda one: replace(one, name="b_by_hand"))
    expected = "b is gone, and b_by_hand, which nobody declares, could be it"
    assert expected in said(branch.plan(table))
    assert said(branch.plan(table, repair=True)) == [expected]
    assert "FieldAdded b" in said(branch.plan(without_field(table, "b_by_hand"), repair=True))


def test_a_rename_that_is_merely_taken_out_again_makes_no_empty_column(branch: Branch) -> None:
    """As `git revert` leaves it: the values would stay under the name that nobody declares any more."""
    branch.declare(A_B)
    renamed = branch.declare(A2_B)
    branch.declare(A_B, "description: as before")
    expected = "a would be added, and a2, which is declared no longer, could be it"
    assert said(branch.plan(branch.live(renamed))) == [expected]
    assert said(branch.plan(branch.live(renamed), repair=True)) == [expected]
    branch.declare(A_B, "description: as before\ndropped: [a2]")
    assert said(branch.plan(branch.live(renamed))) == ["FieldRemoved a2", "FieldAdded a"]


def test_what_is_applied_on_a_branch_is_not_left_under_its_name_there(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    other = branch.repo.git("rev-parse", "HEAD")
    branch.repo.git("checkout", "--quiet", "-b", "another", first)
    branch.declare(A_B_C)
    expected = "a would be added, and a2, which is declared no longer, could be it"
    assert expected in said(branch.plan(branch.live(other, marked=False), base=other))


def test_a_rename_that_is_edited_before_it_is_applied_is_one(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    branch.declare("{name: a3, type: int, renamed_from: a}, {name: b, type: int}")
    assert said(branch.plan(branch.live(first))) == ["FieldRenamed a3"]


def test_a_column_that_is_new_and_renamed_before_it_is_applied_is_new(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A_B_C)
    branch.declare(f"{A_B}, {{name: c2, type: date, renamed_from: c}}")
    assert said(branch.plan(branch.live(first))) == ["FieldAdded c2"]


def test_a_column_that_goes_is_not_taken_for_the_one_that_is_made(branch: Branch) -> None:
    """An older run renamed it before it was cut short; the newest revision drops it, and makes another."""
    first = branch.declare(A_B)
    branch.declare("{name: x, type: int, renamed_from: a}, {name: b, type: int}")
    branch.declare(A_B, "dropped: [x]")
    table = with_field(branch.live(first), "a", lambda one: replace(one, name="x"))
    assert said(branch.plan(table)) == ["FieldRemoved x", "FieldAdded a"]


def test_a_run_that_was_cut_short_is_no_drift(branch: Branch) -> None:
    """Whatever the last statement was: nothing but the note, if there is one, tells what was going on."""
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
    assert StepKind.NOTE_PENDING in {one.kind for one in steps}
    for done in range(1, len(steps) + 1):
        state = simulate(table.state, steps[:done])
        cut = replace(table, metadata=replace(table.metadata, state=state))
        rest = branch.plan(cut)
        assert rest.refusals == ()
        assert len(rest.steps) == len(steps) - done


def test_a_run_of_a_revision_in_between_that_was_cut_short_is_no_drift(branch: Branch) -> None:
    first = branch.declare(A_B, "description: one")
    second = branch.declare(A2_B, "description: two")
    branch.declare("{name: a3, type: int, renamed_from: a2}, {name: b, type: int}", "description: three")
    left = branch.marked(branch.live(second, marked=False), first)
    assert said(branch.plan(left)) == ["FieldRenamed a3"]


def test_a_clone_is_not_taken_for_its_source(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    source = branch.live(first)
    other = branch.marked(source, branch.repo.head(), table_id="another")
    assert branch.known(other) == ["a b", "a2 b"], "by what it is, not by the marker of its source"


@pytest.mark.parametrize("there", ["schemalint: 1\ntable: other\ncolumns: []\n", "schemalint: 1\ntable: [\n"])
def test_a_base_without_a_readable_contract_is_none(branch: Branch, there: str) -> None:
    branch.repo.write(branch.file, there)
    first = branch.repo.commit()
    newest = branch.declare(A_B)
    table = branch.live(newest)
    marker = Marker("1:another", first, "id").to_text()
    assert branch.known(with_property(table, MARKER, marker)) == []


def test_an_unborn_branch_has_no_revisions(branch: Branch, tmp_path: Path) -> None:
    table = branch.live(branch.declare(A_B), marked=False)
    unborn = Branch(Repo(tmp_path / "unborn"))
    unborn.write(A2_B)
    repository = open_repository(unborn.repo.path, unborn.repo.env)
    revisions = Revisions(repository, DEFAULT_GLOBS, "prod", Worktree())
    found = find_last_applied(revisions, branch.contract(), table)
    assert found == LastApplied()


def test_what_this_declaration_began_is_finished_by_ids(branch: Branch) -> None:
    first = branch.declare(A_B)
    newest = branch.declare(SWAPPED)
    note = Pending(declaration_hash(branch.contract(newest)), {1: ("b",), 2: ("a",)})
    table = with_property(branch.live(first), PENDING, note.to_text())
    halfway = with_field(table, "a", lambda one: replace(one, name="schemalint_1"))
    assert said(branch.plan(halfway)) == ["FieldRenamed a", "FieldRenamed b"]


def test_what_another_declaration_began_is_finished_first(branch: Branch) -> None:
    first = branch.declare(A_B)
    second = branch.declare(SWAPPED)
    branch.declare("{name: c, type: int, renamed_from: b}, {name: a, type: int}")
    hash_ = declaration_hash(branch.contract(second))
    table = with_property(branch.live(first), PENDING, Pending(hash_, {1: ("b",), 2: ("a",)}).to_text())
    plan = branch.plan(table)
    assert plan.again
    state = simulate(table.state, plan.steps)
    assert {one.column_id: one.name for one in state.columns.fields} == {1: "b", 2: "a"}
    after = replace(table, metadata=replace(table.metadata, state=state))
    assert branch.known(after) == ["b a", "c a"]
    assert said(branch.plan(after)) == ["FieldRenamed c"]


def test_what_would_leave_a_table_without_columns_waits_for_its_own_revision(branch: Branch) -> None:
    first = branch.declare("{name: b, type: int}")
    second = branch.declare("{name: c, type: date}", "dropped: [b]")
    branch.declare("{name: c, type: date}", "dropped: [b]\ndescription: three")
    note = Pending(declaration_hash(branch.contract(second)), {1: None})
    plan = branch.plan(with_property(branch.live(first), PENDING, note.to_text()))
    assert said(plan) == ["another revision was being applied, by which all of the table was to go"]


def test_what_a_branch_of_its_own_began_is_finished_by_ids(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    note = Pending("1:of no revision", {1: ("b",), 2: ("a",)})
    plan = branch.plan(with_property(branch.live(first), PENDING, note.to_text()))
    assert (plan.again, plan.refusals) == (True, ())


def test_clustering_follows_the_names_that_another_declaration_began(branch: Branch) -> None:
    first = branch.declare(A_B, "clustered_by: [a]")
    second = branch.declare(SWAPPED, "clustered_by: [b]")
    branch.declare(SWAPPED, "clustered_by: [b]\ndescription: three")
    hash_ = declaration_hash(branch.contract(second))
    table = with_property(branch.live(first), PENDING, Pending(hash_, {1: ("b",), 2: ("a",)}).to_text())
    plan = branch.plan(table)
    assert plan.again
    assert StepKind.CLUSTER not in {one.kind for one in plan.steps}
    assert simulate(table.state, plan.steps).clustered_by == (("b",),)


def test_a_note_that_nobody_understands_stops(branch: Branch) -> None:
    first = branch.declare(A_B)
    branch.declare(A2_B)
    with pytest.raises(LiveError):
        branch.find(with_property(branch.live(first), PENDING, "{}"))


def test_commits_beside_the_contracts_take_no_git_process(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = branch.live(branch.declare(A_B))
    branch.declare(A2_B)
    few = processes(branch, table, monkeypatch)
    for number in range(10):
        branch.repo.write("README.md", str(number))
        branch.repo.commit()
    assert processes(branch, table, monkeypatch) == few


def test_a_long_history_of_contracts_takes_few_git_processes_for_each(
    branch: Branch, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = branch.live(branch.declare(A_B))
    branch.declare(A2_B)
    few = processes(branch, table, monkeypatch)
    for number in range(10):
        branch.declare(A2_B, f"owner: team{number}")
    assert processes(branch, table, monkeypatch) <= few + 10 * 3


def processes(branch: Branch, table: LiveTable, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many git processes it takes to find a last_applied."""
    revisions, contract, started = branch.revisions(), branch.contract(), 0
    original = subprocess.Popen.__init__

    def counted(self: object, *args: object, **kwargs: object) -> None:
        nonlocal started
        started += 1
        original(self, *args, **kwargs)  # type: ignore[call-overload]

    with monkeypatch.context() as patched:
        patched.setattr(subprocess.Popen, "__init__", counted)
        assert isinstance(find_last_applied(revisions, contract, table), LastApplied)
    assert started
    return started
