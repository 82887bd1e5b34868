"""Judge a live table and its history, with or without a contract."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from typing import Final

from schemalint.base.errors import Location
from schemalint.base.values import Itself, frozen, replace
from schemalint.delta.change import TableAdded
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.live_effect import CHECKED_ON_CHANGE, OTHER_CLASS
from schemalint.delta.schema_history import live_steps
from schemalint.delta.table import LiveTable
from schemalint.judge.built_in_rules import with_built_in
from schemalint.judge.case import Case, as_declared, live_context
from schemalint.judge.rule_judge import AskedRules
from schemalint.model.effective import Effective
from schemalint.model.fact import Fact
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import RuleContext

LIVE: Final = ("live",)
HISTORY: Final = ("history",)


def of_table_alone(rules: AskedRules, case: Case, table: LiveTable) -> Iterator[Finding]:
    """Yield the findings of a table, its history, its data files, and the state that it has.

    `check --live` and `plan` judge the state to come by the same rules, and of the present state what is kept
    (`kept_refusals`). Findings are located in the contract; without one, at the table or the judged commit.
    """
    declared = _as_it_is(case.contract, table)
    for finding in (
        *table_findings(rules, table, case.contract, case.files),
        *_of_state(declared, rules, table, declared),
        *(_refused_by_engines(rules, case.contract, table) if case.declared and case.engines.all else ()),
    ):
        if case.declared is not None:
            yield finding
        elif finding.commit is not None:
            log = f"{table.uri}/_delta_log/{finding.commit.version:020}.json"
            yield replace(finding, location=Location(log))
        else:
            yield replace(finding, location=Location(table.uri))


def _refused_by_engines(rules: AskedRules, contract: Effective, table: LiveTable) -> Iterator[Finding]:
    """Yield what an engine refuses of the changes that the contract still needs."""
    ctx = live_context(contract, table)
    of_engines = AskedRules(tuple(rule for rule in rules.rules if rule.engine))
    for fact in (*ctx.changes, contract):
        yield from of_engines(fact, ctx, LIVE)


def table_findings(
    rules: AskedRules, table: LiveTable, contract: Effective, files: PhysicalTypes | None = None
) -> tuple[Finding, ...]:
    """Return the findings of a table and its history.

    The rules with `LiveTable`, `HistoryStep` or `PhysicalTypes` among their subjects run, and those with
    ``live`` that judge what a new table may have.

    Args:
        rules: The rules.
        table: The table with the history to judge.
        contract: The contract effective for the table's target.
        files: The types in the data files, if they were read.
    """
    ctx = live_context(contract, table)
    facts = (table, files) if files is not None else (table,)
    return (
        *(finding for fact in facts for finding in rules(fact, ctx, LIVE)),
        *(finding for step in live_steps(table.history) for finding in rules(step, ctx, HISTORY)),
        *_of_new_table(rules, table, ctx),
    )


def kept_refusals(rules: AskedRules, table: LiveTable, contract: Effective) -> Iterator[Finding]:
    """Yield what Delta Spark refuses of the state of a table, if the contract keeps it, declared or not."""
    as_it_is = _as_it_is(contract, table)
    found = [
        finding for finding in _of_state(as_it_is, rules, table, as_it_is) if is_refusal_of_table(finding)
    ]
    if not found:
        return
    after = replace(contract, state=live_context(contract, table).after)
    kept = {finding.place for finding in rules.live(after, live_context(after, table), LIVE)}
    yield from (finding for finding in found if finding.place in kept)


@frozen
class Faults:
    """Why clients cannot read a table, and why they cannot write it; see `TableForm.unreadable`."""

    unreadable: frozenset[str] = frozenset()
    unwritable: frozenset[str] = frozenset()


@lru_cache(maxsize=8)  # each declared client asks about the same table
def faults_of(table: Itself[LiveTable], contract: Itself[Effective] | None = None) -> Faults:
    """Return why clients cannot open a table, whatever rules are selected.

    Args:
        table: The table.
        contract: What it is brought to, if that may mend it; None for the table as it is.
    """
    live = table.value
    declared = as_declared(live) if contract is None else contract.value
    findings = (*table_findings(_built_in(), live, declared), *kept_refusals(_built_in(), live, declared))
    unreadable = frozenset(_fault(finding) for finding in findings if finding.unreadable)
    refused = frozenset(_fault(finding) for finding in findings if is_refusal_of_table(finding))
    return Faults(unreadable, unreadable | refused)


@cache
def _built_in() -> AskedRules:
    return AskedRules(with_built_in(()))


def _fault(finding: Finding) -> str:
    return " ".join(filter(None, (finding.code, finding.delta_error)))


def is_refusal_of_table(finding: Finding) -> bool:
    """Return whether a finding is the reason why Delta Spark cannot read or write the table."""
    return bool(finding.delta_error) and finding.severity >= Severity.ERROR and finding.against == LIVE


def _of_new_table(rules: AskedRules, table: LiveTable, ctx: RuleContext) -> Iterator[Finding]:
    """Yield what the rules about new tables find in the table.

    A statement that changes metadata checks the state that it makes, so what the declaration keeps fails it.
    """
    kept = frozenset[object]()
    if ctx.changes:
        kept = frozenset(finding.identity for finding in rules.live(TableAdded(ctx.after), ctx, LIVE))
    return _of_state(TableAdded(table.state), rules, table, ctx.contract, kept)


def _of_state(
    fact: Fact,
    rules: AskedRules,
    table: LiveTable,
    contract: Effective,
    kept: Collection[object] = frozenset(),
) -> Iterator[Finding]:
    ctx = live_context(_as_it_is(contract, table), table)
    for finding in rules.live(fact, ctx, LIVE):
        yield _on_live_table(finding, is_checked=finding.identity in kept)


def _as_it_is(contract: Effective, table: LiveTable) -> Effective:
    return replace(contract, state=table.state, drop_features=frozenset())


def _on_live_table(finding: Finding, *, is_checked: bool) -> Finding:
    """Return a finding as it is for a live table: a warning if only a change of metadata would check it."""
    error = OTHER_CLASS.get(finding.delta_error or "", finding.delta_error)
    if error in CHECKED_ON_CHANGE and not is_checked:
        return replace(finding, delta_error=error, severity=min(finding.severity, Severity.WARNING))
    return replace(finding, delta_error=error)
