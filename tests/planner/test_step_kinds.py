"""Tables by kind of step that no type checker compares with `StepKind`."""

from __future__ import annotations

from schemalint.cli.schema import schema_of
from schemalint.model.table_plan import Approval, Cost, RefusalKind, StepKind
from support.delta_model import CHANGES_OF_STEPS

NOT_MODELLED = {
    StepKind.CREATE,
    StepKind.DROP_FEATURE,
    StepKind.FILL,
    StepKind.REWRITE,
    StepKind.RECORD,
}
"""The model of Delta starts with a table, has no rows and no DROP FEATURE, and writes no marker."""


def test_the_schema_of_plans_names_every_kind_cost_approval_and_refusal() -> None:
    defs = schema_of("plan")["$defs"]
    step = defs["step"]["properties"]
    assert step["kind"]["enum"] == [kind.name.lower() for kind in StepKind]
    assert step["cost"]["enum"] == [cost.name.lower() for cost in Cost]
    table = defs["table"]["properties"]
    assert table["needs"]["items"]["enum"] == [approval.value for approval in Approval]
    refusal = defs["refusal"]["properties"]
    assert refusal["kind"]["enum"] == [kind.name.lower() for kind in RefusalKind]


def test_the_model_of_delta_knows_every_kind() -> None:
    assert set(CHANGES_OF_STEPS) == set(StepKind) - NOT_MODELLED
