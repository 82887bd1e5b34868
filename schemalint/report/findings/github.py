"""Workflow commands, which GitHub turns into annotations of the pull request.

Syntax: docs.github.com, "Workflow commands for GitHub Actions"; parsing: actions/runner, ActionCommand.cs.
GitHub shows the first ten annotations of each kind and step, so the worst findings come first.
"""

from __future__ import annotations

from collections.abc import Iterable

from schemalint.base.errors import Location, SchemalintError
from schemalint.base.printable import SafeText, annotation, joined
from schemalint.model.finding import CheckResult, Finding, Severity
from schemalint.report.findings._excerpt import last_line
from schemalint.report.findings._inventory import inventory_lines
from schemalint.report.findings._notes import approved_lines, failure_notes, finding_notes, subject
from schemalint.report.findings._summary import is_incomplete, remarks, summary, worst_first

_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}

SHOWS_TABLES = False


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render the summary, then the failures, then the findings from worst to least severe."""
    # The summary comes first, so that it is always among the ten annotations that GitHub shows.
    commands = [_run(result, show_existing=show_existing)]
    commands += [_failure(error) for error in result.errors]
    commands += [_finding(finding) for finding in worst_first(result, show_existing=show_existing)]
    return joined(commands)


def _run(result: CheckResult, *, show_existing: bool) -> SafeText:
    kind = Severity.WARNING if is_incomplete(result.run) else Severity.INFO
    body = [
        summary(result),
        *approved_lines(result),
        *remarks(result, show_existing=show_existing),
        *inventory_lines(result),
    ]
    return _command(kind, "schemalint", body)


def _failure(error: SchemalintError) -> SafeText:
    body = [error.message, *map(str, failure_notes(error))]
    return _command(Severity.ERROR, "schemalint failure", body, error.location)


def _finding(finding: Finding) -> SafeText:
    about = subject(finding)
    body = [finding.message, *map(str, finding_notes(finding)), *([f"table: {about}"] if about else [])]
    return _command(finding.severity, f"{finding.code} {finding.rule}", body, finding.location)


def _command(kind: Severity, title: str, body: Iterable[str], location: Location | None = None) -> SafeText:
    properties = {**_position(location), "title": title} if location else {"title": title}
    return annotation(_KINDS[kind], properties, body)


def _position(location: Location) -> dict[str, str]:
    lines = {"file": location.file, "line": str(location.line), "endLine": str(last_line(location))}
    if location.line != location.end_line:
        # GitHub refuses columns for several lines (REST API, "Create a check run": start_column, end_column).
        return lines
    return {**lines, "col": str(location.column), "endColumn": str(location.end_column)}
