"""A Code Quality report for GitLab: what the widget of a merge request shows.

Fields and severities: docs.gitlab.com, "Code Quality report format". GitLab compares the reports of both
branches by fingerprint, which must be unique in a report. The format has no place for a run: failures,
skipped tables and a run that compared nothing become entries of their own. Nor has it one for exceptions:
each entry that the target branch lacks is shown as a degradation, so approved findings are left out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Final

from schemalint.base.errors import Location, SchemalintError
from schemalint.base.phrases import affixed
from schemalint.base.printable import SafeText, json_text, printable
from schemalint.model.finding import CheckResult, Finding, Severity
from schemalint.report.findings._summary import shown, summary

SHOWS_TABLES = False

_SEVERITIES: Final = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.INFO: "info"}
_FAILURE: Final = "blocker"
_INCOMPLETE: Final = "minor"
_NO_LOCATION: Final = Location(".")


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render a JSON array with an object for each finding, failure and skipped table."""
    counts: Counter[str] = Counter()
    entries = []
    for entry, identity in _entries(result, show_existing=show_existing):
        counts[identity] += 1
        text = f"{identity} {counts[identity]}" if counts[identity] > 1 else identity
        entries.append(
            entry | {"fingerprint": hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()}
        )
    return json_text(entries, indent=2)


def _entries(result: CheckResult, *, show_existing: bool) -> Iterator[tuple[dict[str, object], str]]:
    """Yield each entry with what identifies it in every run."""
    for error in result.errors:
        yield (
            _entry("failure", _failure_text(error), _FAILURE, error.location or _NO_LOCATION),
            f"failure {error.message}",
        )
    for table in result.run.skipped:
        text = f"{table.table} was not compared: {table.reason}"
        yield _entry("skipped", text, _INCOMPLETE), f"skipped {table.table}"
    if not result.run.compared and not result.errors:
        yield _entry("nothing-compared", summary(result), _INCOMPLETE), "nothing compared"
    for finding in shown(result, show_existing=show_existing):
        severity = _SEVERITIES[finding.severity]
        entry = _entry(finding.code, _finding_text(finding), severity, finding.location)
        yield entry, finding.fingerprint


def _entry(
    check_name: str, description: str, severity: str, location: Location = _NO_LOCATION
) -> dict[str, object]:
    return {
        "description": printable(description),
        "check_name": printable(check_name),
        "severity": severity,
        "location": {
            "path": location.file,
            "lines": {"begin": location.line},
        },
    }


def _finding_text(finding: Finding) -> str:
    return f"{affixed('', finding.table, ': ')}{finding.message}"


def _failure_text(error: SchemalintError) -> str:
    if error.help:
        return f"{error.message} ({error.help})"
    return error.message
