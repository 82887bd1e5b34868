"""A report for a comment on a pull request or a job's summary (GitHub Flavored Markdown).

It is safe to show for pull requests of strangers, as the plan's format ``markdown``: each text of theirs
becomes character references or code, which form no structure and mention nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schemalint.base.errors import SchemalintError
from schemalint.base.phrases import counted
from schemalint.base.printable import (
    SafeText,
    markdown_code,
    markdown_fence,
    markdown_prose,
    markdown_text,
    terminal_text,
)
from schemalint.model.finding import ApprovedFinding, CheckResult, Finding
from schemalint.report.findings._inventory import inventory_lines
from schemalint.report.findings._notes import (
    FAILURE,
    Note,
    added,
    approval_reason,
    approval_ways,
    failure_notes,
    finding_notes,
    known_text,
    subject,
)
from schemalint.report.findings._summary import by_owner, remarks, summary, worst_first
from schemalint.report.findings._ways import Ways, ways_out
from schemalint.report.text_helpers import MOST_CHARACTERS, WORST_FIRST, first_few, fitting

SHOWS_TABLES = False

_SHORTENED: Final = "this text has room for the worst only. `schemalint check` prints all."
_MOST_LINES: Final = 60
_LONGEST: Final = 2_000


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render the approvals of the change, a table of owners, then findings, the worst first."""
    head = [_title(result), markdown_text(summary(result)), *_approved(result), *_owners(result)]
    findings = worst_first(result, show_existing=show_existing)
    sections = ["\n".join(_failure(error)) for error in result.errors]
    tables = result.tables_by_name
    sections += ["\n".join(_finding(finding, ways_out(finding, tables, result))) for finding in findings]
    tail = ["\n".join(f"- {markdown_prose(line)}" for line in _closing(result, show_existing=show_existing))]
    return terminal_text("\n\n".join(filter(None, _fitting(head, sections, tail))).split("\n"))


def is_shortened(text: str) -> bool:
    """Whether a text of `render` leaves findings out; no text of a contract can look like it."""
    return re.search(rf"^\*\*[\d,]+ more\*\*: {_SHORTENED}$", text, re.MULTILINE) is not None


def _fitting(head: list[str], sections: list[str], tail: list[str]) -> list[str]:
    """Return the parts of the report, without the last sections if it were too long."""
    room = MOST_CHARACTERS - sum(len(part) + 2 for part in (*head, *tail)) - 200
    kept = fitting(sections, room, "\n\n")
    left = len(sections) - len(kept)
    note = [f"**{left:,} more**: {_SHORTENED}"]
    return [*head, *kept, *(note if left else []), *tail]


def _title(result: CheckResult) -> str:
    of_target = f" for {markdown_code(result.run.target)}" if result.run.target else ""
    return f"### schemalint{of_target}"


def _approved(result: CheckResult) -> Iterator[str]:
    """Yield what this change approves itself, before anything else."""
    approvals = added(result)
    if approvals:
        lines = ["\n".join(_approval(approval)) for approval in approvals]
        yield "\n".join(["**Approved in this change**", "", *first_few(lines)])
    earlier = len(result.approved) - len(approvals)
    if earlier:
        yield f"{counted(earlier, 'finding')} approved before this change."


def _approval(approval: ApprovedFinding) -> Iterator[str]:
    finding, reason = approval.finding, _prose(approval_reason(approval))
    where = f"{markdown_code(finding.code)} {markdown_code(finding.table)}"
    yield f"- {where}: {_prose(finding.message)} ({reason})"
    yield from (f"  - way out: {_prose(text)}" for text in approval_ways(approval))


def _owners(result: CheckResult) -> Iterator[str]:
    rows = by_owner(result)
    if len(rows) < 2:  # noqa: PLR2004 (the counts of one owner are those of the summary)
        return
    titles = ["owner", "tables", *(f"{severity.label}s" for severity in WORST_FIRST)]
    lines = [f"| {' | '.join(titles)} |", "| --- " + "| ---: " * (len(titles) - 1) + "|"]
    for row in rows:
        counts = [str(row.counts[severity]) for severity in WORST_FIRST]
        lines.append(f"| {' | '.join([markdown_code(row.owner), str(row.tables), *counts])} |")
    yield "\n".join(lines[:_MOST_LINES])


def _finding(finding: Finding, ways: Ways) -> Iterator[str]:
    where = f"{finding.location.file}:{finding.location.line}"
    about = subject(finding)
    existing = f" ({known_text(finding)})" if finding.existing else ""
    of_rule = f"{markdown_code(finding.code)} {markdown_text(finding.rule)}"
    yield f"#### {finding.severity.label}: {of_rule}{existing}"
    yield ""
    yield _prose(finding.message)
    yield ""
    yield f"- {markdown_code(where)}" + (f" in {markdown_code(about)}" if about else "")
    yield from (_note(note) for note in finding_notes(finding))
    if finding.text_changes:
        text = "\n".join(change.text.strip("\r\n") for change in finding.text_changes)
        yield from _indented(markdown_fence(text[:_LONGEST], "yaml"))
    if ways.approval:
        yield f"- **or approve** {ways.approval.place(markdown_code(ways.approval.file))}, with a reason:"
        yield from _indented(markdown_fence("\n".join(ways.approval.lines), "yaml"))
    if ways.ask:
        yield f"- **or ask**: {_prose(ways.ask)}"


def _indented(lines: list[str]) -> Iterator[str]:
    yield ""
    yield from (f"  {line}" for line in lines)


def _failure(error: SchemalintError) -> Iterator[str]:
    yield f"#### {FAILURE}"
    yield ""
    yield _prose(error.message)
    if error.location or error.help:
        yield ""
    if error.location:
        yield f"- {markdown_code(str(error.location))}"
    yield from (_note(note) for note in failure_notes(error))


def _note(note: Note) -> str:
    return f"- **{note.label}**: {_prose(note.text)}"


def _prose(text: str) -> str:
    return markdown_prose(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ...")


def _closing(result: CheckResult, *, show_existing: bool) -> list[str]:
    lines = [*remarks(result, show_existing=show_existing), *inventory_lines(result)]
    more = [f"and {len(lines) - _MOST_LINES:,} more lines"] if len(lines) > _MOST_LINES else []
    return [*lines[:_MOST_LINES], *more]
