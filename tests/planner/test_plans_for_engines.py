"""Plans for engines that parse less, add other features or drop none at once."""

from __future__ import annotations

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.engine import Engines, parse_engine
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.model.contract import Contract
from schemalint.model.declaration import created_state
from schemalint.model.table_plan import StepKind, TablePlan
from schemalint.planner import PlanOptions, plan_table
from support.effective import counting

TABLE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: smallint}
  - {name: b, type: int, nullable: false}
  - {name: c, type: int}
"""
CHANGED = """\
schemalint: 1
table: sales.orders
columns:
  - {name: c, type: int, comment: the first}
  - {name: a, type: int, comment: wider}
  - {name: b, type: int, default: "1"}
features: [allowColumnDefaults]
properties: {delta.enableTypeWidening: true}
"""


def declared(text: str, engine: str) -> Contract:
    (contract,) = contracts.read("orders.yml", text.encode()).contracts
    return contract.for_engines(Engines(parse_engine(engine)), "prod")


def planned(before: str, after: str, engine: str) -> TablePlan:
    base, contract = declared(before, engine), declared(after, engine)
    state = replace(created_state(base.state), features=base.created_features)
    live = LiveTable("/lake", 3, Protocol(3, 7, frozenset(), base.created_features), Metadata("id", state))
    return plan_table(counting(contract), live, "/lake", options=PlanOptions(reorder=True))


def alterations(plan: TablePlan) -> list[str]:
    prefix = "ALTER TABLE delta.`/lake` "
    return [" ".join(step.sql.removeprefix(prefix).split()) for step in plan.steps]


def test_spark_3_5_gets_one_column_and_one_thing_in_each_statement() -> None:
    older, newer = (planned(TABLE, CHANGED, f"delta-spark {version}") for version in ("3.3.2", "4.0.1"))
    assert alterations(older)[1:] == [
        "CHANGE COLUMN `c` `c` int COMMENT 'the first' FIRST",
        "CHANGE COLUMN `a` `a` int COMMENT 'wider'",
        "ALTER COLUMN `b` DROP NOT NULL",
        "ALTER COLUMN `b` SET DEFAULT 1",
    ]
    assert len(newer.steps) < len(older.steps)


def test_spark_3_5_gets_each_default_of_a_new_field_in_a_statement() -> None:
    fields = '[{name: x, type: int, default: "1"}, {name: y, type: int, default: "2"}]'
    contract = f"{TABLE}  - {{name: s, type: struct, columns: {fields}}}\nfeatures: [allowColumnDefaults]\n"
    steps = {
        version: plan_table(counting(declared(contract, f"delta-spark {version}")), None, "/lake").steps
        for version in ("3.3.2", "4.0.1")
    }
    assert [step.kind for step in steps["3.3.2"]] == [StepKind.CREATE, *[StepKind.ALTER_COLUMNS] * 2]
    assert [step.kind for step in steps["4.0.1"]] == [StepKind.CREATE, StepKind.ALTER_COLUMNS]


@pytest.mark.parametrize(
    ("version", "feature"),
    [("3.2.1", "typeWidening-preview"), ("3.3.2", "typeWidening-preview"), ("4.0.1", "typeWidening")],
)
def test_enabling_type_widening_adds_the_feature_of_the_engine(version: str, feature: str) -> None:
    engine = f"delta-spark {version}"
    widening = "properties: {delta.enableTypeWidening: true}\n"
    altered = planned(TABLE, f"{TABLE}{widening}", engine)
    (created,) = plan_table(counting(declared(f"{TABLE}{widening}", engine)), None, "/lake").steps
    assert (altered.steps[0].adds_features, created.adds_features) == (
        frozenset({feature}),
        frozenset({feature}),
    )


def test_a_table_with_type_widening_gets_no_preview_of_it() -> None:
    table = f"{TABLE}features: [typeWidening]\n"
    plan = planned(table, f"{table}properties: {{delta.enableTypeWidening: true}}\n", "delta-spark 3.3.2")
    assert [step.adds_features for step in plan.steps] == [frozenset()]


def test_an_engine_without_fast_drops_protects_no_history() -> None:
    table = f"{TABLE}properties: {{delta.checkpointPolicy: v2}}\n"
    without = f"{TABLE}properties: {{delta.checkpointPolicy: classic}}\ndrop_features: [v2Checkpoint]\n"
    drops = {
        version: planned(table, without, f"delta-spark {version}").steps[-1] for version in ("3.3.2", "4.0.1")
    }
    assert {version: step.adds_features for version, step in drops.items()} == {
        "3.3.2": frozenset(),
        "4.0.1": frozenset({"checkpointProtection"}),
    }
    assert "only removes its traces" in drops["3.3.2"].undo_note
    assert drops["3.3.2"].commits < drops["4.0.1"].commits


def test_delta_3_3_adds_no_preview_beside_the_feature_that_the_contract_requests() -> None:
    after = f"{TABLE}features: [typeWidening]\nproperties: {{delta.enableTypeWidening: true}}\n"
    plan = planned(TABLE, after, "delta-spark 3.3.2")
    assert [step.adds_features for step in plan.steps] == [frozenset({"typeWidening"})]


def test_spark_3_5_creates_a_column_with_a_length_without_its_default() -> None:
    text = """\
schemalint: 1
table: sales.orders
columns:
  - {name: code, type: char(3), default: "'abc'"}
  - {name: size, type: int, default: "1"}
features: [allowColumnDefaults]
"""
    older, newer = (
        plan_table(counting(declared(text, f"delta-spark {version}")), None, "/lake", options=PlanOptions())
        for version in ("3.3.2", "4.0.1")
    )
    assert "`code` char(3) DEFAULT 'abc'" in newer.steps[0].sql
    assert "`size` int DEFAULT 1" in older.steps[0].sql
    assert alterations(older)[1:] == ["ALTER COLUMN `code` SET DEFAULT 'abc'"]
