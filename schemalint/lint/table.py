"""Judge a live table and its history, with or without a contract."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from schemalint.base.errors import Location
from schemalint.base.values import replace
from schemalint.delta.change import TableAdded
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.live_effect import CHECKED_ON_CHANGE, OTHER_CLASS
from schemalint.delta.live_history import live_steps
from schemalint.delta.table import LiveTable
from schemalint.lint.judge import Judge
from schemalint.lint.live import is_refusal_of_table, live_context
from schemalint.model.contract import Contract
from schemalint.model.fact import Fact
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Rule, RuleContext

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
        rules: The rules; those with `LiveTable`, `HistoryStep` or `PhysicalTypes` among their subjects run,
            and those with ``live`` that judge what a new table may have.
        name: The table's name without a contract; by default its URI.
        contract: The contract effective for the table's target.
        files: The types in the data files, if they were read.

    Returns:
        Findings against ``live`` or ``history``, located in the contract; without a contract, at the table or
        at the judged commit.
    """
    ctx = live_context(contract or as_declared(table, name), table)
    located = (
        *_findings(Judge(tuple(rules)), table, files, ctx),
        *((table.uri, finding) for finding in _of_new_table(table, rules, ctx)),
    )
    return tuple(
        finding if contract else replace(finding, location=Location(location))
        for location, finding in located
    )


def judge_state(
    table: LiveTable, rules: Sequence[Rule], *, name: str | None = None, contract: Contract | None = None
) -> tuple[Finding, ...]:
    """Return the findings of the rules about declared states, for the state that a table has.

    `check --live` and `plan` need no such findings: there the same rules judge the state to come.

    Args:
        table: The table.
        rules: The rules; those with ``live`` run.
        name: As for `judge_table`.
        contract: As for `judge_table`; what it declares does not matter.
    """
    declared = _as_it_is(contract or as_declared(table, name), table)
    found = _of_state(declared, table, rules, declared)
    return tuple(finding if contract else replace(finding, location=Location(table.uri)) for finding in found)


def _of_new_table(table: LiveTable, rules: Sequence[Rule], ctx: RuleContext) -> Iterator[Finding]:
    """Yield what the rules about new tables find in the table.

    A statement that changes metadata checks the state that it makes, so what the declaration keeps fails it.
    """
    kept = frozenset[object]()
    if ctx.changes:
        judge = Judge(tuple(rule for rule in rules if rule.live))
        kept = frozenset(finding.identity for finding in judge(TableAdded(ctx.after), ctx, LIVE))
    return _of_state(TableAdded(table.state), table, rules, ctx.contract, kept)


def _of_state(
    fact: Fact,
    table: LiveTable,
    rules: Sequence[Rule],
    contract: Contract,
    kept: Collection[object] = frozenset(),
) -> Iterator[Finding]:
    ctx = live_context(_as_it_is(contract, table), table)
    judge = Judge(tuple(rule for rule in rules if rule.live))
    for finding in judge(fact, ctx, LIVE):
        yield _on_live_table(finding, is_checked=finding.identity in kept)


def _as_it_is(contract: Contract, table: LiveTable) -> Contract:
    return replace(contract, state=table.state, drop_features=frozenset())


def _on_live_table(finding: Finding, *, is_checked: bool) -> Finding:
    """Return a finding as it is for a live table: a warning if only a change of metadata would check it."""
    error = OTHER_CLASS.get(finding.delta_error or "", finding.delta_error)
    if error in CHECKED_ON_CHANGE and not is_checked:
        return replace(finding, delta_error=error, severity=min(finding.severity, Severity.WARNING))
    return replace(finding, delta_error=error)


def refused_by_spark(contract: Contract, table: LiveTable, rules: Sequence[Rule]) -> tuple[Finding, ...]:
    """Return the findings that prevent Delta Spark from reading or writing the table, and so any plan."""
    findings = judge_table(table, rules, contract=contract)
    return tuple(finding for finding in findings if is_refusal_of_table(finding))


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
    for step in live_steps(table.history):
        for finding in judge(step, ctx, HISTORY):
            yield f"{table.uri}/_delta_log/{step.entry.version:020}.json", finding
