"""A plan as a comment on a pull request (GitHub Flavored Markdown).

Pull requests of strangers can contain any names, comments and expressions. Therefore every punctuation mark
of a text becomes a character reference, which cannot form structure (CommonMark 0.31, section 2.5). Texts
with ``@`` or ``#`` become ``<code>``, where GitHub finds no mentions. The fence of the statements is longer
than any run of back-quotes in them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from schemalint.model.impact import impact, stream_impacts
from schemalint.printable import printable
from schemalint.report.plan._words import summary_of
from schemalint.report.text import counted, first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from schemalint.deploy import Deployment
    from schemalint.model.plan import Step, TablePlan

MOST_CHARACTERS: Final = 65_000
"""The most characters of a comment, with room for a surrounding text (GitHub accepts 65,536)."""

_MARK: Final = re.compile(r"[^\w \u0080-\U0010ffff]|_", re.ASCII)
_HEAD: Final = ("| | step | cost | risks | undo |", "| --- | --- | --- | --- | --- |")


def render(deployment: Deployment, *, color: bool = False) -> str:  # noqa: ARG001 (see Format)
    """Render a section for each table with steps or refusals; a document that is too long omits the SQL."""
    summary = summary_of(deployment)
    for with_sql in (True, False):
        text = _document(deployment, summary, with_sql=with_sql)
        if len(text) <= MOST_CHARACTERS:
            return text
    sections = _sections(deployment, with_sql=False)
    kept: list[str] = []
    room = MOST_CHARACTERS - len(_joined(summary, [])) - 200
    for section in sections:
        room -= len(section) + 2
        if room < 0:
            break
        kept.append(section)
    more = f"{counted(len(sections) - len(kept), 'more section')}: see `schemalint plan`."
    return _joined(summary, [*kept, more])


def _document(deployment: Deployment, summary: str, *, with_sql: bool) -> str:
    return _joined(summary, _sections(deployment, with_sql=with_sql))


def _joined(summary: str, sections: Iterable[str]) -> str:
    return "\n\n".join(["### schemalint plan", _escaped(summary), *sections]) + "\n"


def _sections(deployment: Deployment, *, with_sql: bool) -> list[str]:
    sections = [
        "\n".join(_table(deployment, plan, with_sql=with_sql))
        for plan in deployment.plan.tables
        if plan.steps or plan.refusals
    ]
    rest = [
        f"- {_code(table.table)}: not planned, {_code(table.error.message)}" for table in deployment.unplanned
    ]
    rest += [f"- {_code(table.table)}: skipped, {_code(table.reason)}" for table in deployment.skipped]
    return [*sections, "\n".join(rest)] if rest else sections


def _table(deployment: Deployment, plan: TablePlan, *, with_sql: bool) -> Iterator[str]:
    state = "refused" if plan.refusals else "create" if plan.live is None else f"version {plan.version}"
    yield f"#### {_code(plan.table)}: {state}"
    yield ""
    for refusal in plan.refusals:
        code = f"{_code(refusal.code)} " if refusal.code else ""
        yield f"- {code}{_prose(refusal.reason)}" + (f" ({_prose(refusal.help)})" if refusal.help else "")
    if plan.steps:
        yield from _HEAD
        for number, step in enumerate(plan.steps, 1):
            yield f"| {number} | {' | '.join(_cells(step, creates=plan.live is None))} |"
    contract = deployment.contracts.get(plan.table)
    streams = stream_impacts(plan, contract.consumers if contract else ())
    if streams:
        yield ""
    for stream in streams:
        numbers = ", ".join(map(str, stream.steps))
        yield f"- stream {_code(stream.consumer)}: {stream.outcome} (steps {numbers})"
    if plan.steps and with_sql:
        yield from _statements(plan)


def _cells(step: Step, *, creates: bool) -> Iterator[str]:
    needs = [f"<br>**needs approval: {step.needs.value}**"] if step.needs is not None else []
    lines = [f"{location.file}:{location.line}" for location in step.sources]
    locations = [f"<br>{_code(line)}" for line in first_few(lines)]
    reasons = [f"<br>{_prose(reason)}" for reason in first_few(step.reasons)]
    yield "".join([step.kind.value, *needs, *reasons, *locations])
    yield f"{step.cost.value}, {counted(step.commits, 'commit')}"
    yield "<br>".join(_prose(risk) for risk in impact(step, creates=creates).risks)
    undo = [_code(step.undo)] if step.undo else []
    yield "<br>".join([*undo, *([_prose(step.undo_note)] if step.undo_note else [])]) or "none"


def _statements(plan: TablePlan) -> Iterator[str]:
    text = "\n".join(f"{printable(line)}" for step in plan.steps for line in f"{step.sql};".split("\n"))
    fence = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=2) + 1)
    if len(fence) < len("```"):
        fence = "```"
    yield ""
    yield f"<details><summary>{counted(len(plan.steps), 'statement')}</summary>"
    yield ""
    yield f"{fence}sql"
    yield text
    yield fence
    yield ""
    yield "</details>"


def _code(text: str) -> str:
    return f"<code>{_escaped(text)}</code>"


def _prose(text: str) -> str:
    return _code(text) if set("@#") & set(text) else _escaped(text)


def _escaped(text: str) -> str:
    """Escape a text, so that it forms no markup, table cell, mention or link."""
    return _MARK.sub(lambda mark: f"&#{ord(mark[0])};", printable(text))
