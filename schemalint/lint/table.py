"""Judge a live table and its history, with or without a contract."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.delta import type_history
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.history import HistoryStep, steps
from schemalint.delta.table import LiveTable
from schemalint.errors import Location
from schemalint.lint.judge import Judge
from schemalint.lint.live import is_refusal_of_table, live_context
from schemalint.model.contract import Contract
from schemalint.model.finding import Finding
from schemalint.plugin import Rule, RuleContext
from schemalint.values import replace

LIVE = ("live",)
HISTORY = ("history",)


def judge_table(
    table: LiveTable,
    rules: Sequence[Rule],
    *,
    name: str | None = None,
    contract: Contract | None = None,
    files: PhysicalTypes | None = None,
) -> tuple[Finding, ...]:
    """Return the findings of a table and its history.

    Args:
        table: The table with the history to judge.
        rules: The rules; those with `LiveTable`, `HistoryStep` or `PhysicalTypes` among their subjects run.
        name: The table's name without a contract; by default its URI.
        contract: The contract effective for the table's target.
        files: The types in the data files, if they were read.

    Returns:
        Findings against ``live`` or ``history``, located in the contract; without a contract, at the table or
        at the judged commit.
    """
    ctx = live_context(contract or as_declared(table, name), table)
    return tuple(
        finding if contract else replace(finding, location=Location(location))
        for location, finding in _findings(Judge(tuple(rules)), table, files, ctx)
    )


def refused_by_spark(contract: Contract, table: LiveTable, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """Return the findings that prevent Delta Spark from reading or writing the table, and so any plan."""
    findings = judge_table(table, rules, contract=contract)
    return tuple(finding for finding in findings if is_refusal_of_table(finding))


def history_steps(table: LiveTable) -> tuple[HistoryStep, ...]:
    """Return every commit that changed metadata or protocol, with the state before it, oldest first."""
    known = tuple(steps(table.history))
    rewritten = _last_full_rewrite(known)
    return tuple(replace(step, superseded=step.entry.version < rewritten) for step in known)


def as_declared(table: LiveTable, name: str | None = None) -> Contract:
    """Return the contract that declares a table exactly as it is."""
    return Contract(name or table.uri, table.state, location=table.uri)


def _findings(
    judge: Judge, table: LiveTable, files: PhysicalTypes | None, ctx: RuleContext
) -> Iterator[tuple[str, Finding]]:
    """Yield each finding with its location: the table, or a commit of its log."""
    for fact in (table, files) if files is not None else (table,):
        for finding in judge(fact, ctx, LIVE):
            yield table.uri, finding
    for step in history_steps(table):
        for finding in judge(step, ctx, HISTORY):
            yield f"{table.uri}/_delta_log/{step.entry.version:020}.json", finding


def _last_full_rewrite(known: Sequence[HistoryStep]) -> int:
    """Return the last version that replaced all files; 0 if a RESTORE may have restored older files."""
    if any(type_history.is_restore(step.entry) for step in known):
        return 0
    return max(
        (step.entry.version for step in known if type_history.replaces_all_files(step.entry)), default=0
    )
