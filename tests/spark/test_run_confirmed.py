"""What the operator confirms is what runs: the last plan, within the limit of tables."""

from __future__ import annotations

from typing import Any

import pytest

from schemalint.base.errors import UsageError
from schemalint.base.values import replace
from schemalint.deploy.deploy_input import Deployment
from schemalint.deploy.results import DeployLog
from schemalint.model.table_plan import Plan, Step, StepKind, TablePlan
from schemalint.spark.apply_options import ApplyOptions, Unattended
from schemalint.spark.runner import run_confirmed

STEP = Step(StepKind.CREATE, "CREATE", (), ())
ONE = Deployment(Plan("dev", (TablePlan("s.a", "/s/a", "h", steps=(STEP,)),)))
TWO = Deployment(Plan("dev", (*ONE.plan.tables, TablePlan("s.b", "/s/b", "h", steps=(STEP,)))))


class OlderSession:
    """A session of Delta 3.3.2, as far as it is asked which engine it is."""

    conf = None

    def sql(self, sqlQuery: str) -> Any:  # noqa: ANN401, N803 (pyspark's own name)
        self.rows = [("3.3.2",)] if "java_method" in sqlQuery else []
        return self

    def collect(self) -> list[tuple[str]]:
        return self.rows


class Asked(Unattended):
    """An operator who confirms a number of plans, and notes what happens."""

    def __init__(self, confirms: int) -> None:
        self.confirms = confirms
        self.heard: list[str] = []

    def confirm(self, deployment: Deployment) -> Deployment | None:  # type: ignore[override]
        self.heard.append(f"confirm {len(deployment.plan.tables)}")
        self.confirms -= 1
        return deployment if self.confirms >= 0 else None

    def planned_again(self, deployment: Deployment) -> None:
        self.heard.append(f"again {len(deployment.plan.tables)}")


def test_the_limit_holds_for_the_plan_of_the_session_too() -> None:
    operator = Asked(confirms=2)
    deployment = replace(ONE, planned_for=lambda _engine: TWO)
    with pytest.raises(UsageError, match="changes 2 tables, more than --max-tables 1"):
        run_confirmed(deployment, OlderSession, ApplyOptions(max_tables=1), operator, DeployLog(None))
    assert operator.heard == ["confirm 1", "again 2"]


def test_a_plan_for_another_engine_is_confirmed_again() -> None:
    operator = Asked(confirms=1)
    deployment = replace(ONE, planned_for=lambda _engine: TWO)
    run = run_confirmed(deployment, OlderSession, ApplyOptions(), operator, DeployLog(None))
    assert (run.deployment, run.results, run.exit_status) == (TWO, None, 4)
    assert operator.heard == ["confirm 1", "again 2", "confirm 2"]


def test_without_a_confirmation_no_session_starts() -> None:
    run = run_confirmed(
        ONE, lambda: pytest.fail("Spark starts"), ApplyOptions(), Asked(confirms=0), DeployLog(None)
    )
    assert (run.results, run.exit_status) == (None, 4)
