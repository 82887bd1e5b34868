"""The notes on a finding besides its message, which the human-readable formats share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from schemalint.base.printable import printable
from schemalint.delta.ways import Way
from schemalint.report.delta_errors import error_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.base.errors import Location, SchemalintError
    from schemalint.delta.ways import WayOut
    from schemalint.model.finding import Finding, Fix

FAILURE = "failure"
"""The label of errors that kept schemalint from checking; it separates them from findings."""


class Note(NamedTuple):
    """A labelled line; the text is safe to print."""

    label: str
    text: str


def finding_notes(finding: Finding) -> Iterator[Note]:
    """Yield the location in the base, Delta's error class, what to do and the fix, where they exist."""
    if finding.previous_location:
        yield Note("in the base", location_text(finding.previous_location))
    if finding.delta_error:
        yield Note("Delta's error", printable(error_name(finding.delta_error)))
    if finding.existing:
        fails = "it fails no run" if finding.in_baseline else "it fails the run only with --strict"
        yield Note("note", f"{known_text(finding)}; {fails}")
    if finding.help:
        yield Note("do", printable(finding.help))
    yield from (Note("way out", printable(way_text(way))) for way in finding.ways)
    if finding.fix:
        yield Note("fix", f"{printable(finding.fix.title)} ({_fix_options(finding.fix)})")


def way_text(way: WayOut) -> str:
    """Say what is to be done, and what it costs; of an engine that nobody asked, that this is unknown."""
    text = _priced(way)
    return f"{text} (on the newest Delta; unknown for {way.unknown_for})" if way.unknown_for else text


def _priced(way: WayOut) -> str:
    if way.refused:
        steps = {Way.COLUMN: "the last step", Way.DEFINE: "the rows, and leaves the table empty"}
        step = steps.get(way.way, "it")
        return f"{way.does}: Delta refuses {step} ({way.refused})"
    costs = [] if way.commits is None else [f"{way.commits} commit{'s'[: way.commits != 1]}"]
    costs += [f"loses {', '.join(way.loses)}"] if way.loses else []
    ended = ((way.streams, way.stops), (way.tracked, way.stops_tracked))
    costs += (f"stops {', '.join(names)} ({error})" for names, error in ended if names)
    costs += [f"unknown whether Delta goes the last step: {way.unsure}"] if way.unsure else []
    costs += _of_rewrite(way) if way.rewrites else []
    return f"{way.does}: {'; '.join(costs)}" if costs else way.does


def _of_rewrite(way: WayOut) -> list[str]:
    """Say how much is written again, and how long it can be undone: only a live table tells."""
    if way.size is None and way.until is None:
        return ["bytes and last day of RESTORE unknown"]
    written = "an unknown number of" if way.size is None else f"{way.size:,}"
    until = f"until {way.until} at the latest, if done today" if way.until else "for an unknown time"
    return [f"rewrites {written} bytes", f"RESTORE {until}"]


def failure_notes(error: SchemalintError) -> Iterator[Note]:
    """Yield the help, if there is any."""
    if error.help:
        yield Note("help", printable(error.help))


def known_text(finding: Finding) -> str:
    """Say where an existing finding is known from."""
    return "the baseline has it" if finding.in_baseline else "the base has it too"


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
