"""A plan for people, for programs, and for those who run statements by other means."""

from __future__ import annotations

import json
from collections.abc import Iterator

from schemalint.deploy import Deployment
from schemalint.model.plan import PLAN_FORMAT, Refusal, Step, StepKind, TablePlan


def plan_as_text(deployment: Deployment) -> str:
    """Per table: its statements with their reasons, or why there are none."""
    lines = [line for plan in deployment.plan.tables for line in _table_lines(plan)]
    lines += [f"{one.table}: skipped, {one.reason}" for one in deployment.skipped]
    return "\n".join([*lines, _summary(deployment)]) + "\n"


def plan_as_sql(deployment: Deployment) -> str:
    """The statements alone, each closed by a semicolon; what is refused stands in comments."""
    lines: list[str] = []
    for plan in deployment.plan.tables:
        lines.append(f"-- {_one_line(plan.table)}")
        lines += [f"-- refused: {_one_line(one.reason)}" for one in plan.refusals]
        lines += [f"{step.sql};" for step in plan.steps]
    return "\n".join(lines) + "\n"


def plan_as_json(deployment: Deployment) -> str:
    """The same input gives the same bytes."""
    content = {
        "version": PLAN_FORMAT,
        "target": deployment.plan.target,
        "hash": deployment.plan.hash,
        "tables": [_table_json(plan) for plan in deployment.plan.tables],
        "skipped": [{"table": one.table, "reason": one.reason} for one in deployment.skipped],
        "errors": [
            {"table": one.table, "message": one.error.message, "help": one.error.help}
            for one in deployment.unplanned
        ],
    }
    return json.dumps(content, indent=2) + "\n"


def step_lines(step: Step) -> Iterator[str]:
    """One statement with its reasons."""
    yield f"  - {step.kind.value} ({step.commits} commit{'s' if step.commits != 1 else ''}, metadata only)"
    yield from (f"      because {_one_line(reason)}" for reason in step.reasons)
    if step.adds_features:
        gains = "the table needs" if step.kind is StepKind.CREATE else "the protocol gains"
        yield f"      {gains} {', '.join(sorted(step.adds_features))}"
    yield from (f"      {line}" for line in step.sql.splitlines())


def _table_lines(plan: TablePlan) -> Iterator[str]:
    place = f"{_one_line(plan.table)} ({_one_line(plan.uri)})"
    if plan.refusals:
        yield f"{place}: refused"
        for refusal in plan.refusals:
            yield f"  - {_refusal_text(refusal)}"
            if refusal.help:
                yield f"      help: {_one_line(refusal.help)}"
    elif plan.steps:
        yield f"{place}: {'create' if plan.live is None else f'version {plan.version}'}"
        for step in plan.steps:
            yield from step_lines(step)
    elif plan.record:
        yield f"{place}: as declared; only that is to be recorded"
    else:
        yield f"{place}: as declared"


def _refusal_text(refusal: Refusal) -> str:
    return _one_line(f"{refusal.code}: {refusal.reason}" if refusal.code else refusal.reason)


def _summary(deployment: Deployment) -> str:
    tables = deployment.plan.tables
    steps = sum(len(plan.steps) for plan in tables)
    refused = sum(bool(plan.refusals) for plan in tables)
    if not steps and not refused and not deployment.unplanned:
        return f"Nothing to do in {_count(len(tables), 'table')}."
    changed = sum(bool(plan.steps) for plan in tables)
    text = f"{_count(steps, 'statement')} in {_count(changed, 'table')}"
    if refused:
        text += f", {_count(refused, 'table')} refused"
    return f"{text} (plan {deployment.plan.hash[:14]})."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _table_json(plan: TablePlan) -> dict[str, object]:
    return {
        "table": plan.table,
        "uri": plan.uri,
        "table_id": plan.table_id,
        "version": plan.version,
        "record": plan.record,
        "steps": [
            {
                "kind": step.kind.name.lower(),
                "sql": step.sql,
                "reasons": list(step.reasons),
                "adds_features": sorted(step.adds_features),
                "undo": step.undo,
                "commits": step.commits,
            }
            for step in plan.steps
        ],
        "refusals": [{"code": one.code, "reason": one.reason, "help": one.help} for one in plan.refusals],
    }


def _one_line(text: str) -> str:
    """Text from a contract on one line, without control characters."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
