"""A plan for people: every statement with where it comes from, what it costs, and whom it concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from schemalint.deploy import Deployment, Unplanned
from schemalint.model.impact import impact, stream_impacts
from schemalint.model.plan import Step, StepKind, TablePlan
from schemalint.printable import printable
from schemalint.report.plan._words import (
    place_of_table,
    places_text,
    refusal_text,
    state_of_table,
    summary_of,
    undo_text,
)
from schemalint.report.text import counted, first_few, styled

_MOST_LISTED: Final = 10
"""Tables that all are in one state and have no more to be said of them."""


def render(deployment: Deployment, *, color: bool = False) -> str:
    """Per table: its statements with what a reviewer needs to know, or why there are none."""
    tables = deployment.plan.tables
    idle = Counter(state_of_table(plan) for plan in tables if _is_idle(plan))
    many = {state: number for state, number in idle.items() if number > _MOST_LISTED}
    listed = [plan for plan in tables if not (_is_idle(plan) and state_of_table(plan) in many)]
    lines = [line for plan in listed for line in _table_lines(deployment, plan, color=color)]
    lines += [f"{counted(number, 'table')} {state}" for state, number in many.items()]
    lines += [line for one in deployment.unplanned for line in _unplanned_lines(one, color=color)]
    lines += [f"{printable(one.table)}: skipped, {printable(one.reason)}" for one in deployment.skipped]
    return "\n".join([*lines, styled(summary_of(deployment), color=color, bold=True)]) + "\n"


def _step_lines(
    step: Step, number: int | None = None, *, creates: bool = False, color: bool = False
) -> Iterator[str]:
    """One statement: what it does, the statement, why, what is noticed of it, and the way back."""
    bullet = "-" if number is None else f"{number}."
    needs = f", needs --allow {step.needs.value}" if step.needs is not None else ""
    head = f"{step.kind.value} ({counted(step.commits, 'commit')}, {step.cost.value}{needs})"
    yield f"  {bullet} " + styled(head, color=color, fg="red" if step.needs else "green")
    yield from (f"      {printable(line)}" for line in step.sql.split("\n"))
    yield from (f"      because {printable(reason)}" for reason in first_few(step.reasons))
    if step.places:
        yield f"      from {printable(places_text(step.places))}"
    if step.adds_features:
        gains = "the table needs" if step.kind is StepKind.CREATE else "the protocol gains"
        yield f"      {gains} {', '.join(sorted(step.adds_features))}"
    for risk in impact(step, creates=creates).risks:
        yield "      " + styled("risk:", color=color, fg="yellow") + f" {printable(risk)}"
    yield f"      {printable(undo_text(step))}"


def _is_idle(plan: TablePlan) -> bool:
    """Whether there is no more to say of a table than its state."""
    return not plan.steps and not plan.refusals


def _unplanned_lines(one: Unplanned, *, color: bool) -> Iterator[str]:
    yield styled(f"{printable(one.table)}: not planned", color=color, fg="red", bold=True)
    place = f" ({one.error.location})" if one.error.location else ""
    yield f"  - {printable(one.error.message + place)}"
    if one.error.help:
        yield f"      help: {printable(one.error.help)}"


def _table_lines(deployment: Deployment, plan: TablePlan, *, color: bool) -> Iterator[str]:
    head = f"{printable(place_of_table(plan))}: {state_of_table(plan)}"
    yield styled(head, color=color, fg="red" if plan.refusals else None, bold=True)
    for refusal in plan.refusals:
        yield f"  - {printable(refusal_text(refusal))}"
        if refusal.help:
            yield f"      help: {printable(refusal.help)}"
    for number, step in enumerate(plan.steps, 1):
        yield from _step_lines(step, number, creates=plan.live is None, color=color)
    if plan.again:
        yield "  these finish what another run began; the rest is planned after them"
    contract = deployment.contracts.get(plan.table)
    for one in stream_impacts(plan, contract.consumers if contract else ()):
        numbers = ", ".join(map(str, one.steps))
        yield f"  stream {printable(one.consumer)}: {one.outcome} (statements {numbers})"
