"""Tables that are written anew: what is planned for them, and what is refused instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.change import ClusteringChanged, PartitioningChanged, TypeChanged
from schemalint.delta.datatype import STRING, Field, field_at, map_fields
from schemalint.delta.engine import Engines, parse_engine
from schemalint.delta.protocol import Protocol
from schemalint.delta.streams import StreamVerdict, effect_on_stream
from schemalint.delta.table import History, HistoryEntry, Metadata, TableState
from schemalint.delta.type_text import parse_type
from schemalint.delta.way_out import Way
from schemalint.delta.ways import ways_out
from schemalint.model.table_plan import Approval, RefusalKind, StepKind
from schemalint.planner import planned_commits
from schemalint.planner.remaining_steps import completed_steps
from schemalint.planner.rewrites.script import rewrite_script
from schemalint.planner.rewrites.steps import MetadataCommit, metadata_commits, unplanned_changes
from schemalint.planner.simulate import simulate
from support.effective import counting
from support.rule_cases import load_cases
from support.seam import created_table, planned

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemalint.model.contract import Contract
    from schemalint.model.table_plan import Step
    from support.rule_cases import Case

REFUSED: Final = [
    case
    for case in load_cases()
    if case.rule == "rewrite-not-possible" and case.expected and case.name != "another-tool"
]
OLD: Final = "{name: id, type: int}, {name: amount, type: string}"
NEW: Final = (
    '{name: amount, type: "decimal(12,2)", rewrite: {from: string, with: "cast(amount as decimal(12,2))"}}'
)
UPGRADE: Final = "protocol: {allow_upgrade: true}"
MAPPED: Final = "properties: {delta.columnMapping.mode: name}"


def declared(columns: str, more: str = "") -> Contract:
    text = f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\n{more}\n"
    (contract,) = contracts.read("orders.yaml", text).contracts
    return contract


def steps(base: Contract, head: Contract) -> tuple[Step, ...]:
    plan = planned(base, head, created_table(base))
    assert plan.refusals == ()
    return plan.steps


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_the_rule_finds_the_planner_refuses_by_itself(case: Case) -> None:
    (before,) = contracts.read("before.yaml", case.texts["before"]).contracts
    (after,) = contracts.read("after.yaml", case.texts["after"]).contracts
    plan = planned(before, after, created_table(before), with_rules=False)
    assert {refusal.kind for refusal in plan.refusals} == {RefusalKind.DECLARATION}
    assert plan.steps == ()


AROUND: Final = {
    "plain": ("{name: p, type: int}", ""),
    "partitioned": ("{name: p, type: int}", "partitioned_by: [p]\n"),
    "clustered": ("{name: p, type: int}", "clustered_by: [p]\n"),
    "mapped": ("{name: p, type: int}", f"{MAPPED}\n"),
    "mapped, with a feed": (
        "{name: p, type: int}",
        "properties: {delta.columnMapping.mode: name, delta.enableChangeDataFeed: true}\n",
    ),
    "append only": ("{name: p, type: int}", "properties: {delta.appendOnly: true}\n"),
    "for Iceberg": ("{name: p, type: int}", "properties: {delta.enableIcebergCompatV2: true}\n"),
    "NOT NULL": ("{name: p, type: int, nullable: false}", ""),
    "generated": ("{name: p, type: int, generated: id + 1}", ""),
    "identity": ("{name: p, type: bigint, identity: {}}", ""),
    "default": ('{name: p, type: int, default: "7"}', "features: [allowColumnDefaults]\n"),
    "default of it": ("{name: p, type: int}", "features: [allowColumnDefaults]\n"),
    "constraint": ("{name: p, type: int}", "constraints: {known: id > 0}\n"),
}
TYPES: Final = ("decimal(12,2)", "timestamp_ntz", "varchar(5)", "date", "variant")


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("type_", TYPES)
def test_advice_says_that_apply_does_it_exactly_where_the_planner_plans_it(around: str, type_: str) -> None:
    other, more = AROUND[around]
    default = ", default: \"'x'\"" if around == "default of it" else ""
    columns = f"{{name: id, type: int}}, {other}, {{name: c, type: string{default}}}"
    rewrite = f'rewrite: {{from: string, with: "cast(c as {type_})"}}'
    base = declared(columns, more + UPGRADE)
    head = declared(columns.replace("c, type: string", f'c, type: "{type_}", {rewrite}'), more + UPGRADE)
    live = created_table(base)
    change = TypeChanged(("c",), STRING, parse_type(type_))
    ways = ways_out(change, live.state, features=live.protocol.features)
    (declare,) = [way.declare for way in ways if way.way is Way.OVERWRITE] or [""]
    plan = planned(base, head, live, with_rules=False)
    assert bool(declare) == (not plan.refusals and plan.steps[0].kind is StepKind.REWRITE)


@pytest.mark.parametrize("around", ["partitioned", "mapped", "NOT NULL", "append only"])
@pytest.mark.parametrize("layout", ["", "clustered_by: [id]\n"])
def test_advice_about_a_layout_says_that_apply_does_it_exactly_where_the_planner_plans_it(
    around: str, layout: str
) -> None:
    other, more = AROUND[around]
    columns = f"{{name: id, type: int}}, {{name: c, type: int}}, {other}"
    more = more.replace("partitioned_by: [p]\n", "")
    base = declared(columns, f"{more}partitioned_by: [c]\n{UPGRADE}")
    rewrite = "rewrite: {from: {partitioned_by: [c]}}\n"
    head = declared(columns, f"{more}partitioned_by: []\n{layout}{rewrite}{UPGRADE}")
    live = created_table(base)
    ways = ways_out(PartitioningChanged(("c",), ()), live.state, features=live.protocol.features)
    (declare,) = (way.declare for way in ways if way.way is Way.OVERWRITE)
    plan = planned(base, head, live, with_rules=False)
    assert bool(declare) == (not plan.refusals and plan.steps[0].kind is StepKind.REWRITE)


def test_a_rewrite_needs_two_approvals_and_reads_no_version() -> None:
    (step,) = steps(declared(OLD), declared(f"{{name: id, type: int}}, {NEW}"))
    assert step.kind is StepKind.REWRITE
    assert step.needs == {Approval.REWRITE, Approval.DESTRUCTIVE}
    assert [type(change) for change in step.changes] == [TypeChanged]
    assert "VERSION AS OF" not in step.sql
    assert step.sql.count("raise_error") == 2


def test_all_other_steps_are_planned_for_the_table_as_the_rewrite_leaves_it() -> None:
    base = declared(OLD, "clustered_by: [id]")
    columns = f"{{name: id, type: int}}, {NEW[:-1]}, comment: money}}, {{name: note, type: string}}"
    head = declared(columns, f"clustered_by: [id]\nconstraints: {{positive: amount > 0}}\n{UPGRADE}")
    planned_steps = steps(base, head)
    kinds = [step.kind.name for step in planned_steps]
    assert kinds == ["REWRITE", "ADD_COLUMNS", "ALTER_COLUMNS", "ADD_CONSTRAINT", "CLUSTER"]
    assert ClusteringChanged((("id",),), ()) in planned_steps[0].changes


def test_a_partitioned_table_becomes_a_clustered_one() -> None:
    base = declared(OLD, "partitioned_by: [id]")
    head = declared(
        OLD, f"partitioned_by: []\nclustered_by: [id]\nrewrite: {{from: {{partitioned_by: [id]}}}}\n{UPGRADE}"
    )
    rewrite, cluster = steps(base, head)
    assert rewrite.changes == (PartitioningChanged(("id",), ()),)
    assert cluster.kind is StepKind.CLUSTER


@pytest.mark.parametrize("tracked", [True, False])
def test_no_stream_goes_on_after_a_rewrite_of_the_layout(tracked: bool) -> None:  # noqa: FBT001
    base = declared(OLD, "partitioned_by: [id]")
    head = declared(OLD, f"partitioned_by: []\nrewrite: {{from: {{partitioned_by: [id]}}}}\n{UPGRADE}")
    plan = planned(base, head, created_table(base))
    effect = effect_on_stream(planned_commits(plan), tracked=tracked, running=True)
    assert effect.verdict is StreamVerdict.NEW_CHECKPOINT


def test_it_means_nothing_where_the_table_is_not_as_before() -> None:
    new = declared(f"{{name: id, type: int}}, {NEW}")
    assert steps(new, new) == ()


def test_a_column_with_an_id_gets_another_one_and_the_run_follows() -> None:
    base = declared(OLD, MAPPED)
    (step,) = steps(base, declared(f"{{name: id, type: int}}, {NEW}", MAPPED))
    live = created_table(base).state
    after = simulate(live, [step])
    amount, id_ = (field_at(after.columns, (name,)) for name in ("amount", "id"))
    assert amount is not None
    assert id_ is not None
    assert (amount.column_id, id_.column_id is None) == (None, False)
    assert completed_steps(live, after, [step]) == 1
    assert completed_steps(live, live, [step]) == 0


PROVED: Final = {
    None: ["DECLARE OR REPLACE VARIABLE", "SET VARIABLE", "SET VARIABLE"],
    "delta-spark 3.3.2": ["CACHE TABLE", "DROP VIEW", "CACHE TABLE", "DROP VIEW"],
}


@pytest.mark.parametrize("engine", PROVED)
def test_a_script_evaluates_its_proofs_before_it_replaces_the_table(engine: str | None) -> None:
    strict = OLD.replace("string}", "string, nullable: false}")
    new = f"{{name: id, type: int}}, {NEW[:-1]}, nullable: false}}"
    rules = 'constraints: {positive: amount > 0, odd: "amount > (select 1)"}'
    live = created_table(declared(strict))
    engines = Engines(parse_engine(engine)) if engine else Engines()
    contract = counting(replace(declared(new, rules), engines=engines))
    script = rewrite_script(contract, live, "main.sales.orders")
    assert script is not None
    zone, *proofs, replacement, insert, _positive, _odd = script.statements
    assert zone == "SET TIME ZONE 'UTC'"
    for proof, verb in zip(proofs, PROVED[engine], strict=True):
        assert proof.startswith(verb)
    assert replacement.startswith("CREATE OR REPLACE TABLE")
    assert insert.startswith("INSERT INTO")
    (of_rows,) = (proof for proof in proofs if "refuses a row" in proof)
    assert "NOT NULL of amount refuses a row" in of_rows
    assert "positive refuses a row" in of_rows
    assert "select 1" not in of_rows
    assert sum("rows were written since version 0" in proof for proof in proofs) == 1


def test_no_script_has_a_name_that_the_session_of_its_reader_replaces() -> None:
    columns = [f"{{name: {name}, type: int, nullable: false}}" for name in ("$x", '"${x}"')]
    scripts = []
    for column in columns:
        live = created_table(declared(f"{column}, {{name: amount, type: string}}", MAPPED))
        contract = counting(declared(f"{column}, {NEW}", MAPPED))
        scripts.append(rewrite_script(contract, live, "main.sales.orders"))
    assert [script is None for script in scripts] == [False, True]


RICH: Final = f"properties: {{delta.columnMapping.mode: name, team: sales}}\ndescription: all\n{UPGRADE}"


def changed(**changes: Any) -> Callable[[TableState], TableState]:  # noqa: ANN401 (of any attribute)
    return lambda state: replace(state, **changes)


def of_id(**changes: Any) -> Callable[[TableState], TableState]:  # noqa: ANN401 (as above)
    """Return what changes the column `id`."""

    def change(_path: object, field: Field) -> Field:
        return replace(field, **changes) if field.name == "id" else field

    return lambda state: replace(state, columns=map_fields(state.columns, change))


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda state: state, []),
        (changed(description=None), ["description changed"]),
        (changed(properties={"delta.columnMapping.mode": "name"}), ["property changed: team"]),
        (of_id(nullable=False), ["nullability changed: id"]),
        (of_id(comment="other"), ["comment changed: id"]),
        (of_id(column_id=9), ["field added: id", "field removed: id"]),
        (of_id(extra=(("tag", "1"),)), ["metadata of id"]),
        (changed(partitioned_by=("id",)), ["partitioning changed"]),
    ],
)
def test_what_a_rewrite_changed_unasked_is_told_declared_or_not(
    spoil: Callable[[TableState], TableState], told: list[str]
) -> None:
    base = declared(OLD, RICH)
    live = created_table(base).state
    (step,) = steps(base, declared(f"{{name: id, type: int}}, {NEW}", RICH))
    assert step.rewrite is not None
    after = spoil(simulate(live, [step]))
    found = list(unplanned_changes(step.rewrite, commit_between(live, after)))
    assert sorted(found) == sorted(told)


def test_a_replaced_table_may_have_new_ids_but_no_unneeded_features() -> None:
    base = declared(OLD)
    live = created_table(base).state
    (step,) = steps(base, declared(f"{{name: id, type: int}}, {NEW}"))
    assert step.rewrite is not None
    commit = commit_between(live, simulate(live, [step]), "other", frozenset({"vacuumProtocolCheck"}))
    assert commit.replaces
    assert list(unplanned_changes(step.rewrite, commit)) == ["the feature vacuumProtocolCheck"]


def commit_between(
    before: TableState, after: TableState, table_id: str = "a", features: frozenset[str] = frozenset()
) -> MetadataCommit:
    """Return the second of two commits."""
    later = Protocol(1, 7, writer_features=Protocol().features | features)
    entries = (
        HistoryEntry(0, metadata=Metadata("a", before), protocol=Protocol()),
        HistoryEntry(1),
        HistoryEntry(2, metadata=Metadata(table_id, after), protocol=later),
    )
    (commit,) = metadata_commits(History(entries))
    assert commit.version == 2
    return commit


def test_a_feature_that_no_write_adds_comes_before_the_rewrite() -> None:
    new = '{name: at, type: timestamp_ntz, rewrite: {from: string, with: "cast(at as timestamp_ntz)"}}'
    feature = "features: [timestampNtz]"
    base = declared("{name: at, type: string}")
    head = declared(new, f"{feature}\n{UPGRADE}")
    refusal, *_of_the_rule = planned(base, head, created_table(base), with_rules=False).refusals
    assert "apply `features: [timestampNtz]` by itself before" in refusal.reason
    (step,) = steps(declared("{name: at, type: string}", f"{feature}\n{UPGRADE}"), head)
    assert step.kind is StepKind.REWRITE
