"""The verdict on a case: find the facts, ask the rules, return the findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from schemalint.base.values import frozen, replace
from schemalint.delta.change import TableAdded
from schemalint.delta.table import TableState
from schemalint.judge.case import Case, Purpose, git_changes, git_context, live_context
from schemalint.judge.consumer_findings import clients_of, reader_findings, streams_affected
from schemalint.judge.follow_ups import with_follow_ups
from schemalint.judge.protocol_upgrades import standing_upgrades, with_upgrade_findings
from schemalint.judge.rule_judge import AskedRules, highest_severities, marked, without_ambiguous_columns
from schemalint.judge.rule_set import reports, rules_for
from schemalint.model.client import ClientSupport
from schemalint.model.declaration import created_state
from schemalint.model.effective import Effective
from schemalint.model.fact import (
    DuplicateTable,
    JudgedException,
    LiveTableMissing,
    RootWithoutTables,
)
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Rule, RuleContext

if TYPE_CHECKING:
    from schemalint.model.stream_report import StreamReport

_AGAINST: Final[Mapping[type, tuple[str, ...]]] = {
    DuplicateTable: ("contract",),
    JudgedException: ("contract",),
    LiveTableMissing: ("live",),
    RootWithoutTables: ("live",),
}
"""What the facts of a source compare; all other facts compare with git."""


@frozen
class Verdict:
    """What is wrong with a table, and what the change does to its readers.

    Attributes:
        findings: What one of the configurations reports.
    """

    case: Case
    findings: tuple[Finding, ...]

    @property
    def clients(self) -> tuple[ClientSupport, ...]:
        """What the declared clients do with the table before and after the change."""
        return clients_of(self._context) if self._has_consumers else ()

    @property
    def streams(self) -> tuple[StreamReport, ...]:
        """What the change does to the declared streams; nothing without a statement."""
        if not self._has_consumers:
            return ()
        affected = streams_affected(self._context, self.case.tracking)
        return affected.streams if affected is not None else ()

    @property
    def _has_consumers(self) -> bool:
        sides = () if self.case.facts else (self.case.base, self.case.declared)
        return any(contract.consumers for contract in sides if contract is not None)

    @cached_property
    def _context(self) -> RuleContext:
        case = self.case
        if case.live is None:
            return git_context(case.base, case.contract)
        return live_context(case.edit, case.live, case.base, case.tracking, case.renamed)


def judge(case: Case) -> Verdict:
    """Return the verdict on a case.

    A finding of the contract or of the table that the base gives too, at least as severe, is marked as
    existing: the change under review did not cause it. A finding about the change itself never is.
    """
    rules = AskedRules(_asked(rules_for(case.rules, case.contract.table), case))
    findings = (replace(finding, target=case.target) for finding in _findings(rules, case))
    return Verdict(case, tuple(finding for finding in findings if reports(case.rules, finding)))


def _asked(rules: tuple[Rule, ...], case: Case) -> tuple[Rule, ...]:
    """Return the rules that a case asks: no statement depends on what a team wants of names and owners.

    A table that nobody contracted has promised nothing to anybody either.
    """
    wants_nothing = case.purpose in (Purpose.PLAN, Purpose.CREATION) or (
        case.purpose is Purpose.CHECK and not case.contract.is_contracted
    )
    if wants_nothing and any(rule.scope == "policy" for rule in rules):
        return tuple(rule for rule in rules if rule.scope != "policy")
    return rules


def _findings(rules: AskedRules, case: Case) -> Iterable[Finding]:
    if case.facts:
        return _of_facts(rules, case)
    if case.live is None:
        return _without_table(rules, case)
    if case.purpose is Purpose.AUDIT:
        from schemalint.judge.table_judge import of_table_alone  # noqa: PLC0415 (only with live tables)
        from schemalint.judge.undeclared_features import undeclared_features  # noqa: PLC0415 (as above)

        findings = of_table_alone(rules, case, case.live)
        if case.declared is None:
            return findings
        drifted = undeclared_features(rules, live_context(case.contract, case.live), case)
        return (*findings, *drifted)
    from schemalint.judge.live_judge import with_table  # noqa: PLC0415 (only with live tables)

    return with_table(rules, case, case.live)


def _of_facts(rules: AskedRules, case: Case) -> Iterator[Finding]:
    context = git_context(case.base, case.contract)
    for fact in case.facts:
        yield from rules(fact, context, _AGAINST.get(type(fact), ("git",)))


def _without_table(rules: AskedRules, case: Case) -> Iterable[Finding]:
    """Judge a contract and its base: the table that Delta creates from the base replaces the live one."""
    before, after = case.base, case.contract
    if case.purpose is Purpose.CREATION:
        return _of_creation(rules, case)
    judged = partial(_compared, rules, before, created_state(before.state) if before else None)
    return with_follow_ups(judged(after), after, judged)


def _of_creation(rules: AskedRules, case: Case) -> Iterator[Finding]:
    """Yield the errors of the table that is made from the contract, and whether the base has them too."""
    of_base = _without_table(rules, Case((), declared=case.base)) if case.base else ()
    existing = {finding.identity for finding in of_base if finding.severity >= Severity.ERROR}
    for finding in _without_table(rules, Case((), declared=case.contract)):
        if finding.severity >= Severity.ERROR:
            yield replace(finding, existing=finding.identity in existing)


def _compared(
    rules: AskedRules, before: Effective | None, created: TableState | None, after: Effective
) -> tuple[Finding, ...]:
    ctx = git_context(before, after, created)
    of_changes = (finding for fact in git_changes(before, after) for finding in rules(fact, ctx, ("git",)))
    findings = without_ambiguous_columns((*of_changes, *_of_contract(rules, before, ctx)))
    if after.managed_how == "create" and before is not None:
        return tuple(findings)  # nothing happens to a table that exists
    upgrades = standing_upgrades(ctx, findings) if before is not None else ()
    of_readers = tuple(reader_findings(rules, ctx, upgrades, findings, ("git",)))
    for upgrade in upgrades:
        findings = with_upgrade_findings(findings, upgrade, tuple(rules(upgrade, ctx, ("git",))))
    return (*findings, *of_readers)


def _of_contract(rules: AskedRules, before: Effective | None, ctx: RuleContext) -> Iterator[Finding]:
    """Yield a contract's own findings; they are existing if the base has them, at least as severe.

    A table that another tool builds anew is a new one each time.
    """
    findings = tuple(_of_state(rules, ctx.contract, ctx, is_new=before is None))
    return marked(findings, _base_severities(rules, before) if findings and before else {})


def _base_severities(rules: AskedRules, contract: Effective) -> Mapping[object, Severity]:
    """Return the highest severity of each finding that a contract gives for its own table."""
    return highest_severities(_of_state(rules, contract, git_context(contract, contract)))


def _of_state(
    rules: AskedRules, contract: Effective, ctx: RuleContext, *, is_new: bool = False
) -> Iterator[Finding]:
    yield from rules(contract, ctx, ("git",))
    if contract.is_rebuilt and not is_new:
        yield from rules(TableAdded(contract.state), ctx, ("git",))
