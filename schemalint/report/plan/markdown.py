"""A plan as a comment on a pull request (GitHub Flavored Markdown).

Pull requests of strangers can contain any names, comments and expressions. Therefore every punctuation mark
of a text becomes a character reference, which cannot form structure (CommonMark 0.31, section 2.5). Texts
with ``@`` or ``#`` become ``<code>``, where GitHub finds no mentions. The fence of the statements is longer
than any run of back-quotes in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from schemalint.base.phrases import counted
from schemalint.base.printable import (
    SafeText,
    markdown_code,
    markdown_fence,
    markdown_prose,
    markdown_text,
    terminal_text,
)
from schemalint.deploy.approvals import missing_approvals
from schemalint.deploy.deploy_input import Deployment
from schemalint.model.impact import risks, table_risks
from schemalint.model.table_plan import Approval, Step, TablePlan
from schemalint.report.plan._words import (
    APPROVE,
    approval_lines,
    approvals_text,
    commits_of,
    consumer_lines,
    others_text,
    summary_of,
    table_state,
    waiting_texts,
)
from schemalint.report.text_helpers import MOST_CHARACTERS, first_few, fitting
from schemalint.report.words import consequence_text, way_text

_HEAD: Final = ("| | step | cost | risks | undo |", "| --- | --- | --- | --- | --- |")


def render(deployment: Deployment, *, color: bool = False) -> SafeText:  # noqa: ARG001 (see Format)
    """Render a section for each table with steps or refusals; a document that is too long omits the SQL."""
    summary = summary_of(deployment)
    for with_sql in (True, False):
        sections = _sections(deployment, with_sql=with_sql)
        text = _joined(deployment, summary, sections)
        if len(text) <= MOST_CHARACTERS:
            return text
    kept = fitting(sections, MOST_CHARACTERS - len(_joined(deployment, summary, [])) - 200, "\n\n")
    more = f"{counted(len(sections) - len(kept), 'more section')}: see `schemalint plan`."
    return _joined(deployment, summary, [*kept, more])


def _joined(deployment: Deployment, summary: str, sections: Iterable[str]) -> SafeText:
    of_target = f" for {markdown_code(deployment.plan.target)}" if deployment.plan.target else ""
    text = "\n\n".join([f"### schemalint plan{of_target}", markdown_text(summary), *sections])
    return terminal_text(text.split("\n"))


def _sections(deployment: Deployment, *, with_sql: bool) -> list[str]:
    sections = [
        *(f"Warning: {markdown_prose(warning)}" for warning in deployment.warnings),
        *_approvals(deployment),
        *(
            "\n".join(_table(deployment, plan, with_sql=with_sql))
            for plan in deployment.plan.tables
            if plan.steps or plan.refusals
        ),
    ]
    rest = [
        f"- {markdown_code(plan.table)}: {table_state(plan)}; "
        + markdown_prose("; ".join(waiting_texts(plan)))
        for plan in deployment.plan.tables
        if plan.waiting
    ]
    rest += [
        f"- {markdown_code(table.table)}: not planned, {markdown_code(table.error.message)}"
        for table in deployment.unplanned
    ]
    rest += [
        f"- {markdown_code(table.table)}: skipped, {markdown_code(table.reason)}"
        for table in deployment.skipped
    ]
    if rest:
        return [*sections, "\n".join(rest)]
    return sections


def _approvals(deployment: Deployment) -> Iterator[str]:
    """Yield what is left out, the hash of the plan, and what approves the steps that lack an approval."""
    if others := others_text(deployment):
        yield markdown_text(others)
    if not deployment.plan.is_empty:
        yield f"Plan {markdown_code(deployment.plan_hash)}"
    if lines := approval_lines(deployment):
        yield f"{APPROVE}:"
        yield "\n".join(markdown_fence("\n".join(lines), "toml"))


def _table(deployment: Deployment, plan: TablePlan, *, with_sql: bool) -> Iterator[str]:
    state = f"version {plan.version}"
    if plan.refusals:
        state = "refused"
    elif plan.live is None:
        state = "create"
    yield f"#### {markdown_code(plan.table)}: {state}"
    yield ""
    for refusal in plan.refusals:
        line = markdown_prose(refusal.reason)
        if refusal.code:
            line = f"{markdown_code(refusal.code)} {line}"
        if refusal.help:
            line += f" ({markdown_prose(refusal.help)})"
        yield f"- {line}"
    # Hundreds of columns may have the same ways, and a comment has an end.
    for text in dict.fromkeys(consequence_text(each) for refusal in plan.refusals for each in refusal.then):
        yield f"- then: {markdown_prose(text)}"
    for text in dict.fromkeys(way_text(way) for refusal in plan.refusals for way in refusal.ways):
        yield f"- way out: {markdown_prose(text)}"
    if plan.steps:
        yield from _HEAD
        missing = missing_approvals(deployment, plan)
        for number, step in enumerate(plan.steps, 1):
            yield f"| {number} | {' | '.join(_cells(step, missing, plan))} |"
    yield from _effects(deployment, plan)
    if plan.steps and with_sql:
        yield from _statements(plan)


def _effects(deployment: Deployment, plan: TablePlan) -> Iterator[str]:
    of_writers: list[tuple[str, list[str]]] = [(f"risk: {risk}", []) for risk in table_risks(plan)]
    for number, (line, details) in enumerate((*of_writers, *consumer_lines(deployment, plan))):
        if number == 0:
            yield ""
        yield f"- {markdown_prose(line)}"
        for detail in details:
            is_setting = detail.startswith(" ")
            yield f"  - {markdown_code(detail.strip()) if is_setting else markdown_prose(detail)}"


def _cells(step: Step, missing: frozenset[Approval], plan: TablePlan) -> Iterator[str]:
    needs = [f"<br>**{approvals_text(step.needs, missing)}**"] if step.needs else []
    lines = [f"{location.file}:{location.line}" for location in step.sources]
    locations = [f"<br>{markdown_code(line)}" for line in first_few(lines)]
    reasons = [f"<br>{markdown_prose(reason)}" for reason in first_few(step.reasons)]
    yield "".join([step.kind.value, *needs, *reasons, *locations])
    yield f"{step.cost.value}, {commits_of(step)}"
    yield "<br>".join(markdown_prose(risk) for risk in risks(step, plan))
    undo = [markdown_code(step.undo)] if step.undo else []
    yield "<br>".join([*undo, *([markdown_prose(step.undo_note)] if step.undo_note else [])]) or "none"


def _statements(plan: TablePlan) -> Iterator[str]:
    yield ""
    yield f"<details><summary>{counted(len(plan.steps), 'statement')}</summary>"
    yield ""
    yield from markdown_fence("\n".join(f"{step.sql};" for step in plan.steps), "sql")
    yield ""
    yield "</details>"
