"""Histories of a contract: the plan leads to the declaration, and every column stays who it is.

``SCHEMALINT_PLAN_EXAMPLES=5000`` tries so many of them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from schemalint.delta.change import TypeChanged
from schemalint.delta.datatype import Field, Struct, walk_fields
from schemalint.delta.diff import diff
from schemalint.delta.path import lowercased
from schemalint.delta.table import LiveTable, TableState
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.deploy.last_applied import LastApplied, drift
from schemalint.model.contract import Contract
from schemalint.model.marker import declaration_hash, read_pending
from schemalint.model.plan import TablePlan
from schemalint.planner import PlanOptions, pending, plan_table, simulate
from schemalint.values import replace
from support.delta_model import Delta
from support.history_strategies import World, identities, worlds

EXAMPLES = int(os.environ.get("SCHEMALINT_PLAN_EXAMPLES", "60"))
PLACE = "/lake/orders"
# Delta has no struct without fields, not even in between.
EMPTY = ("drops no struct's last field", "another revision was being applied, by which all of")
# A run of the suite takes the same examples each time; a search for more is told how many to take.
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="SCHEMALINT_PLAN_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
    report_multiple_bugs=False,
)


@dataclass
class Deployment:
    """Runs against one table, as `apply` makes them: any of them may be cut short."""

    world: World
    delta: Delta = field(init=False)
    reorder: bool = False
    may_refuse: bool = False

    def __post_init__(self) -> None:
        self.delta = Delta(self.world.live.state)

    @property
    def live(self) -> LiveTable:
        live, state = self.world.live, self.delta.state
        protocol = replace(live.protocol, writer_features=state.features)
        return replace(live, protocol=protocol, metadata=replace(live.metadata, state=state))

    def plan(self, contract: Contract) -> TablePlan:
        """As `deploy` makes it: by the note of what is on its way, else by the revisions since the oldest."""
        last_applied = self.last_applied(contract)
        options = PlanOptions(last_applied.tracking(self.delta.state.columns), reorder=self.reorder)
        plan = plan_table(contract, self.live, PLACE, options=options)
        assume(not any(says in one.reason for one in plan.refusals for says in EMPTY))
        assume(not (self.may_refuse and plan.refusals))
        assert not _is_refused_by_a_rule(plan)
        assert plan.refusals == ()
        assert list(drift(contract, last_applied, self.live, options, repair=False)) == []
        return plan

    def last_applied(self, contract: Contract) -> LastApplied:
        # Two revisions may be alike, with others in between.
        (place,) = (number for number, one in enumerate(self.world.revisions) if one is contract)
        revisions = self.world.revisions[: place + 1]
        noted = read_pending(self.delta.state)
        if noted is None:
            return LastApplied(revisions)
        if noted.targets or noted.hash == declaration_hash(contract):
            return LastApplied((contract,), judges_drift=False)
        hashes = [declaration_hash(one) for one in revisions]
        return LastApplied(revisions[hashes.index(noted.hash) :], judges_drift=False)

    def run(self, contract: Contract, *, statements: int | None = None) -> int:
        """All statements, or the first ones only; how many there were."""
        done = 0
        while True:
            plan = self.plan(contract)
            for step in plan.steps:
                if done == statements:
                    return done
                self.delta.run(step)
                done += 1
            if not plan.again:
                return done

    def assert_applied(self) -> None:
        """The declaration holds, nobody is lost but who was dropped, and all are where they are declared."""
        world, state = self.world, self.delta.state
        assert pending(world.contract, state) == ()
        assert [step.sql for step in self.plan(world.contract).steps] == []
        here, declared = identities(state.columns), identities(world.contract.state.columns)
        before = identities(world.live.state.columns)
        gone = [path for who, path in before.items() if who in world.dropped]
        inside = {who for who, path in before.items() if any(path[: len(one)] == one for one in gone)}
        assert before.keys() - here.keys() == inside
        for who in before.keys() - inside:
            if who in declared:
                assert lowercased(here[who]) == lowercased(declared[who])
            else:
                assert here[who][-1] == before[who][-1]
        assert state.properties["theirs"] == "1"
        assert ("theirs" in state.constraints) == ("theirs" in world.live.state.constraints)


@given(worlds())
@SETTINGS
def test_a_plan_leads_to_the_declaration(world: World) -> None:
    deployment = Deployment(world)
    plan = deployment.plan(world.contract)
    deployment.run(world.contract)
    deployment.assert_applied()
    simulated = simulate(world.live.state, plan.steps)
    assert diff(_plain(simulated), _plain(deployment.delta.state)) == ()


@given(worlds())
@SETTINGS
def test_columns_are_moved_where_that_is_wanted(world: World) -> None:
    deployment = Deployment(world, reorder=True)
    deployment.run(world.contract)
    deployment.assert_applied()
    here = identities(deployment.delta.state.columns).values()
    declared = [lowercased(path) for path, _field in walk_fields(world.contract.state.columns)]
    assert [lowercased(path) for path in here if lowercased(path) in declared] == declared


@given(worlds(), st.data())
@SETTINGS
def test_a_run_that_is_cut_short_is_finished_by_the_next_one(world: World, data: st.DataObject) -> None:
    whole = Deployment(world)
    steps = whole.run(world.contract)
    deployment = Deployment(world)
    for _ in range(2):
        deployment.run(world.contract, statements=data.draw(st.integers(0, steps)))
    deployment.run(world.contract)
    deployment.assert_applied()
    assert sorted(_shape(deployment.delta.state)) == sorted(_shape(whole.delta.state))


@given(worlds(), st.data())
@SETTINGS
def test_a_run_of_an_older_revision_that_is_cut_short_is_no_obstacle(
    world: World, data: st.DataObject
) -> None:
    older = world.revisions[data.draw(st.integers(0, len(world.revisions) - 2))]
    deployment = Deployment(world, may_refuse=True)  # names of three revisions may not tell
    deployment.run(older, statements=data.draw(st.integers(0, 8)))
    deployment.run(world.contract)
    deployment.assert_applied()


def _is_refused_by_a_rule(plan: TablePlan) -> bool:
    """Whether a type changes as Delta never changes it: `deploy` asks the rules first (TW001, TW002)."""
    lawful = (TypeVerdict.WIDENING, TypeVerdict.FREE)
    changes = [one for step in plan.steps for one in step.changes if isinstance(one, TypeChanged)]
    return any(classify(one.old, one.new, nested=len(one.path) > 1) not in lawful for one in changes)


def _plain(state: TableState) -> TableState:
    """Without what Delta adds by itself."""
    return replace(
        state, columns=Struct(tuple(_plain_field(one) for one in state.columns.fields)), features=frozenset()
    )


def _plain_field(one: Field) -> Field:
    return replace(one, column_id=None)


def _shape(state: TableState) -> list[str]:
    return [f"{path} {one.nullable} {one.comment} {one.default}" for path, one in walk_fields(state.columns)]
