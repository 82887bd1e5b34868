"""Findings about exceptions: those past their end or near it, and those that approve nothing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from schemalint.base.values import replace
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.history import HistoryStep
from schemalint.delta.table import LiveTable, TableState
from schemalint.lint.check_input import CheckInput
from schemalint.lint.context import git_context
from schemalint.lint.exception_removal import removals
from schemalint.lint.exceptions import ExceptionResult, is_expired, last_day
from schemalint.lint.judge import Judge
from schemalint.lint.rulebook import load_rules, nearest_rules
from schemalint.model.contract import Contract, table_key
from schemalint.model.exception import RuleException, WrittenException
from schemalint.model.fact import Drift, JudgedException, LiveTableMissing, RootWithoutTables
from schemalint.model.finding import Finding

if TYPE_CHECKING:
    from schemalint.plugin import Rule

SOON: Final = 30
"""The days before its end from which on an exception ends soon."""

AUDITED: Final = frozenset({HistoryStep, PhysicalTypes})
"""The facts that only an audit judges completely."""

_LIVE: Final = {LiveTable, *AUDITED, Drift, LiveTableMissing, RootWithoutTables}


def exception_findings(
    exceptions: Iterable[WrittenException],
    outcome: ExceptionResult,
    request: CheckInput,
    judged: Collection[str],
    live: Collection[str],
    sources: Mapping[str, str],
) -> Iterator[Finding]:
    """Yield the findings about the exceptions of judged tables, with the text changes that remove them.

    Args:
        exceptions: The exceptions.
        outcome: What they approve.
        request: The input of the run.
        judged: The keys of the judged tables.
        live: The keys of those that were compared with their live state.
        sources: The text of each file.
    """
    relevant = [
        written
        for written in exceptions
        if (request.everything and request.only is None)
        or written.added
        or table_key(written.table) in judged
    ]

    def is_judged(written: WrittenException, rule: Rule) -> bool:
        is_live = table_key(written.table) in live and not AUDITED.issuperset(rule.subjects)
        return is_live or not needs_live(written, rule)

    facts = judged_exceptions(relevant, outcome, request.rules, request.today, is_judged)
    found = [(fact, finding) for fact in facts for finding in judge_exception(fact, request.rules)]
    fixes = removals((fact.written for fact, finding in found if finding.fix is not None), sources)
    for fact, finding in found:
        changes = fixes.get(fact.written, ())
        yield replace(finding, text_changes=changes, fix=finding.fix if changes else None)


def judge_exception(fact: JudgedException, rules: Sequence[Rule]) -> Iterator[Finding]:
    """Yield the findings of a fact about an exception."""
    context = git_context(None, Contract(fact.written.table, TableState()))
    yield from Judge(tuple(rules))(fact, context, ("contract",))


def judged_exceptions(
    exceptions: Iterable[WrittenException],
    outcome: ExceptionResult,
    rules: Sequence[Rule],
    today: dt.date,
    is_judged: Callable[[WrittenException, Rule], bool],
) -> Iterator[JudgedException]:
    """Yield the facts about exceptions whose tables were judged.

    Args:
        exceptions: The exceptions.
        outcome: What they approve.
        rules: The selected rules.
        today: The date of the run.
        is_judged: Whether the run could find what an exception of a rule is for; otherwise it is not unused.
    """
    used, failed = outcome.used, outcome.failed or {}
    for written in exceptions:
        days = _days_left(written.exception, today)
        if is_expired(written.exception, today):
            yield JudgedException(written, "expired", days=days)
        elif written in used:
            if days is not None and days <= SOON:
                yield JudgedException(written, "expires soon", days=days)
        elif written in failed:
            yield JudgedException(written, "without effect", failed[written], days)
        elif (rule := _rule_of(written, rules)) is None:
            if _rule_of(written, load_rules()) is None:
                yield JudgedException(written, "without effect", _unknown_rule(written), days)
        elif is_judged(written, rule):
            yield JudgedException(written, "unused", days=days)


def _days_left(exception: RuleException, today: dt.date) -> int | None:
    last = last_day(exception)
    return None if last is None else (last - today).days


def _unknown_rule(written: WrittenException) -> str:
    close = nearest_rules(written.exception.rule, load_rules())
    return "there is no such rule" + (f": did you mean {' or '.join(close)}?" if close else "")


def _rule_of(written: WrittenException, rules: Iterable[Rule]) -> Rule | None:
    return next((rule for rule in rules if written.exception.rule in (rule.code, rule.name)), None)


def needs_live(written: WrittenException, rule: Rule) -> bool:
    """Whether only a live table shows what an exception of a rule is for: also a rewrite still to be done."""
    waits_for_rewrite = written.exception.via is not None and not written.added
    return waits_for_rewrite or _LIVE.issuperset(rule.subjects)
