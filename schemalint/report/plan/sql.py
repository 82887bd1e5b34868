"""A plan as SQL, for other tools that run the statements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.base.printable import SafeText, is_printable_sql, sql_comment, sql_script
from schemalint.deploy.approvals import missing_approvals
from schemalint.deploy.deploy_input import Deployment
from schemalint.model.impact import risks
from schemalint.model.table_plan import Approval, Step, StepKind, TablePlan
from schemalint.report.plan._words import (
    APPROVE,
    SCRIPT,
    approval_lines,
    approvals_text,
    locations_text,
    others_text,
    refusal_text,
    table_title,
    undo_lines,
    waiting_texts,
)
from schemalint.report.words import way_text

_WITHHELD: Final = (
    "the statements are not shown: a name or an expression contains control characters, commands to CI "
    "services or credentials; schemalint apply runs them"
)


def render(deployment: Deployment, *, color: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render the statements, each with a semicolon at the end, and all other text as comments."""
    lines = [line for plan in deployment.plan.tables for line in _table(deployment, plan)]
    lines += [sql_comment(f"{table.table}: skipped, {table.reason}") for table in deployment.skipped]
    lines += [
        sql_comment(f"{table.table}: not planned, {table.error.message}") for table in deployment.unplanned
    ]
    lines += map(sql_comment, filter(None, [others_text(deployment)]))
    if approvals := approval_lines(deployment):
        lines += map(sql_comment, (f"{APPROVE}:", *approvals))
    return sql_script(lines)


def _table(deployment: Deployment, plan: TablePlan) -> Iterator[str]:
    if not (plan.steps or plan.refusals or plan.waiting):
        return
    yield sql_comment(table_title(plan))
    for refusal in plan.refusals:
        yield sql_comment(f"refused: {refusal_text(refusal)}")
        for way in refusal.ways:
            yield sql_comment(f"way out: {way_text(way)}")
    if plan.script is not None:
        yield sql_comment(f"{SCRIPT}: schemalint plan prints it")
    yield from (sql_comment(f"waiting: {text}") for text in waiting_texts(plan))
    if not all(is_printable_sql(step.sql) for step in plan.steps):
        yield sql_comment(_WITHHELD)
        return
    missing = missing_approvals(deployment, plan)
    for step in plan.steps:
        yield ""
        yield from (sql_comment(text) for text in _remarks(step, missing, plan))
        yield from (sql_comment(line, semicolon=r"\u003b" if step.undo else ",") for line in undo_lines(step))
        yield from f"{step.sql};".split("\n")
    if plan.steps:
        yield ""
        verify = "afterwards, verify: schemalint check --live --all --strict"
        has_fill = any(step.kind is StepKind.FILL for step in plan.steps)
        yield sql_comment(verify if has_fill else f"{verify} && schemalint plan --exit-code")


def _remarks(step: Step, missing: frozenset[Approval], plan: TablePlan) -> Iterator[str]:
    yield from step.reasons
    if step.sources:
        yield f"from {locations_text(step.sources)}"
    yield from (f"risk: {risk}" for risk in risks(step, plan))
    if step.needs:
        yield approvals_text(step.needs, missing)
