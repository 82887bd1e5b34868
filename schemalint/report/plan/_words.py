"""Texts that the human-readable formats of a plan share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from schemalint.base.errors import Location
from schemalint.base.phrases import affixed, counted
from schemalint.delta.streams import StreamVerdict, effect_on_stream
from schemalint.deploy.approvals import missing_approvals
from schemalint.deploy.deploy_input import Deployment
from schemalint.model.table_plan import Approval, Cost, Refusal, RefusalKind, Step, StepKind, TablePlan
from schemalint.planner import planned_commits
from schemalint.report.stream_texts import (
    effect_text,
    place_lines,
    settings_lines,
    stream_title,
    verdict_text,
)
from schemalint.report.text_helpers import first_few
from schemalint.report.words import client_text

APPROVE: Final = "To approve the steps that need it, in the configuration or with apply --approved HASH"
"""The title of `approval_lines`."""

SCRIPT: Final = (
    "a script that rewrites it, for a session of its own: pause all writers; readers see an empty table "
    "between its statements, and RESTORE takes it back; afterwards `schemalint apply` proves it"
)
"""The title of a plan's script."""

FILL_STOPS: Final = "a fill stops it (DELTA_SOURCE_TABLE_IGNORE_CHANGES), unless it skips changes"
"""What streams meet besides changes of the table's schema."""

_MOST_HASHES: Final = 200


def commits_of(step: Step) -> str:
    """The number of a step's commits; DROP FEATURE makes more where it first removes traces."""
    at_least = "at least " if step.kind is StepKind.DROP_FEATURE else ""
    return f"{at_least}{counted(step.commits, 'commit')}"


def summary_of(deployment: Deployment) -> str:
    """Summarize the plan in one line: numbers of statements and tables, costs, required approvals."""
    tables = deployment.plan.tables
    steps = [step for plan in tables for step in plan.steps]
    refused = sum(bool(plan.refusals) for plan in tables)
    changed = sum(bool(plan.steps) for plan in tables)
    waiting = sum(bool(plan.waiting) for plan in tables)
    parts = [f"{counted(len(steps), 'statement')} in {counted(changed, 'table')}"] if steps else []
    states = {
        "up to date": len(tables) - changed - waiting - refused,
        "waiting": waiting,
        "refused": refused,
        "not planned": len(deployment.unplanned),
    }
    parts += (f"{counted(number, 'table')} {state}" for state, number in states.items() if number)
    text = ", ".join(parts) or "Nothing to do"
    if costs := _costs_of(steps):
        text += f"; {costs}"
    missing = frozenset[Approval]().union(*(missing_approvals(deployment, plan) for plan in tables))
    if missing:
        text += f"; {approvals_text(missing, missing)}"
    return f"{text}."


def approvals_text(needs: frozenset[Approval], missing: frozenset[Approval]) -> str:
    """Name the approvals that a step needs, and say whether it has them: ``needs approval: destructive``."""
    lacks = needs & missing
    if lacks:
        return f"needs approval: {_listed(lacks)}"
    return f"approved: {_listed(needs)}"


def _listed(approvals: Iterable[Approval]) -> str:
    return " and ".join(sorted(approval.value for approval in approvals))


def approval_lines(deployment: Deployment) -> list[str]:
    """Return the entry of the configuration that approves the steps that lack an approval; none if none does.

    Each hash is of one table, so it holds in whatever run the table is applied.
    """
    of_target = affixed(" in ", deployment.plan.target)
    missing = {plan.table: missing_approvals(deployment, plan) for plan in deployment.plan.tables}
    lines = [
        f'  "{plan.hash}",  # {plan.table}{of_target}: {_listed(missing[plan.table])}'
        for plan in deployment.plan.tables
        if missing[plan.table]
    ]
    if len(lines) > _MOST_HASHES:
        more = len(lines) - _MOST_HASHES
        lines = [*lines[:_MOST_HASHES], f"  # and of {counted(more, 'more table')}: schemalint plan TABLES"]
    if not lines:
        return []
    return ["approved-plans = [", *lines, "]"]


def others_text(deployment: Deployment) -> str | None:
    """Count the tables that the plan leaves out: ``3 more pending``; None if it leaves out none."""
    others = deployment.others
    if others is None or not others.number:
        return None
    parts = [f"{len(others.pending):,} more pending"]
    for state, left_out in (("refused", others.refused), ("not planned", others.unplanned)):
        if left_out:
            parts.append(f"{len(left_out):,} {state}")
    return f"{', '.join(parts)}, of {counted(others.number, 'table')} that this change does not touch (--all)"


def _costs_of(steps: Iterable[Step]) -> str:
    """Count the statements that cost more than a commit: ``1 scans the data``."""
    counts = Counter(step.cost for step in steps)
    return ", ".join(f"{counts[cost]} {cost.value}" for cost in (Cost.SCAN, Cost.REWRITE) if counts[cost])


def undo_lines(step: Step) -> list[str]:
    """Describe how to undo a step, or why that is impossible; a statement has a line of its own."""
    if not step.undo:
        return [f"undo: {step.undo_note or 'none'}"]
    lines = [f"undo: {' '.join(step.undo.split(chr(10)))}"]
    if step.undo_note:
        lines.append(f"after the undo: {step.undo_note}")
    return lines


def locations_text(locations: Iterable[Location]) -> str:
    """Format locations in order, each file once: ``contracts/orders.yml:7, 12``."""
    lines = sorted({(location.file, location.line) for location in locations})
    files = groupby(lines, key=lambda pair: pair[0])
    return "; ".join(f"{file}:{', '.join(str(line) for _file, line in pairs)}" for file, pairs in files)


def refusal_text(refusal: Refusal) -> str:
    """Describe why a table gets no steps, with the rule and the location if there are any."""
    return f"{affixed('', refusal.code, ': ')}{refusal.reason}{affixed(' (', refusal.location, ')')}"


def waiting_texts(plan: TablePlan) -> list[str]:
    """Describe each step that waits for the next change of the table."""
    return [f"{step.kind.value}: {'; '.join(first_few(step.reasons))}" for step in plan.waiting]


def consumer_lines(deployment: Deployment, plan: TablePlan) -> Iterator[tuple[str, list[str]]]:
    """Yield a line for each declared stream and client of a table that the plan changes.

    The line of a stream comes with what its operator does. Where no stream is declared, one line says what
    happens to streams.
    """
    reports = [report for report in deployment.streams if report.table == plan.table]
    fills = any(step.kind is StepKind.FILL for step in plan.steps)
    for report in reports:
        details = [*place_lines(report), *settings_lines(report, applied=not plan.steps)]
        if fills:
            details.append(FILL_STOPS)
        yield f"{stream_title(report)}: {verdict_text(report)}", details
    if not reports and plan.steps and (commits := planned_commits(plan)):
        delta = deployment.engine.delta if deployment.engine is not None else None
        tracked, untracked = (
            effect_on_stream(commits, tracked=tracked, running=True, delta=delta) for tracked in (True, False)
        )
        if {tracked.verdict, untracked.verdict} != {StreamVerdict.CONTINUES}:
            with_location = f"a stream with a schemaTrackingLocation {effect_text(tracked)}"
            yield f"{with_location}; one without {effect_text(untracked)}", []
    if plan.steps or plan.refusals:
        yield from ((f"client {client_text(client)}", []) for client in plan.clients)


def table_title(plan: TablePlan) -> str:
    """Return a table's name in the contract, with its full catalog name or its URI."""
    return f"{plan.table} ({plan.name or plan.uri})"


def table_state(plan: TablePlan) -> str:
    """Summarize a table's plan in a few words."""
    if plan.refusals:
        waits = all(refusal.kind is RefusalKind.REWRITE for refusal in plan.refusals)
        return "waits for a rewrite" if waits else "refused"
    if plan.steps:
        return "create" if plan.live is None else f"version {plan.version}"
    if plan.waiting:
        return "waiting for the next change (or --cosmetic now)"
    return "up to date"
