"""What the formats for people say of a plan alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from schemalint.deploy import Deployment
from schemalint.errors import Location
from schemalint.model.plan import Cost, Refusal, Step, TablePlan
from schemalint.report.text import counted


def summary_of(deployment: Deployment) -> str:
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
    if costs := _costs_of(steps):
        text += f"; {costs}"
    if needs := sorted({step.needs.value for step in steps if step.needs is not None}):
        text += f"; needs {' and '.join(f'--allow {word}' for word in needs)}"
    return f"{text} (plan {deployment.plan.hash[:14]})." if steps else f"{text}."


def _costs_of(steps: Iterable[Step]) -> str:
    """What statements cost beside their commits, if they do: ``1 scans the data``."""
    found = Counter(step.cost for step in steps)
    return ", ".join(f"{found[cost]} {cost.value}" for cost in (Cost.SCAN, Cost.REWRITE) if found[cost])


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
