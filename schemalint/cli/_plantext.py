"""A plan for people: every statement with where it comes from, what it costs, and whom it concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from schemalint.deploy import Deployment, Unplanned
from schemalint.errors import Location
from schemalint.model.impact import disturbances, impact
from schemalint.model.plan import Cost, Refusal, Step, StepKind, TablePlan
from schemalint.report._text import counted, first_few, printable, styled

_MOST_LISTED: Final = 10
"""Tables that all are in one state and have no more to be said of them."""


def plan_as_text(deployment: Deployment, *, color: bool = False) -> str:
    """Per table: its statements with what a reviewer needs to know, or why there are none."""
    tables = deployment.plan.tables
    idle = Counter(state_of_table(plan) for plan in tables if _is_idle(plan))
    many = {state: number for state, number in idle.items() if number > _MOST_LISTED}
    listed = [plan for plan in tables if not (_is_idle(plan) and state_of_table(plan) in many)]
    lines = [line for plan in listed for line in _table_lines(deployment, plan, color=color)]
    lines += [f"{counted(number, 'table')} {state}" for state, number in many.items()]
    lines += [line for one in deployment.unplanned for line in _unplanned_lines(one, color=color)]
    lines += [f"{printable(one.table)}: skipped, {printable(one.reason)}" for one in deployment.skipped]
    return "\n".join([*lines, styled(summary(deployment), color=color, bold=True)]) + "\n"


def summary(deployment: Deployment) -> str:
    """The plan in one line: how much there is to do, at what cost, and what has to be approved."""
    tables = deployment.plan.tables
    steps = [step for plan in tables for step in plan.steps]
    refused = sum(bool(plan.refusals) for plan in tables)
    changed = sum(bool(plan.steps) for plan in tables)
    records = sum(plan.record and not plan.steps for plan in tables)
    parts = [
        *([f"{counted(len(steps), 'statement')} in {counted(changed, 'table')}"] if steps else []),
        *([f"{counted(records, 'record')} to write"] if records else []),
        *([f"{counted(refused, 'table')} refused"] if refused else []),
        *([f"{counted(len(deployment.unplanned), 'table')} not planned"] if deployment.unplanned else []),
    ]
    text = ", ".join(parts) or f"Nothing to do in {counted(len(tables), 'table')}"
    if costs := costs_of(steps):
        text += f"; {costs}"
    if needs := sorted({step.needs.value for step in steps if step.needs is not None}):
        text += f"; needs {' and '.join(f'--allow {word}' for word in needs)}"
    return f"{text} (plan {deployment.plan.hash[:14]})." if steps else f"{text}."


def costs_of(steps: Iterable[Step]) -> str:
    """What statements cost beside their commits, if they do: ``1 scans the data``."""
    found = Counter(step.cost for step in steps)
    return ", ".join(f"{found[cost]} {cost.value}" for cost in (Cost.SCAN, Cost.REWRITE) if found[cost])


def step_lines(
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


def undo_text(step: Step) -> str:
    """How a step is taken back, or why it is not."""
    statement = " ".join(step.undo.split("\n")) if step.undo else ""
    return "undo: " + ("; ".join(part for part in (statement, step.undo_note) if part) or "none")


def places_text(places: Iterable[Location]) -> str:
    """Places in the order of the text, each file once: ``contracts/orders.yml:7, 12``."""
    lines = sorted({(place.file, place.line) for place in places})
    files = groupby(lines, key=lambda pair: pair[0])
    return "; ".join(f"{file}:{', '.join(str(line) for _file, line in found)}" for file, found in files)


def refusal_text(refusal: Refusal) -> str:
    """Why a table gets no steps, with the rule and the place where there are such."""
    text = f"{refusal.code}: {refusal.reason}" if refusal.code else refusal.reason
    return f"{text} ({refusal.finding.location})" if refusal.finding else text


def place_of_table(plan: TablePlan) -> str:
    """A table's name, and where it lies."""
    return f"{plan.table} ({plan.name or plan.uri})"


def state_of_table(plan: TablePlan) -> str:
    """What becomes of a table, in a few words."""
    if plan.refusals:
        return "refused"
    if plan.steps:
        return "create" if plan.live is None else f"version {plan.version}"
    return "as declared; only that is to be recorded" if plan.record else "as declared"


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
        yield from step_lines(step, number, creates=plan.live is None, color=color)
    if plan.again:
        yield "  these finish what another run began; the rest is planned after them"
    contract = deployment.contracts.get(plan.table)
    for one in disturbances(plan, contract.consumers if contract else ()):
        numbers = ", ".join(map(str, one.steps))
        yield f"  stream {printable(one.consumer)}: {one.outcome} (statements {numbers})"
