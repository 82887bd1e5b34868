"""For generated histories of a contract, the plan leads to the declaration, and no column is mixed up.

``SCHEMALINT_PLAN_EXAMPLES=5000`` tries 5000 histories.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from schemalint.base.values import replace
from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import BOOLEAN, UNMANAGED, Field, Struct, walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import lowercased
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.deploy.last_applied import LastApplied, drift
from schemalint.deploy.matching_revision import matching_revision
from schemalint.model.contract import Contract
from schemalint.model.effective import Effective
from schemalint.model.marker import declaration_hash, read_pending
from schemalint.model.table_plan import Refusal, TablePlan
from schemalint.planner import PlanOptions, after_interrupted_run, pending_changes, plan_table, simulate
from support.delta_model import Delta
from support.effective import counting
from support.history_strategies import TableHistory, live_table, paths_by_identity, table_histories

EXAMPLES = int(os.environ.get("SCHEMALINT_PLAN_EXAMPLES", "60"))
LOCATION = "/lake/orders"
# Delta has no struct without fields, not even between two statements.
EMPTY_STRUCT_REFUSAL = "an interrupted run of another revision drops all columns of"
UNMANAGED_COLUMN = Field(
    "",
    BOOLEAN,
    comment=UNMANAGED,
    default=UNMANAGED,
    generated=UNMANAGED,
    identity=UNMANAGED,
    type_changes=UNMANAGED,
)
# The test suite always uses the same examples, unless the environment asks for another number.
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="SCHEMALINT_PLAN_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
    report_multiple_bugs=False,
)


@dataclass
class Deployment:
    """Runs on one table, as `apply` makes them; each may be interrupted.

    Attributes:
        delta: A model of the live table, which runs the steps.
        reorder: Whether the plans move columns to their declared positions.
        may_refuse: Whether to discard examples whose plan is refused.
        since: The revisions since the last apply; None for all.
    """

    history: TableHistory
    delta: Delta = field(init=False)
    reorder: bool = False
    may_refuse: bool = False
    since: tuple[Effective, ...] | None = None

    def __post_init__(self) -> None:
        self.delta = Delta(self.history.live.state)

    @property
    def live(self) -> LiveTable:
        live, state = self.history.live, self.delta.state
        protocol = replace(live.protocol, writer_features=state.features)
        return replace(live, protocol=protocol, metadata=replace(live.metadata, state=state))

    def plan(self, contract: Contract) -> TablePlan:
        """Plan as `deploy` does: by the pending note if there is one, else by all revisions so far."""
        begun = after_interrupted_run(counting(contract), self.live)
        last_applied = self.last_applied(contract, begun.state)
        options = PlanOptions(last_applied.tracking(begun.state.columns), reorder=self.reorder)
        plan = plan_table(counting(contract), self.live, LOCATION, options=options)
        reasons = [refusal.reason for refusal in plan.refusals]
        assume(not any(EMPTY_STRUCT_REFUSAL in reason for reason in reasons))
        assume(not (self.may_refuse and plan.refusals))
        assert not _has_illegal_type_change(plan)
        assert plan.refusals == ()
        assert list(drift(counting(contract), last_applied, begun, options, repair=False)) == []
        return plan

    def last_applied(self, contract: Contract, live: TableState) -> LastApplied:
        # Identity, because two revisions may be equal, with others in between.
        (index,) = (number for number, revision in enumerate(self.history.revisions) if revision is contract)
        revisions = tuple(map(counting, self.history.revisions[: index + 1]))
        note = read_pending(live)
        if note is None:
            return LastApplied(self.since or revisions)
        if note.targets or note.hash == declaration_hash(contract):
            return LastApplied((counting(contract),), judges_drift=False)
        hashes = [declaration_hash(revision) for revision in revisions]
        return LastApplied(revisions[hashes.index(note.hash) :], judges_drift=False)

    def run(self, contract: Contract, *, statements: int | None = None) -> int:
        """Run all statements, or only the first ones, and return their number."""
        steps = self.plan(contract).steps[:statements]
        for step in steps:
            self.delta.run(step)
        return len(steps)

    def assert_applied(self) -> None:
        """Assert that the declaration holds, and that all columns but the dropped ones are in place."""
        history, state = self.history, self.delta.state
        assert pending_changes(counting(history.contract), state) == ()
        assert [step.sql for step in self.plan(history.contract).steps] == []
        after, declared = paths_by_identity(state.columns), paths_by_identity(history.contract.state.columns)
        before = paths_by_identity(history.live.state.columns)
        dropped_paths = [path for identity, path in before.items() if identity in history.dropped_identities]
        dropped_identities = {
            identity
            for identity, path in before.items()
            if any(path[: len(dropped)] == dropped for dropped in dropped_paths)
        }
        assert before.keys() - after.keys() == dropped_identities
        for identity in before.keys() - dropped_identities:
            if identity in declared:
                assert lowercased(after[identity]) == lowercased(declared[identity])
            else:
                assert after[identity][-1] == before[identity][-1]
        assert state.properties["theirs"] == "1"
        assert ("theirs" in state.constraints) == ("theirs" in history.live.state.constraints)


@given(table_histories())
@SETTINGS
def test_running_the_plan_leads_to_the_declaration_as_simulated(history: TableHistory) -> None:
    deployment = Deployment(history)
    plan = deployment.plan(history.contract)
    deployment.run(history.contract)
    deployment.assert_applied()
    simulated = simulate(history.live.state, plan.steps)
    assert diff(_plain(simulated), _plain(deployment.delta.state)) == ()


@pytest.mark.wide
@given(table_histories())
@SETTINGS
def test_reorder_moves_columns_to_their_declared_positions(history: TableHistory) -> None:
    deployment = Deployment(history, reorder=True)
    deployment.run(history.contract)
    deployment.assert_applied()
    live_paths = paths_by_identity(deployment.delta.state.columns).values()
    declared = [lowercased(path) for path, _field in walk_fields(history.contract.state.columns)]
    assert [lowercased(path) for path in live_paths if lowercased(path) in declared] == declared


@pytest.mark.wide
@given(table_histories(), st.data())
@SETTINGS
def test_interrupted_run_is_finished_by_the_next(history: TableHistory, data: st.DataObject) -> None:
    undisturbed = Deployment(history)
    steps = undisturbed.run(history.contract)
    deployment = Deployment(history)
    for _ in range(2):
        deployment.run(history.contract, statements=data.draw(st.integers(0, steps)))
    deployment.run(history.contract)
    deployment.assert_applied()
    assert sorted(_shape(deployment.delta.state)) == sorted(_shape(undisturbed.delta.state))


@pytest.mark.wide
@given(table_histories(), st.data())
@SETTINGS
def test_interrupted_run_of_an_older_revision_does_not_stop_the_newest(
    history: TableHistory, data: st.DataObject
) -> None:
    older = history.revisions[data.draw(st.integers(0, len(history.revisions) - 2))]
    deployment = Deployment(history, may_refuse=True)  # names of three revisions can be ambiguous
    deployment.run(older, statements=data.draw(st.integers(0, 8)))
    deployment.run(history.contract)
    deployment.assert_applied()


@given(table_histories(), st.data())
@SETTINGS
def test_without_a_marker_the_table_tells_its_revision_or_is_refused(
    history: TableHistory, data: st.DataObject
) -> None:
    history = _with_swap(history, data.draw(st.integers(0, len(history.revisions) - 1)))
    earlier = data.draw(st.sampled_from(history.revisions))
    deployment = Deployment(history)
    deployment.run(earlier)
    named = [(str(number), counting(revision)) for number, revision in enumerate(history.revisions)]
    found = matching_revision(reversed(named), deployment.delta.state)
    event("refused" if isinstance(found, Refusal) else "found" if found[0] is earlier else "found newer")
    if isinstance(found, Refusal):
        return
    assert found, "a table equals the revision that was applied to it"
    deployment.since = found
    deployment.run(history.contract)
    deployment.assert_applied()


def _with_swap(history: TableHistory, number: int) -> TableHistory:
    """Return the history with two more columns, and one more revision that swaps them if it is mapped."""
    is_mapped = history.revisions[number].state.column_mapping != "none"
    before = (_with_pair(revision, swapped=False) for revision in history.revisions[: number + 1])
    after = (_with_pair(revision, swapped=is_mapped) for revision in history.revisions[number:])
    made = _with_pair(history.made, swapped=False)
    return TableHistory(made, live_table(made), (*before, *after))


def _with_pair(contract: Contract, *, swapped: bool) -> Contract:
    names = ("y", "x") if swapped else ("x", "y")
    pair = (
        replace(
            UNMANAGED_COLUMN,
            name=name,
            renamed_from=names[1 - index] if swapped else None,
            physical_name=f"pair{index}",
        )
        for index, name in enumerate(names)
    )
    columns = Struct((*contract.state.columns.fields, *pair))
    return replace(contract, state=replace(contract.state, columns=columns))


def _has_illegal_type_change(plan: TablePlan) -> bool:
    """Return whether a step makes a type change that TW001 or TW002 reports, before `deploy` plans."""
    legal = (TypeVerdict.WIDENING, TypeVerdict.FREE)
    changes = [
        step_change
        for step in plan.steps
        for step_change in step.changes
        if isinstance(step_change, TypeChanged)
    ]
    return any(
        classify(type_change.old, type_change.new, nested=len(type_change.path) > 1) not in legal
        for type_change in changes
    )


def _plain(state: TableState) -> TableState:
    """Return the state without the ids and features that Delta adds by itself."""
    return replace(
        state,
        columns=Struct(tuple(_without_id(column) for column in state.columns.fields)),
        features=frozenset(),
    )


def _without_id(column: Field) -> Field:
    return replace(column, column_id=None)


def _shape(state: TableState) -> list[str]:
    return [
        f"{path} {column.nullable} {column.comment} {column.default}"
        for path, column in walk_fields(state.columns)
    ]
