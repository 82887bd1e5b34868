"""What formats for people say of a finding besides its message, and the findings that exceptions silence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from schemalint.base.errors import Location, SchemalintError
from schemalint.base.phrases import affixed, counted
from schemalint.base.printable import printable
from schemalint.model.contract_edit import Fix
from schemalint.model.finding import ApprovedFinding, CheckResult, Finding
from schemalint.report.text_helpers import error_name
from schemalint.report.words import consequence_text, way_text

FAILURE = "failure"
"""The label of errors that kept schemalint from checking; it separates them from findings."""


class Note(NamedTuple):
    """A labelled line; the text is safe to print."""

    label: str
    text: str

    def __str__(self) -> str:
        return f"{self.label}: {self.text}"


def finding_notes(finding: Finding) -> Iterator[Note]:
    """Yield the place in the base, Delta's error, what to do, what follows and the fix, where they exist."""
    if finding.previous_location:
        yield Note("in the base", location_text(finding.previous_location))
    if finding.delta_error:
        yield Note("Delta's error", printable(error_name(finding.delta_error)))
    if finding.existing:
        fails = "it fails no run" if finding.in_baseline else "it fails the run only with --strict"
        yield Note("note", f"{known_text(finding)}; {fails}")
    if finding.help:
        yield Note("do", printable(finding.help))
    yield from (Note("then", printable(consequence_text(each))) for each in finding.then)
    yield from (Note("way out", printable(way_text(way))) for way in finding.ways)
    if finding.fix:
        yield Note("fix", f"{printable(finding.fix.title)} ({_fix_options(finding.fix)})")


def failure_notes(error: SchemalintError) -> Iterator[Note]:
    """Yield the help, if there is any."""
    if error.help:
        yield Note("help", printable(error.help))


def known_text(finding: Finding) -> str:
    """Say where an existing finding is known from."""
    if finding.in_baseline:
        return "the baseline has it"
    return "the base has it too"


def subject(finding: Finding) -> str:
    """Describe the table, the target, and the sides of the comparison if there is more than the base.

    The text is empty for a finding about the configuration.
    """
    parts = [finding.table] if finding.table else []
    if finding.target is not None:
        parts.append(f"target {finding.target}")
    if finding.against != ("git",):
        parts.append(f"against {' and '.join(finding.against)}")
    return printable(", ".join(parts))


def location_text(location: Location) -> str:
    """Format ``file:line:column``, which terminals and editors turn into a link."""
    return printable(str(location))


def _fix_options(fix: Fix) -> str:
    if fix.safe:
        return "apply with --fix"
    return "apply with --fix --unsafe-fixes, and review the result"


def approved_lines(result: CheckResult) -> list[str]:
    """Describe each finding that this change approves, and count those that were approved before."""
    approvals = added(result)
    lines = []
    for approval in approvals:
        lines.append(f"approved in this change: {_approval_text(approval)}")
        lines += (f"  way out: {text}" for text in approval_ways(approval))
    earlier = len(result.approved) - len(approvals)
    if earlier:
        when = " before this change" if result.inventory is None else ""
        lines.append(f"{counted(earlier, 'finding')} approved{when}")
    return lines


def added(result: CheckResult) -> tuple[ApprovedFinding, ...]:
    """Return the approvals that the change under review adds."""
    return tuple(approval for approval in result.approved if approval.by.added)


def _approval_text(approval: ApprovedFinding) -> str:
    """Describe a finding with what approves it; the approver's name is a claim."""
    finding = approval.finding
    return f"{finding.code} {finding.table}: {finding.message} ({approval_reason(approval)})"


def approval_ways(approval: ApprovedFinding) -> list[str]:
    """Return the ways to what Delta cannot do in place, with their costs."""
    return [way_text(way) for way in approval.finding.ways]


def approval_reason(approval: ApprovedFinding) -> str:
    """Say who approves a finding, why, until when, and where that is written."""
    exception = approval.by.exception
    until = affixed("until ", exception.expires)
    parts = (exception.reason, approval.by.claim, until, str(approval.by.location))
    return "; ".join(filter(None, parts))
