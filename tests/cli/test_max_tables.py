"""``apply --max-tables``: a plan that changes too many tables changes none, and Spark does not start."""

from __future__ import annotations

import pytest

from schemalint.base.errors import UsageError
from schemalint.deploy.approvals import require_at_most
from schemalint.model.table_plan import Plan, Refusal, RefusalKind, Step, StepKind, TablePlan
from support.project import ORDERS, Project

STEPS = (Step(StepKind.CREATE, "CREATE", (), ()),)
REFUSAL = Refusal(RefusalKind.OPERATION, "no")


def test_plan_of_too_many_tables_is_shown_and_not_run(
    committed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    (committed.repo.path / "lake").mkdir()
    committed.declare(ORDERS.replace("sales.orders", "sales.returns"), "contracts/returns.yml")
    committed.repo.commit()
    monkeypatch.setattr("schemalint.spark.session.start", lambda _settings: pytest.fail("Spark starts"))

    run = committed.run("apply", "--yes", "--max-tables", "1")

    assert run.status == 2
    assert "CREATE TABLE" in run.out
    assert "the plan changes 2 tables, more than --max-tables 1: nothing was changed" in run.err
    assert not list((committed.repo.path / "lake").iterdir())


def test_only_tables_that_change_count() -> None:
    plan = Plan(
        "dev",
        (
            TablePlan("s.a", "/s/a", "h", steps=STEPS),
            TablePlan("s.b", "/s/b", "h", steps=STEPS),
            TablePlan("s.c", "/s/c", "h", writes_marker=True),
            TablePlan("s.d", "/s/d", "h", refusals=(REFUSAL,)),
        ),
    )
    require_at_most(plan, None)
    require_at_most(plan, 2)
    with pytest.raises(UsageError, match="changes 2 tables, more than --max-tables 1"):
        require_at_most(plan, 1)
