"""The findings that exceptions silence; those that the change under review approves come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.report.text import counted
from schemalint.report.ways import way_text

if TYPE_CHECKING:
    from schemalint.model.finding import ApprovedFinding, CheckResult


def approved_lines(result: CheckResult) -> list[str]:
    """Describe each finding that this change approves, and count those that were approved before."""
    approvals = added(result)
    lines = []
    for approval in approvals:
        lines.append(f"approved in this change: {approval_text(approval)}")
        lines += (f"  way out: {text}" for text in approval_ways(approval))
    earlier = len(result.approved) - len(approvals)
    if earlier:
        when = " before this change" if result.inventory is None else ""
        lines.append(f"{counted(earlier, 'finding')} approved{when}")
    return lines


def added(result: CheckResult) -> tuple[ApprovedFinding, ...]:
    """Return the approvals that the change under review adds."""
    return tuple(approval for approval in result.approved if approval.by.added)


def approval_text(approval: ApprovedFinding) -> str:
    """Describe a finding with what approves it; the approver's name is a claim."""
    finding = approval.finding
    return f"{finding.code} {finding.table}: {finding.message} ({approval_reason(approval)})"


def approval_ways(approval: ApprovedFinding) -> list[str]:
    """Return the ways to what Delta cannot do in place, with their costs."""
    return [way_text(way) for way in approval.finding.ways]


def approval_reason(approval: ApprovedFinding) -> str:
    """Say who approves a finding, why, until when, and where that is written."""
    exception = approval.by.exception
    until = f"until {exception.expires}" if exception.expires else ""
    parts = (exception.reason, approval.by.claim, until, str(approval.by.location))
    return "; ".join(part for part in parts if part)
