"""Approve findings by the exceptions that name them, and by the baseline.

An exception names a rule, an object and a change, never a line or a message: so an approved narrowing does
not cover the next one.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Final

from schemalint.base.values import field, frozen, grouped, replace
from schemalint.delta.path import format_path
from schemalint.delta.type_text import parse_type, print_type
from schemalint.model.contract import table_key
from schemalint.model.exception import NAMED, RuleException, WrittenException, named_object
from schemalint.model.finding import ApprovedFinding, Finding, Severity
from schemalint.model.rule_codes import DRIFT_SCHEMA, NEVER_APPROVED
from schemalint.plugin import Rule
from schemalint.review.baseline import Baseline, written_exception

NEEDS_REWRITE: Final = "Delta cannot do this in place, so an approval needs a way out: via: rewrite"


@frozen
class ExceptionResult:
    """The findings of a run after its exceptions and its baseline.

    Attributes:
        remaining: The findings that nothing approves; those of the baseline are marked.
        approved: The approved findings, first those that the change under review approves.
        failed: The exceptions that name a finding and do not approve it, with the reason.
        covered: How many findings each entry of the baseline covers, by fingerprint.
    """

    remaining: tuple[Finding, ...]
    approved: tuple[ApprovedFinding, ...] = ()
    failed: Mapping[WrittenException, str] = field(default_factory=dict)
    covered: Mapping[str, int] = field(default_factory=dict)

    @property
    def used(self) -> frozenset[WrittenException]:
        """The exceptions that approve something."""
        return frozenset(approved.by for approved in self.approved)


def approve(
    findings: Iterable[Finding],
    exceptions: Sequence[WrittenException],
    rules: Iterable[Rule],
    today: dt.date,
    baseline: Baseline | None = None,
) -> ExceptionResult:
    """Divide findings into those that exceptions or the baseline approve, and the others.

    Args:
        findings: The judged findings.
        exceptions: All exceptions that are written, also those that do not count.
        rules: The rules of the findings; they say what Delta cannot do.
        today: The date of the run.
        baseline: The baseline; an exception comes first.
    """
    if not exceptions and baseline is None:
        return ExceptionResult(tuple(findings))
    approval = _approvals(exceptions, {rule.code: rule for rule in rules}, today)
    remaining: list[Finding] = []
    approved: list[ApprovedFinding] = []
    failed: dict[WrittenException, str] = {}
    covered: Counter[str] = Counter()
    for finding in findings:
        by = approval(finding, failed)
        if by is None and baseline is not None:
            number = covered[finding.fingerprint] + 1
            if (entry := baseline.entry_for(finding, number)) is not None:
                covered[finding.fingerprint] = number
                if baseline.has_merged(finding, number):
                    remaining.append(replace(finding, existing=True, in_baseline=True))
                    continue
                by = None if baseline.void(finding) else written_exception(baseline, entry, added=True)
        if by is None:
            remaining.append(finding)
        else:
            approved.append(ApprovedFinding(finding, by))
    approved.sort(key=lambda approval: not approval.by.added)
    return ExceptionResult(tuple(remaining), tuple(approved), failed, covered)


def _approvals(
    exceptions: Sequence[WrittenException], rules: Mapping[str, Rule], today: dt.date
) -> Callable[[Finding, dict[WrittenException, str]], WrittenException | None]:
    """Return a search for the exception that approves a finding, which notes why others do not."""
    # Where a merged exception suffices, nothing is said of one that the change adds.
    by_subject = grouped(
        (key, (number, written))
        for number, written in enumerate(sorted(exceptions, key=lambda written: written.added))
        for key in _keys(written)
    )

    def approval(finding: Finding, failed: dict[WrittenException, str]) -> WrittenException | None:
        candidates = chain(*(by_subject.get(key, ()) for key in _keys_of(finding))) if by_subject else ()
        for _number, written in sorted(candidates, key=itemgetter(0)):
            if _names(written, finding):
                reason = _obstacle(written, finding, rules.get(finding.code), today)
                if reason is None:
                    return written
                failed.setdefault(written, reason)
        return None

    return approval


def _names(written: WrittenException, finding: Finding) -> bool:
    """Whether an exception names the rule, the object and the change of a finding of its table.

    One that names no object, or no change although the finding has one, names the finding too: it approves
    nothing, and its author should learn why.
    """
    exception = written.exception
    return (
        _is_of(exception, finding)
        and (not _has_object(exception) or _is_about(exception, finding))
        and all(
            value_named is None or (value is not None and _same(value_named, value))
            for value_named, value in ((exception.old, finding.old), (exception.new, finding.new))
        )
    )


def is_expired(exception: RuleException, today: dt.date) -> bool:
    """Whether the last day of an exception is past, or is no date."""
    if exception.expires is None:
        return False
    last = last_day(exception)
    return last is None or last < today


def last_day(exception: RuleException) -> dt.date | None:
    """Return the last day of an exception; None if it has none, or a text that is no date."""
    with suppress(ValueError):
        return dt.datetime.strptime(exception.expires or "", "%Y-%m-%d").replace(tzinfo=dt.UTC).date()
    return None


def _keys(written: WrittenException) -> Iterator[Hashable]:
    """Yield what `_keys_of` yields for the findings that an exception names, and perhaps for others."""
    exception = written.exception
    subject: Hashable = exception.object and ("object", exception.object)
    if named_part := named_object(exception):
        subject = named_part[0], named_part[1].casefold()
    if exception.column is not None:
        subject = "column", format_path(exception.column).lower()
    for rule in {exception.rule, DRIFT_SCHEMA} if exception.via else (exception.rule,):
        yield table_key(written.table), rule, subject


def _keys_of(finding: Finding) -> Iterator[Hashable]:
    kind, name = finding.object.kind, finding.object.name.casefold()
    subjects = (
        None,
        ("column", (finding.column or "").lower()),
        ("object", kind.casefold()),
        (kind, name),
    )
    for rule in {finding.code, finding.rule}:
        for subject in dict.fromkeys(subjects):
            yield table_key(finding.table), rule, subject


def _is_of(exception: RuleException, finding: Finding) -> bool:
    if exception.rule in (finding.code, finding.rule):
        return True
    # Drift that no statement can end is the change that the rewrite makes.
    return exception.via is not None and finding.code == DRIFT_SCHEMA and finding.severity is Severity.ERROR


def _has_object(exception: RuleException) -> bool:
    return any((exception.column, named_object(exception), exception.object))


def _is_about(exception: RuleException, finding: Finding) -> bool:
    if exception.column is not None:
        return finding.column is not None and finding.column.lower() == format_path(exception.column).lower()
    if named_part := named_object(exception):
        return (finding.object.kind, finding.object.name.casefold()) == (
            named_part[0],
            named_part[1].casefold(),
        )
    return not finding.path and finding.object.kind == exception.object


def _same(text: str, value: str) -> bool:
    """Whether a text is a finding's value; for a column it may leave out the name in front of the type."""
    _name, _, type_ = value.partition(": ")
    return _spelled(text) in (_spelled(value), _spelled(type_ or value))


def _spelled(text: str) -> str:
    """Return a value without the differences of spelling: types by meaning, white space once."""
    with suppress(ValueError):
        return print_type(parse_type(text))
    return " ".join(text.split())


def _obstacle(written: WrittenException, finding: Finding, rule: Rule | None, today: dt.date) -> str | None:
    """Return why an exception does not approve a finding that it names; None if it does."""
    exception = written.exception
    if written.void is not None:
        return written.void
    if is_expired(exception, today):
        return f"it expired: {exception.expires}"
    if finding.code in NEVER_APPROVED:
        return NEVER_APPROVED[finding.code]
    if not exception.reason.strip():
        return "it gives no reason"
    is_impossible = rule is not None and rule.verdict == "impossible" and finding.severity is Severity.ERROR
    if is_impossible and exception.via is None:
        return NEEDS_REWRITE
    if not _has_object(exception):
        return f"it names no object: {_object_entry(finding)}"
    for key, value_named, value in (("from", exception.old, finding.old), ("to", exception.new, finding.new)):
        if value_named is None and value is not None:
            return f"it does not name the change: {key}: {value}"
    return None


def _object_entry(finding: Finding) -> str:
    """Return the key of an exception that names the object of a finding, with its value."""
    if finding.column is not None:
        return f"column: {finding.column}"
    kind, name = finding.object.kind, finding.object.name
    if kind in NAMED:
        return f"{kind}: {name}"
    return f"object: {kind}"


def exception_keys(finding: Finding) -> Iterator[tuple[str, str]]:
    """Yield the keys of an exception that approves a finding, with an empty reason."""
    yield "rule", finding.code
    kind, name = finding.object.kind, finding.object.name
    if finding.column is not None:
        yield "column", finding.column
    elif kind in NAMED:
        yield kind, name
    else:
        yield "object", kind
    if finding.old is not None:
        yield "from", finding.old
    if finding.new is not None:
        yield "to", finding.new
    if finding.needs_rewrite:
        yield "via", "rewrite"
    yield "reason", ""
