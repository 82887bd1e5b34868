"""The notes on a finding besides its message, which the human-readable formats share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schemalint.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.errors import Location, SchemalintError
    from schemalint.model.finding import Finding, Fix

FAILURE = "failure"
"""The label of errors that kept schemalint from checking; it separates them from findings."""


class Note(NamedTuple):
    """A labelled line; the text is safe to print."""

    label: str
    text: str


def finding_notes(finding: Finding) -> Iterator[Note]:
    """Yield help, location in the base, Delta's error class and the fix, where they exist."""
    if finding.help:
        yield Note("help", printable(finding.help))
    if finding.previous_location:
        yield Note("in the base", location_text(finding.previous_location))
    if finding.delta_error:
        yield Note("Delta's error", printable(finding.delta_error))
    if finding.existing:
        yield Note("note", "the base has this finding too; it fails the run only with --strict")
    if finding.fix:
        yield Note("fix", f"{printable(finding.fix.title)} ({_fix_options(finding.fix)})")


def failure_notes(error: SchemalintError) -> Iterator[Note]:
    """Yield the help, if there is any."""
    if error.help:
        yield Note("help", printable(error.help))


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
    return "apply with --fix" if fix.safe else "apply with --fix --unsafe-fixes, and review the result"
