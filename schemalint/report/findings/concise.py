"""One line per finding: ``path:line:column: TW001 error message``."""

from __future__ import annotations

from schemalint.base.errors import SchemalintError
from schemalint.base.printable import SafeText, printable, terminal_text
from schemalint.model.finding import CheckResult, Finding, Severity
from schemalint.report.findings._inventory import inventory_lines
from schemalint.report.findings._notes import FAILURE, approved_lines, known_text, location_text
from schemalint.report.findings._summary import closing, shown
from schemalint.report.text_helpers import COLORS, styled

SHOWS_TABLES = False


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:
    """Render the findings, then the failures, then the summary."""
    findings = shown(result, show_existing=show_existing)
    lines = [printable(line) for line in approved_lines(result)]
    lines += [_finding(finding, color=color) for finding in findings]
    lines += [_failure(error, color=color) for error in result.errors]
    lines += inventory_lines(result)
    lines += closing(result, color=color, show_existing=show_existing)
    return terminal_text(lines, styled=color)


def _finding(finding: Finding, *, color: bool) -> str:
    location = styled(location_text(finding.location), color=color, bold=True)
    severity = styled(finding.severity.label, color=color, fg=COLORS[finding.severity])
    existing = f" ({known_text(finding)})" if finding.existing else ""
    return f"{location}: {printable(finding.code)} {severity} {printable(finding.message)}{existing}"


def _failure(error: SchemalintError, *, color: bool) -> str:
    label = styled(FAILURE, color=color, fg=COLORS[Severity.ERROR])
    help_text = f" ({printable(error.help)})" if error.help else ""
    text = f"{printable(error.message)}{help_text}"
    if error.location is None:
        return f"{label}: {text}"
    return f"{styled(location_text(error.location), color=color, bold=True)}: {label} {text}"
