"""Compare what a plan was made for with the engine that is about to run it."""

from __future__ import annotations

from typing import Final

from schemalint.base.errors import UsageError
from schemalint.base.values import replace
from schemalint.delta.engine import Engine
from schemalint.deploy.deploy_input import Deployment
from schemalint.model.table_plan import RefusalKind, Step, TablePlan

NEWEST: Final = "the newest Delta"


def require_same_answers(deployment: Deployment, engine: Engine | None) -> str | None:
    """Require that the engine of a session does what the plan expects of the engine that it was made for.

    Args:
        deployment: The plan.
        engine: The engine of the session; None if the session does not tell.

    Returns:
        What to tell of another engine that does the same; None of the same engine.

    Raises:
        UsageError: A statement of the plan has another answer there; the message names it.
    """
    planned = deployment.engine
    if engine is None or deployment.planned_for is None:
        return None
    if engine.is_newest if planned is None else planned.includes(engine):
        return None
    there = {plan.table: plan for plan in deployment.planned_for(engine).plan.tables}
    for plan in deployment.plan.tables:
        difference = _difference(plan, there.get(plan.table)) if plan.steps else None
        if difference is not None:
            raise UsageError(
                f"the session is {engine}, and the plan was made for {planned or NEWEST}: {plan.table} "
                f"{difference}",
                help=f'write `engine = "{engine}"` under the target, and plan again; or use a session of '
                f"{planned or NEWEST}",
            )
    if planned is None:
        return None
    return f"the session is {engine}, not {planned}: the plan is the same there"


def refused_by(deployment: Deployment, engine: Engine) -> Deployment:
    """Return a plan without the steps of tables that another engine refuses too; the others stay as they are.

    An approval or an order that a plan for the other engine would wait for says nothing about this one.
    """
    if deployment.planned_for is None:
        return deployment
    there = {plan.table: plan for plan in deployment.planned_for(engine).plan.tables}
    tables = tuple(_refused_too(plan, there.get(plan.table)) for plan in deployment.plan.tables)
    return replace(deployment, plan=replace(deployment.plan, tables=tables))


def _refused_too(plan: TablePlan, there: TablePlan | None) -> TablePlan:
    kinds = (RefusalKind.RULE, RefusalKind.DECLARATION, RefusalKind.LIVE)
    added = tuple(
        refusal
        for refusal in (there.refusals if there is not None else ())
        if refusal.kind in kinds and refusal.reason not in [own.reason for own in plan.refusals]
    )
    return plan.refused(*added) if added else plan


def _difference(plan: TablePlan, there: TablePlan | None) -> str | None:
    """Return what another engine does with the steps of a plan; None if it is the same."""
    if there is None:
        return "cannot be planned for it"
    if there.refusals:
        return f"is refused there, {there.refusals[0].reason}"
    ours, theirs = (list(map(_content, steps)) for steps in (plan.steps, there.steps))
    if ours == theirs:
        return None
    other = next((step for step in plan.steps if _content(step) not in theirs), plan.steps[-1])
    return f"gets other statements there than {' '.join(other.sql.split())[:200]}"


def _content(step: Step) -> tuple[str, frozenset[str]]:
    return step.sql, step.adds_features
