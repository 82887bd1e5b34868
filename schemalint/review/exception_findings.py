"""Findings about exceptions: those past their end or near it, and those that approve nothing.

Remove exceptions from the texts that they are written in.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from schemalint.base.document import Document, Path, node_at, read_documents
from schemalint.base.document import Sequence as YamlSequence
from schemalint.base.errors import ContractError
from schemalint.base.values import grouped, replace
from schemalint.contract.text_editor import TextEditor
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.history import HistoryStep
from schemalint.delta.path import format_path
from schemalint.delta.table import LiveTable, TableState
from schemalint.judge.case import Case
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import judge
from schemalint.model.contract import Contract, table_key
from schemalint.model.contract_edit import Remove, TextChange
from schemalint.model.effective import EVERYWHERE, effective
from schemalint.model.exception import ExceptionSource, RuleException, WrittenException, named_object
from schemalint.model.fact import Drift, JudgedException, LiveTableMissing, RootWithoutTables
from schemalint.model.finding import Finding
from schemalint.plugin import Rule
from schemalint.review.approve import ExceptionResult, exception_keys, is_expired, last_day
from schemalint.review.check_cases import CheckCases
from schemalint.review.check_input import CheckInput
from schemalint.review.rulebook import load_rules, nearest_rules

SOON: Final = 30
"""The days before its end from which on an exception ends soon."""

AUDITED: Final = frozenset({HistoryStep, PhysicalTypes})
"""The facts that only an audit judges completely."""

_LIVE: Final = {LiveTable, *AUDITED, Drift, LiveTableMissing, RootWithoutTables}


def exception_findings(
    exceptions: Iterable[WrittenException],
    outcome: ExceptionResult,
    request: CheckInput,
    cases: CheckCases,
    sources: Mapping[str, str],
) -> Iterator[Finding]:
    """Yield the findings about the exceptions of judged tables, with the text changes that remove them."""
    judged, live = set(cases.sides.tables()), cases.live_keys
    # Only a live table shows what an exception of one that has no contract is for.
    made = request.made_with_overlays
    uncontracted = made.uncontracted.keys() if made else ()
    relevant = [
        written
        for written in exceptions
        if (request.everything and request.only is None)
        or written.added
        or table_key(written.table) in judged
    ]

    def is_judged(written: WrittenException, rule: Rule) -> bool:
        key = table_key(written.table)
        if key in live and not AUDITED.issuperset(rule.subjects):
            return True
        return key not in uncontracted and not needs_live(written, rule)

    facts = judged_exceptions(relevant, outcome, request.rules.rules, request.exceptions.today, is_judged)
    verdicts = [
        (fact, finding)
        for fact in facts
        for finding in judge_exception(
            fact, cases.rules_at(table_key(fact.written.table), fact.written.location.file)
        )
    ]
    fixes = removals((fact.written for fact, finding in verdicts if finding.fix is not None), sources)
    for fact, finding in verdicts:
        changes = fixes.get(fact.written, ())
        yield replace(finding, text_changes=changes, fix=finding.fix if changes else None)


def judge_exception(fact: JudgedException, rules: tuple[RuleSet, ...]) -> tuple[Finding, ...]:
    """Return the findings of a fact about an exception."""
    contract = effective(Contract(fact.written.table, TableState()), EVERYWHERE)
    return judge(Case(rules, declared=contract, facts=(fact,))).findings


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
    used, failed = outcome.used, outcome.failed
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
            yield JudgedException(
                written, "unused", days=days, wanted=_wanted(written, rule, outcome.remaining)
            )


def _wanted(
    written: WrittenException, rule: Rule, findings: Iterable[Finding]
) -> tuple[tuple[str, str], ...]:
    """Return what an exception of a rule would have to say: of the finding that shares most with it."""
    key, exception = table_key(written.table), written.exception
    said = {
        ("column", None if exception.column is None else format_path(exception.column)),
        ("from", exception.old),
        ("to", exception.new),
        named_object(exception),
    }
    of_rule = (
        tuple(pair for pair in exception_keys(finding) if pair[0] not in ("rule", "reason"))
        for finding in findings
        if finding.code == rule.code and table_key(finding.table) == key and not finding.existing
    )
    return max(of_rule, key=lambda pairs: len(said & set(pairs)), default=())


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


_LISTS: Final = {ExceptionSource.CONTRACT: "allow", ExceptionSource.FILE: "exceptions"}


def removals(
    exceptions: Iterable[WrittenException], sources: Mapping[str, str]
) -> dict[WrittenException, tuple[TextChange, ...]]:
    """Return the text changes that remove exceptions; none for those in a layout that cannot be edited.

    Those of one file are removed together: none of them alone knows whether it is the last one of its list,
    and the proof of an edit reads the whole text.
    """
    changes_of: dict[WrittenException, tuple[TextChange, ...]] = {}
    for file, together in grouped((written.location.file, written) for written in exceptions).items():
        if file in sources:
            with suppress(ContractError):  # the layout of one of them cannot be edited: a person can
                changes_of |= _without_items(read_documents(sources[file], file), together)
    return changes_of


def _without_items(
    documents: Sequence[Document], exceptions: Iterable[WrittenException]
) -> dict[WrittenException, tuple[TextChange, ...]]:
    paths: dict[WrittenException, Path] = {}
    places = {written: _document_of(written, documents) for written in exceptions}
    for index, together in grouped((place, written) for written, place in places.items()).items():
        key = _LISTS[together[0].source]
        node = node_at(documents[index], (key,))
        if isinstance(node, YamlSequence):
            keeps_none = key == "allow" and len({each.index for each in together}) == len(node.items)
            paths |= {written: (key,) if keeps_none else (key, written.index) for written in together}
    changes_of: dict[WrittenException, tuple[TextChange, ...]] = {}
    for index, of_document in grouped((places[written], written) for written in paths).items():
        operations = {written: Remove(paths[written]) for written in of_document}
        changes = TextEditor(documents[index]).changes(operations.values())
        change_of = {operation: change for change in changes for operation in change.operations}
        changes_of |= {written: (change_of[removal],) for written, removal in operations.items()}
    return changes_of


def _document_of(written: WrittenException, documents: Sequence[Document]) -> int:
    """Return the index of the document that an exception stands in: the last one that begins above it."""
    line = written.location.line or 1
    return max(index for index, each in enumerate(documents) if index == 0 or _first_line(each) <= line)


def _first_line(document: Document) -> int:
    return document.location(document.span).line or 1
