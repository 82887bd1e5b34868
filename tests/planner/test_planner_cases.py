"""Each folder ``cases/<case>`` holds a live table (``live.yaml``), a contract and the expected plan.

``SCHEMALINT_UPDATE_GOLDEN=1`` rewrites ``plan.sql``; review the diff.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.change import FeatureChanged
from schemalint.delta.protocol import Protocol
from schemalint.delta.stream_history import commits_since
from schemalint.delta.streams import effect_on_stream
from schemalint.delta.table import LiveTable, Metadata, TableState
from schemalint.model.column_tracking import track_columns
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.table_plan import Cost, Step, StepKind, TablePlan
from schemalint.planner import PlanOptions, deviations, pending_changes, plan_table, planned_commits, simulate
from support.effective import counting
from support.golden import assert_golden
from support.logs import read_live

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = sorted(path.parent for path in Path(__file__).parent.glob("cases/*/declared.yaml"))
# Together these have every kind of step, with and without an undo.
EACH_TIME = (
    "create-with-everything",
    "dropped-feature-with-its-constraint",
    "guards-and-clustering",
    "mapping-switched-on-first",
    "properties-that-wait-for-columns",
    "reorder",
)
UNDONE_EACH_TIME = ("columns", "defaults", "guards-and-clustering", "properties")
UNDONE = {
    case.name: case
    for case in CASES
    if case.name
    in (
        "clustering-column-dropped",
        "columns",
        "create-with-everything",
        "defaults",
        "guards-and-clustering",
        "iceberg-compatibility",
        "mapping-by-id-off",
        "mapping-switched-off",
        "mapping-switched-on-first",
        "nested-defaults",
        "properties",
        "properties-that-wait-for-columns",
        "reorder",
        "reorder-in-turn",
        "reorder-one-column",
        "ring-with-drop-and-widening",
        "versions",
    )
}
CARRIED_OUT = {case.name: case for case in CASES if "refused" not in case.name}
LOCATION = "/lake/it`s/orders"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plan_is_the_expected_sql(case: Path) -> None:
    live = case / "live.yaml"
    plan = _plan(case, _live(live) if live.exists() else None, LOCATION)
    assert_golden(_text(plan), case / "plan.sql")


def test_the_cases_of_each_run_have_every_kind_of_step() -> None:
    kinds = {kind.value for kind in StepKind}
    carried_out = {name: set(_notes(case)) & kinds for name, case in CARRIED_OUT.items()}
    assert set().union(*(carried_out[name] for name in EACH_TIME)) == set().union(*carried_out.values())
    undone = {name: {kind for kind, undo in _notes(case).items() if undo} for name, case in UNDONE.items()}
    assert set().union(*(undone[name] for name in UNDONE_EACH_TIME)) == set().union(*undone.values())


def _notes(case: Path) -> dict[str, bool]:
    """Return the kinds of steps in the expected plan, and whether such a step has an undo."""
    steps = (case / "plan.sql").read_text("utf-8").split("\n\n")
    found = [(step.removeprefix("-- ").partition("\n")[0], "\n-- undo: " in step) for step in steps]
    return {kind: any(undo for name, undo in found if name == kind) for kind, _ in found}


@pytest.mark.spark
@pytest.mark.each_time(*EACH_TIME)
@pytest.mark.parametrize("case", CARRIED_OUT.values(), ids=CARRIED_OUT)
def test_engine_carries_the_plan_out(case: Path, spark: SparkSession, tmp_path: Path) -> None:
    """After each statement the log holds the simulated state, and in the end the declaration."""
    spark.conf.set("spark.sql.variable.substitute", "false")
    location = str(tmp_path / "it`s")
    if (case / "live.yaml").exists():
        _run(spark, plan_table(counting(_contract(case / "live.yaml")), None, location), TableState())
    contract = _contract(case / "declared.yaml")
    before = read_live(location)
    plan = _plan(case, before, location)
    _run(spark, plan, before.state if before else TableState())
    after = _existing(location)
    assert pending_changes(counting(contract), after.state) == ()
    if before is not None and not any(map(_writes_files, plan.steps)):
        _assert_streams_are_foreseen(plan, before, after)
    commits = after.version - (before.version if before else -1)
    least = sum(step.commits for step in plan.steps)
    assert commits == least or (
        commits > least and StepKind.DROP_FEATURE in {step.kind for step in plan.steps}
    )


@pytest.mark.spark
@pytest.mark.each_time(*UNDONE_EACH_TIME)
@pytest.mark.parametrize("case", UNDONE.values(), ids=UNDONE)
def test_engine_undoes_each_step_that_has_an_undo(case: Path, spark: SparkSession, tmp_path: Path) -> None:
    """After each step its undo leads back to the state before, apart from features; the step runs again."""
    spark.conf.set("spark.sql.variable.substitute", "false")
    location = str(tmp_path / "it`s")
    if (case / "live.yaml").exists():
        _run(spark, plan_table(counting(_contract(case / "live.yaml")), None, location), TableState())
    table = read_live(location)
    before = table.state if table else TableState()
    plan = _plan(case, table, location)
    assert any(step.undo for step in plan.steps)
    for step in plan.steps:
        spark.sql(step.sql)
        if step.undo:
            spark.sql(step.undo)
            undone = _existing(location).state
            assert deviations(replace(before, features=undone.features), undone, step) == (), step.undo
            spark.sql(step.sql)
        before = simulate(before, [step])


def _writes_files(step: Step) -> bool:
    """Whether a step writes files anew; the tables of the cases have none (see `test_planned_commits`)."""
    if step.kind is StepKind.DROP_FEATURE:
        return any(
            isinstance(change, FeatureChanged) and change.name == "rowTracking" for change in step.changes
        )
    return step.cost is Cost.REWRITE or "rowTracking" in step.adds_features


def _assert_streams_are_foreseen(plan: TablePlan, before: LiveTable, after: LiveTable) -> None:
    """Assert that the plan's commits do to every kind of stream what the commits in the log do."""
    planned = planned_commits(replace(plan, writes_marker=False))
    found = commits_since(after, before.version)
    assert found is not None
    for tracked, running in ((True, True), (False, True), (False, False)):
        foreseen, effect = (
            effect_on_stream(commits, tracked=tracked, running=running) for commits in (planned, found)
        )
        assert (foreseen.verdict, foreseen.unblock) == (effect.verdict, effect.unblock), (tracked, running)
        assert foreseen.stops == effect.stops, (tracked, running, plan.steps, foreseen, effect)


def _run(spark: SparkSession, plan: TablePlan, expected: TableState) -> None:
    assert plan.steps
    for step in plan.steps:
        spark.sql(step.sql)
        expected = simulate(expected, [step])
        live = _existing(plan.uri).state
        assert deviations(replace(expected, features=live.features), live, step) == ()
        assert live.features >= step.adds_features


def _plan(case: Path, live: LiveTable | None, location: str) -> TablePlan:
    """Plan with the previous revisions ``base1.yaml``, ``base2.yaml`` …; ``base1.yaml`` was applied last."""
    contract = _contract(case / "declared.yaml")
    revisions = [_contract(path).state for path in sorted(case.glob("base*.yaml"))]
    tracking = track_columns(live.state.columns, [*revisions, contract.state]) if live and revisions else None
    return plan_table(
        counting(contract), live, location, options=PlanOptions(tracking, reorder="reorder" in case.name)
    )


def _existing(location: str) -> LiveTable:
    table = read_live(location)
    assert table is not None
    return table


def _contract(path: Path) -> Contract:
    result = contracts.read(path.name, path.read_bytes())
    assert result.errors == ()
    (contract,) = result.contracts
    return contract


def _live(path: Path) -> LiveTable:
    declared = _contract(path)
    protocol = Protocol(3, 7, frozenset(), declared.created_features)
    state = replace(created_state(declared.state), features=declared.created_features)
    return LiveTable(LOCATION, 7, protocol, Metadata("id", state))


def _text(plan: TablePlan) -> str:
    refused = [f"-- refused: {refusal.reason} ({refusal.help})\n" for refusal in plan.refusals]
    return "".join([*refused, *map(_step_text, plan.steps)])


def _step_text(step: Step) -> str:
    notes = [f"-- {step.kind.value}", *(f"--   {reason!r}" for reason in step.reasons)]
    notes += [f"-- adds {name}" for name in sorted(step.adds_features)]
    notes += [f"-- undo: {step.undo}"] if step.undo else []
    notes += [f"-- undo note: {step.undo_note}"] if step.undo_note else []
    notes += [f"-- {step.cost.value}"] if step.cost is not Cost.METADATA else []
    notes += [f"-- needs --allow {approval.value}" for approval in step.needs]
    return "\n".join([*notes, f"{step.sql};\n\n"])
