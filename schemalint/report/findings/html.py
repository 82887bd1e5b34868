"""One self-contained page for a pull request or an audit: findings, schemas side by side, history, readers.

It needs no script and loads nothing: its policy (CSP) allows its own style sheet alone. All text of contracts
and logs is text, whatever it contains.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element

from schemalint import __version__
from schemalint.base.errors import Location, SchemalintError
from schemalint.base.phrases import affixed, counted
from schemalint.base.printable import SafeText, html_text, printable
from schemalint.base.values import grouped
from schemalint.model.finding import CheckResult, Finding, JudgedTable, Severity
from schemalint.report.findings._excerpt import excerpt, split_lines
from schemalint.report.findings._html import add, badge, grid, h
from schemalint.report.findings._html_tables import table_blocks
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
from schemalint.report.findings._summary import by_owner, outcome, remarks, summary, verdict, worst_first
from schemalint.report.findings._ways import Ways, ways_out
from schemalint.report.text_helpers import WORST_FIRST

SHOWS_TABLES = True

_OTHERS: Final = "Configuration"
_FINDINGS: Final = "findings"


def render(result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render the verdict and an overview, then a section for each table, the worst first."""
    findings = grouped(
        (finding.table, finding) for finding in worst_first(result, show_existing=show_existing)
    )
    tables = _ordered_tables(result, findings)
    tables_by_name = result.tables_by_name
    clients = grouped((client.table, client) for client in result.clients)
    sections = [*_approved(result), *(_failure(error, result) for error in result.errors)]
    for number, name in enumerate(tables, 1):
        table = tables_by_name.get(name)
        parts = [*_about(table), *_findings(findings.get(name, ()), tables_by_name, result)]
        if table:
            parts += table_blocks(table, clients.get(name, ()))
        section = h("section", h("h2", name or _OTHERS), *parts, id_=f"table-{number}", class_="table")
        sections.append(section)
    main = h("main", *sections, id_=_FINDINGS, tabindex="-1")
    body = h(
        "body",
        h("a", "Skip to the findings", href=f"#{_FINDINGS}", class_="skip"),
        _header(result, show_existing=show_existing),
        _overview(result, tables, findings),
        main,
        h("footer", f"schemalint {__version__}"),
    )
    return html_text(h("html", _head(result), body, lang="en"))


@cache
def style() -> str:
    """Return the style sheet."""
    return Path(__file__).with_name("html.css").read_text("utf-8")


def policy(css: str) -> str:
    """Return the policy of the page: this style sheet, and nothing else."""
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(result: CheckResult) -> Element:
    css = style()
    return h(
        "head",
        h("meta", charset="utf-8"),
        h("meta", http_equiv="Content-Security-Policy", content=policy(css)),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", name="color-scheme", content="light dark"),
        h("title", f"schemalint: {summary(result)}"),
        h("style", css),
    )


def _header(result: CheckResult, *, show_existing: bool) -> Element:
    level = verdict(result)
    state = {Severity.ERROR: "failed", Severity.WARNING: "warnings", Severity.INFO: "passed"}[level]
    rows = [("head", result.run.head.spec)]
    if result.run.base is not None:
        commit = (result.run.base.commit or "")[:12]
        rows.insert(
            0, ("base", " ".join(filter(None, (commit, result.run.base.why or result.run.base.spec))))
        )
    if result.run.target:
        rows.append(("target", result.run.target))
    facts = [h("div", h("dt", name), h("dd", text)) for name, text in rows]
    lines = [h("li", line) for line in remarks(result, show_existing=show_existing)]
    return h(
        "header",
        h("p", badge(state, level.label), class_="state"),
        h("h1", outcome(result)),
        h("dl", *facts, class_="facts"),
        h("ul", *lines, class_="remarks") if lines else None,
    )


def _overview(
    result: CheckResult, tables: Sequence[str], findings: dict[str, tuple[Finding, ...]]
) -> Element:
    nav = h("nav", aria_label="Tables")
    rows = []
    for number, table in enumerate(tables, 1):
        link = h("a", table or _OTHERS, href=f"#table-{number}")
        counts = _counts(findings.get(table, ()))
        rows.append(h("tr", h("td", link), *(h("td", count, class_="count") for count in counts)))
    heads = [f"{severity.label}s" for severity in WORST_FIRST]
    if rows:
        add(nav, grid(["table", *heads], rows, "Tables"))
    if len(owners := by_owner(result)) > 1:
        body = [
            h(
                "tr",
                h("td", row.owner),
                h("td", str(row.tables), class_="count"),
                *(h("td", str(row.counts[severity] or ""), class_="count") for severity in WORST_FIRST),
            )
            for row in owners
        ]
        add(nav, grid(["owner", "tables", *heads], body, "Findings by owner"))
    if lines := inventory_lines(result):
        add(nav, h("pre", "\n".join(lines), tabindex="0", aria_label="Totals"))
    return nav


def _counts(findings: Iterable[Finding]) -> list[str]:
    severities = [finding.severity for finding in findings]
    return [str(severities.count(severity) or "") for severity in WORST_FIRST]


def _ordered_tables(result: CheckResult, findings: dict[str, tuple[Finding, ...]]) -> list[str]:
    """Return all tables, those with the worst findings first, the configuration before all."""
    names = dict.fromkeys([*findings, *result.run.compared, *(table.name for table in result.tables)])

    def rank(table: str) -> tuple[object, ...]:
        severities = [finding.severity for finding in findings.get(table, ())]
        return (table != "", *(-severities.count(severity) for severity in WORST_FIRST), table)

    return sorted(names, key=rank)


def _approved(result: CheckResult) -> Iterator[Element]:
    if not result.approved:
        return
    section = h(
        "section", h("h2", "Approved in this change" if added(result) else "Approved"), class_="approved"
    )
    items = [
        h(
            "li",
            h("code", approval.finding.code),
            f" {approval.finding.table}: {approval.finding.message} ",
            h("span", approval_reason(approval), class_="quiet"),
            *(h("div", f"way out: {text}", class_="quiet") for text in approval_ways(approval)),
        )
        for approval in added(result)
    ]
    add(section, h("ul", *items) if items else None)
    earlier = len(result.approved) - len(items)
    if earlier:
        add(section, h("p", f"{counted(earlier, 'finding')} approved before this change.", class_="quiet"))
    yield section


def _failure(error: SchemalintError, result: CheckResult) -> Element:
    article = h("article", h("h3", badge(FAILURE, "error"), f" {error.message}"), class_="finding error")
    if error.location:
        _source(article, error.location, result)
    _notes(article, failure_notes(error))
    return article


def _about(table: JudgedTable | None) -> Iterator[Element]:
    if table is None:
        return
    owner = affixed("owner ", table.owner)
    is_removed = table.before is not None and table.after is None
    parts = [table.file, owner, "removed in this change" if is_removed else ""]
    if any(parts):
        yield h("p", ", ".join(filter(None, parts)), class_="quiet")


def _findings(
    findings: Sequence[Finding], tables: Mapping[str, JudgedTable], result: CheckResult
) -> Iterator[Element]:
    if not findings:
        yield h("p", "No findings.", class_="none")
    for finding in findings:
        yield _finding(finding, ways_out(finding, tables, result), result)


def _finding(finding: Finding, ways: Ways, result: CheckResult) -> Element:
    rule = h("p", h("code", finding.code), f" {finding.rule}", class_="rule")
    if finding.existing:
        add(rule, " ")
        add(rule, badge(known_text(finding), "existing"))
    severity = finding.severity.label
    title = h("h3", badge(severity, severity), f" {finding.message}")
    article = h("article", title, rule, class_=f"finding {severity}")
    _source(article, finding.location, result, subject(finding))
    _notes(article, finding_notes(finding))
    for change in finding.text_changes:
        lines = [f"+ {printable(line)}\n" for line in split_lines(change.text.strip("\r\n"))]
        add(article, _pre("".join(lines), "What the fix writes", "fix"))
    if ways.approval:
        add(article, _note("or approve", f"{ways.approval.place(ways.approval.file)}, with a reason:"))
        add(
            article,
            _pre("\n".join(map(printable, ways.approval.lines)), "The entry that approves it", "entry"),
        )
    if ways.ask:
        add(article, _note("or ask", ways.ask))
    return article


def _source(article: Element, location: Location, result: CheckResult, about: str = "") -> None:
    add(article, h("p", h("code", str(location)), f" ({about})" if about else None, class_="quiet"))
    sources = result.sources or {}
    rows = excerpt(sources[location.file], location) if location.file in sources else ()
    if not rows:
        return
    pre = _pre("", f"Source of {location}", "source")
    for row in rows:
        number = "" if row.number is None else str(row.number)
        add(pre, h("span", f"{number:>5} ", class_="number"))
        add(pre, h("span", f"{row.text}\n", class_="mark" if row.is_mark else "line"))
    add(article, pre)


def _pre(text: str, label: str, kind: str) -> Element:
    # Those who use no mouse scroll it by its focus.
    return h("pre", text, class_=kind, tabindex="0", role="group", aria_label=label)


def _notes(article: Element, notes: Iterable[Note]) -> None:
    for note in notes:
        add(article, _note(note.label, note.text))


def _note(label: str, text: str) -> Element:
    return h("p", h("b", label), f" {text}", class_="note")
