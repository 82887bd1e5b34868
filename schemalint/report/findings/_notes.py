"""What the formats for people say of one finding besides its message."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schemalint.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.errors import Location, SchemalintError
    from schemalint.model.finding import Finding, Fix

FAILURE = "failure"
"""The label of what could not be judged, so that nobody takes it for a finding."""


class Note(NamedTuple):
    """A labelled line; the text is safe to print."""

    label: str
    text: str


def finding_notes(finding: Finding) -> Iterator[Note]:
    """Help, the place in the base, Delta's error class, the fix."""
    if finding.help:
        yield Note("help", printable(finding.help))
    if finding.previous_location:
        yield Note("in the base", place(finding.previous_location))
    if finding.delta_error:
        yield Note("Delta's error", printable(finding.delta_error))
    if finding.existing:
        yield Note("note", "the base has it too: it does not fail the run")
    if finding.fix:
        yield Note("fix", f"{printable(finding.fix.title)} ({_how(finding.fix)})")


def failure_notes(error: SchemalintError) -> Iterator[Note]:
    """The help, if there is one."""
    if error.help:
        yield Note("help", printable(error.help))


def subject(finding: Finding) -> str:
    """The table, for which target, and what it was compared with where that is not the base alone."""
    parts = [finding.table]
    if finding.target is not None:
        parts.append(f"target {finding.target}")
    if finding.against != ("git",):
        parts.append(f"against {' and '.join(finding.against)}")
    return printable(", ".join(parts))


def place(location: Location) -> str:
    """``file:line:column``, as terminals and editors turn it into a link."""
    return printable(str(location))


def _how(fix: Fix) -> str:
    return "--fix makes it" if fix.safe else "--fix --unsafe-fixes makes it; look at the result"
