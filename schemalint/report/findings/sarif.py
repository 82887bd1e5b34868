"""SARIF 2.1.0: the results of a run for GitHub code scanning, and for viewers of static analyses.

GitHub requires some more than the format does (docs.github.com, "SARIF support for code scanning"): the
descriptions and the help of each rule, and a location with all four numbers of its region for each result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from schemalint import __version__
from schemalint.base.errors import Location, SchemalintError
from schemalint.base.printable import SafeText, json_text, printable, sarif_message, visible
from schemalint.model.contract_edit import Fix, TextChange
from schemalint.model.finding import ApprovedFinding, CheckResult, Finding, Severity
from schemalint.plugin import Rule
from schemalint.report.findings._notes import approval_reason, finding_notes, known_text, subject
from schemalint.report.findings._summary import is_incomplete, remarks, summary
from schemalint.review.rulebook import load_rules

SHOWS_TABLES = False

FINGERPRINT: Final = "schemalint/v1"
"""The key of the fingerprint, which stays the same while lines and messages change."""

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "REPOROOT"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_TOOL: Final = "schemalint"

_Json = dict[str, object]


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render a log with one run; findings that the base has too are suppressed in it."""
    approvals = {id(approval.finding): approval for approval in result.approved}
    findings = (*result.findings, *(approval.finding for approval in result.approved))
    rules = _rules(findings)
    positions = {str(rule["id"]): index for index, rule in enumerate(rules)}
    run: _Json = {
        "tool": {"driver": {"name": _TOOL, "semanticVersion": __version__, "rules": rules}},
        "invocations": [_invocation(result)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository"}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, positions, approvals.get(id(finding))) for finding in findings],
    }
    return json_text({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _invocation(result: CheckResult) -> _Json:
    notifications = [
        _notification("error", error.message, error.help, error.location) for error in result.errors
    ]
    level = "warning" if is_incomplete(result.run) else "note"
    notifications += [
        _notification(level, text) for text in (summary(result), *remarks(result, show_existing=True))
    ]
    return {
        "executionSuccessful": not result.errors,
        "exitCode": result.exit_status,
        "toolExecutionNotifications": notifications,
    }


def _notification(level: str, text: str, help_: str = "", location: Location | None = None) -> _Json:
    notification: _Json = {
        "level": level,
        "message": {"text": sarif_message(f"{text} ({help_})" if help_ else text)},
    }
    return notification | ({"locations": [_location(location)]} if location else {})


def _rules(findings: Iterable[Finding]) -> list[_Json]:
    """Describe the rules of the findings, each once."""
    first = {finding.code: finding for finding in reversed(tuple(findings))}
    installed = _installed_rules() if first else {}
    return [
        _rule(finding, installed.get((code, finding.rule)))
        for code, finding in ((code, first[code]) for code in sorted(first))
    ]


def _installed_rules() -> Mapping[tuple[str, str], Rule]:
    """Return the installed rules by code and name; a local file may have a rule of its own for a code."""
    try:
        return {(rule.code, rule.name): rule for rule in load_rules()}
    except SchemalintError:  # it is one of the run's errors
        return {}


def _rule(finding: Finding, rule: Rule | None) -> _Json:
    """Describe a rule by its page; one of a local file by its name alone."""
    name = visible(finding.rule)
    summary_ = sarif_message(rule.summary) if rule else name
    severity = rule.severity if rule else finding.severity
    return {
        "id": visible(finding.code),
        "name": name,
        "shortDescription": {"text": summary_},
        "fullDescription": {"text": summary_},
        "help": {"text": rule.doc, "markdown": rule.doc} if rule else {"text": name},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {"tags": ["schema"], "problem.severity": _problem_severity(severity)},
    }


def _problem_severity(severity: Severity) -> str:
    if severity is Severity.INFO:
        return "recommendation"
    return severity.label


def _result(finding: Finding, positions: Mapping[str, int], approval: ApprovedFinding | None) -> _Json:
    code, about = visible(finding.code), subject(finding)
    # Notes become sentences of the message: GitHub shows nothing else of a result.
    notes = [str(note) for note in finding_notes(finding) if note.label != "in the base"]
    text = "\n".join([printable(finding.message), *notes, *([f"table: {about}"] if about else [])])
    result: _Json = {
        "ruleId": code,
        "ruleIndex": positions[code],
        "level": _LEVELS[finding.severity],
        "message": {"text": "\n".join(map(sarif_message, text.split("\n")))},
        "locations": [_location(finding.location) | {"logicalLocations": [_logical(finding)]}],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "baselineState": "unchanged" if finding.existing else "new",
        "suppressions": _suppressions(finding, approval),
    }
    if finding.previous_location:
        related = _location(finding.previous_location) | {"id": 1, "message": {"text": "in the base"}}
        result["relatedLocations"] = [related]
    if finding.fix and finding.text_changes:
        result["fixes"] = [_fix(finding.fix, finding.text_changes)]
    return result


def _suppressions(finding: Finding, approval: ApprovedFinding | None) -> list[_Json]:
    """Say what silences a finding; an approval that the change itself adds is still under review."""
    suppressions: list[_Json] = []
    if approval:
        status = "underReview" if approval.by.added else "accepted"
        why = visible(approval_reason(approval))
        place = _location(approval.by.location)
        suppressions.append({"kind": "external", "status": status, "justification": why, "location": place})
    if finding.existing:
        why = known_text(finding)
        suppressions.append({"kind": "external", "status": "accepted", "justification": why})
    return suppressions


def _logical(finding: Finding) -> _Json:
    names = [visible(name) for name in (finding.table, finding.column or "") if name]
    name = names[-1] if names else visible(finding.object.name)
    kind = "member" if finding.column else "object"
    return {"name": name, "fullyQualifiedName": ".".join(names) or name, "kind": kind}


def _location(location: Location) -> _Json:
    return {"physicalLocation": {"artifactLocation": _artifact(location), "region": _region(location)}}


def _artifact(location: Location) -> _Json:
    """Return a URI relative to the repository; files outside of it have absolute ones."""
    file = visible(location.file)
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", file):
        return {"uri": quote(file, safe="/:@!$&'()*+,;=-._~%")}
    uri = quote(file)
    if file.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": _ROOT}


def _region(location: Location) -> _Json:
    return {
        "startLine": location.line,
        "startColumn": location.column,
        "endLine": location.end_line,
        "endColumn": location.end_column,
    }


def _fix(fix: Fix, changes: tuple[TextChange, ...]) -> _Json:
    by_file: dict[str, list[_Json]] = {}
    artifacts: dict[str, _Json] = {}
    for change in changes:
        artifacts[change.location.file] = _artifact(change.location)
        by_file.setdefault(change.location.file, []).append(
            {"deletedRegion": _region(change.location), "insertedContent": {"text": change.text}}
        )
    return {
        "description": {"text": sarif_message(fix.title if fix.safe else f"{fix.title} (unsafe: review it)")},
        "artifactChanges": [
            {"artifactLocation": artifacts[file], "replacements": replacements}
            for file, replacements in by_file.items()
        ],
    }
