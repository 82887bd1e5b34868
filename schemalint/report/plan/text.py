"""A plan as text for a terminal: each statement with its source, cost and effects on others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from schemalint.base.phrases import affixed, counted
from schemalint.base.printable import SafeText, printable, terminal_text
from schemalint.deploy.approvals import missing_approvals
from schemalint.deploy.deploy_input import Deployment, UnplannedTable
from schemalint.model.impact import risks, table_risks
from schemalint.model.table_plan import Approval, Step, StepKind, TablePlan
from schemalint.report.plan._words import (
    APPROVE,
    SCRIPT,
    approval_lines,
    approvals_text,
    commits_of,
    consumer_lines,
    locations_text,
    others_text,
    refusal_text,
    summary_of,
    table_state,
    table_title,
    undo_lines,
    waiting_texts,
)
from schemalint.report.text_helpers import first_few, styled
from schemalint.report.words import consequence_text, way_text

_MOST_LISTED: Final = 10
"""Idle tables in one state are listed by name up to this number, else only counted."""


def render(deployment: Deployment, *, color: bool = False) -> SafeText:
    """Render each table with its statements for a review, or with the reasons why it has none."""
    tables = deployment.plan.tables
    idle = Counter(table_state(plan) for plan in tables if _is_idle(plan))
    many = {state: number for state, number in idle.items() if number > _MOST_LISTED}
    listed = [plan for plan in tables if not (_is_idle(plan) and table_state(plan) in many)]
    lines = [line for plan in listed for line in _table_lines(deployment, plan, color=color)]
    lines += [f"{counted(number, 'table')} {state}" for state, number in many.items()]
    lines += [line for table in deployment.unplanned for line in _unplanned_lines(table, color=color)]
    lines += [f"{printable(table.table)}: skipped, {printable(table.reason)}" for table in deployment.skipped]
    lines.append(styled(summary_of(deployment), color=color, bold=True))
    lines += filter(None, [others_text(deployment)])
    if not deployment.plan.is_empty:
        lines.append(f"plan {deployment.plan_hash}")
    if approvals := approval_lines(deployment):
        lines += ["", f"{APPROVE}:", ""]
        lines += [printable(line) for line in approvals]
    return terminal_text(lines, styled=color)


def _step_lines(
    step: Step, number: int, missing: frozenset[Approval], plan: TablePlan, *, color: bool
) -> Iterator[str]:
    """Render one statement: its kind, SQL, reasons, source, effects and undo."""
    costs = f"{commits_of(step)}, {step.cost.value}"
    if step.needs:
        costs += f", {approvals_text(step.needs, missing)}"
    head = f"{step.kind.value} ({costs})"
    yield f"  {number}. " + styled(head, color=color, fg="red" if step.needs & missing else "green")
    yield from (f"      {printable(line)}" for line in step.sql.split("\n"))
    yield from (f"      because {printable(reason)}" for reason in first_few(step.reasons))
    if step.sources:
        yield f"      from {printable(locations_text(step.sources))}"
    if step.adds_features:
        gains = "the table needs" if step.kind is StepKind.CREATE else "the protocol gains"
        yield f"      {gains} {', '.join(sorted(step.adds_features))}"
    for risk in risks(step, plan):
        yield "      " + styled("risk:", color=color, fg="yellow") + f" {printable(risk)}"
    yield from (f"      {printable(line)}" for line in undo_lines(step))


def _is_idle(plan: TablePlan) -> bool:
    """Whether the plan of a table consists of its state alone."""
    return not (plan.steps or plan.refusals or plan.waiting)


def _unplanned_lines(unplanned: UnplannedTable, *, color: bool) -> Iterator[str]:
    yield styled(f"{printable(unplanned.table)}: not planned", color=color, fg="red", bold=True)
    error = unplanned.error
    yield f"  - {printable(error.message + affixed(' (', error.location, ')'))}"
    if error.help:
        yield f"      help: {printable(error.help)}"


def _table_lines(deployment: Deployment, plan: TablePlan, *, color: bool) -> Iterator[str]:
    head = f"{printable(table_title(plan))}: {table_state(plan)}"
    yield styled(head, color=color, fg="red" if plan.refusals else None, bold=True)
    for refusal in plan.refusals:
        yield f"  - {printable(refusal_text(refusal))}"
        if refusal.help:
            yield f"      help: {printable(refusal.help)}"
        for each in refusal.then:
            yield f"      then: {printable(consequence_text(each))}"
        for way in refusal.ways:
            yield f"      way out: {printable(way_text(way))}"
    if plan.script is not None:
        yield f"  {SCRIPT}:"
        for text in plan.script.statements:
            yield from (f"      {printable(line)}" for line in f"{text};".split("\n"))
    missing = missing_approvals(deployment, plan)
    if plan.done:
        yield f"  {plan.done} of {counted(plan.done + len(plan.steps), 'statement')} done already"
    for number, step in enumerate(plan.steps, plan.done + 1):
        yield from _step_lines(step, number, missing, plan, color=color)
    for risk in table_risks(plan):
        yield "  " + styled("risk:", color=color, fg="yellow") + f" {risk}"
    yield from (f"  - {printable(text)}" for text in waiting_texts(plan))
    for line, details in consumer_lines(deployment, plan):
        yield f"  {printable(line)}"
        yield from (f"      {printable(detail)}" for detail in details)
