"""The format for terminals: each finding with its source lines, as compilers print them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from schemalint.base.errors import Location, SchemalintError
from schemalint.base.phrases import affixed
from schemalint.base.printable import SafeText, printable, terminal_text
from schemalint.model.contract_edit import TextChange
from schemalint.model.finding import CheckResult, Finding, Severity
from schemalint.report.findings._excerpt import Row, excerpt, last_line, split_lines
from schemalint.report.findings._inventory import inventory_lines
from schemalint.report.findings._notes import (
    FAILURE,
    Note,
    approved_lines,
    failure_notes,
    finding_notes,
    location_text,
    subject,
)
from schemalint.report.findings._summary import closing, shown
from schemalint.report.findings._ways import Ways, ways_out
from schemalint.report.text_helpers import COLORS, separated, styled

_FRAME = "blue"

SHOWS_TABLES = False


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:
    """Render a block for each finding, then the failures, then the summary."""
    sources = result.sources or {}
    findings = shown(result, show_existing=show_existing)
    blocks = [[printable(line) for line in approved_lines(result)]] if result.approved else []
    tables = result.tables_by_name
    blocks += [
        [
            *_finding(finding, sources, color=color),
            *_ways(finding, ways_out(finding, tables, result), color=color),
        ]
        for finding in findings
    ]
    blocks += [_failure(error, sources, color=color) for error in result.errors]
    blocks += [inventory] if (inventory := inventory_lines(result)) else []
    blocks.append(closing(result, color=color, show_existing=show_existing))
    return terminal_text(separated(blocks), styled=color)


def _finding(finding: Finding, sources: Mapping[str, str], *, color: bool) -> list[str]:
    label = f"{finding.severity.label}[{printable(finding.code)} {printable(finding.rule)}]"
    margin = _margin(finding.location)
    about = subject(finding)
    return [
        _header(label, finding.message, finding.severity, color=color),
        *_location(finding.location, affixed(" (", about, ")"), color=color),
        *_source(finding.location, sources, finding.severity, color=color),
        *_notes(finding_notes(finding), margin, color=color),
        *_additions(finding.text_changes, margin, color=color),
    ]


def _ways(finding: Finding, ways: Ways, *, color: bool) -> Iterator[str]:
    """Render how to approve the finding, and who can be asked."""
    margin = _margin(finding.location)
    if ways.approval:
        where = f"{ways.approval.place(printable(ways.approval.file))}, with a reason:"
        yield from _notes([Note("or approve", where)], margin, color=color)
        yield from (f"{margin}     {printable(line)}" for line in ways.approval.lines)
    if ways.ask:
        yield from _notes([Note("or ask", printable(ways.ask))], margin, color=color)


def _failure(error: SchemalintError, sources: Mapping[str, str], *, color: bool) -> list[str]:
    lines = [_header(FAILURE, error.message, Severity.ERROR, color=color)]
    if error.location is not None:
        lines += _location(error.location, "", color=color)
        lines += _source(error.location, sources, Severity.ERROR, color=color)
    lines += _notes(failure_notes(error), _margin(error.location), color=color)
    return lines


def _header(label: str, message: str, severity: Severity, *, color: bool) -> str:
    label = styled(label, color=color, fg=COLORS[severity], bold=True)
    return label + styled(f": {printable(message)}", color=color, bold=True)


def _location(location: Location, suffix: str, *, color: bool) -> Iterator[str]:
    arrow = styled("-->", color=color, fg=_FRAME, bold=True)
    yield f"{_margin(location)}{arrow} {location_text(location)}{suffix}"


def _source(
    location: Location, sources: Mapping[str, str], severity: Severity, *, color: bool
) -> Iterator[str]:
    rows = excerpt(sources[location.file], location) if location.file in sources else ()
    if not rows:
        return
    margin = _margin(location)
    bar = styled(f"{margin} |", color=color, fg=_FRAME, bold=True)
    yield bar
    for row in rows:
        yield _row(row, margin, severity, color=color)
    yield bar


def _row(row: Row, margin: str, severity: Severity, *, color: bool) -> str:
    number = "" if row.number is None else str(row.number)
    gutter = styled(f"{number:>{len(margin)}} |", color=color, fg=_FRAME, bold=True)
    text = styled(row.text, color=color, fg=COLORS[severity], bold=True) if row.is_mark else row.text
    return f"{gutter} {text}".rstrip()


def _notes(notes: Iterable[Note], margin: str, *, color: bool) -> Iterator[str]:
    sign = styled("=", color=color, fg=_FRAME, bold=True)
    for note in notes:
        yield f"{margin} {sign} {styled(note.label, color=color, bold=True)}: {note.text}"


def _additions(changes: tuple[TextChange, ...], margin: str, *, color: bool) -> Iterator[str]:
    """Render the lines that the fix writes; ``--diff`` shows the whole edit."""
    for change in changes:
        for line in split_lines(change.text.strip("\r\n")):
            yield f"{margin}     {styled(f'+ {printable(line)}'.rstrip(), color=color, fg='green')}"


def _margin(location: Location | None) -> str:
    """Return spaces as wide as the largest line number of the excerpt."""
    return " " * len(str(last_line(location) if location else 1))
