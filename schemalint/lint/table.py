"""A live table and its history -> findings, with or without a contract."""

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
    """What the rules say of a table as it is, and of how it came to be.

    Args:
        table: With the history that is to be judged.
        rules: Those about a `LiveTable` or a `HistoryStep` are asked.
        name: What the table is called where there is no contract; its URI by default.
        contract: Effective for the table's target.
        files: What its data files hold, where they were looked at.

    Returns:
        Findings against ``live`` or ``history``, at their places in the contract; without a contract, at the
        table, or at the commit that they are about.
    """
    ctx = live_context(contract or as_declared(table, name), table)
    return tuple(
        finding if contract else replace(finding, location=Location(place))
        for place, finding in _findings(Judge(tuple(rules)), table, files, ctx)
    )


def refused_by_spark(contract: Contract, table: LiveTable, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """What keeps Delta Spark from reading or writing the table as it is: no plan for it could be run."""
    return tuple(one for one in judge_table(table, rules, contract=contract) if is_refusal_of_table(one))


def history_steps(table: LiveTable) -> tuple[HistoryStep, ...]:
    """Every commit that changed metadata or protocol, with both as they were before it, oldest first."""
    known = tuple(steps(table.history))
    replaced = _replaced(known)
    return tuple(replace(one, superseded=one.entry.version < replaced) for one in known)


def as_declared(table: LiveTable, name: str | None = None) -> Contract:
    """The contract that declares a table just as it is."""
    return Contract(name or table.uri, table.state, location=table.uri)


def _findings(
    judge: Judge, table: LiveTable, files: PhysicalTypes | None, ctx: RuleContext
) -> Iterator[tuple[str, Finding]]:
    """Each finding with the place of what it is about: the table, or a commit of its log."""
    for fact in (table, files) if files is not None else (table,):
        for finding in judge(fact, ctx, LIVE):
            yield table.uri, finding
    for step in history_steps(table):
        for finding in judge(step, ctx, HISTORY):
            yield f"{table.uri}/_delta_log/{step.entry.version:020}.json", finding


def _replaced(known: Sequence[HistoryStep]) -> int:
    """The last version that replaced all files; 0 if a RESTORE may have brought older ones back since."""
    if any(type_history.is_restore(one.entry) for one in known):
        return 0
    return max((one.entry.version for one in known if type_history.replaces_all_files(one.entry)), default=0)
