"""The texts of the job's summary and of the comment on the pull request, in GitHub Flavored Markdown.

They are composed of reports in the format ``markdown``, in which no text of a contract forms structure.
A line that begins with ``#### `` begins a section, so a text can be shortened before it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from schemalint.base.phrases import counted
from schemalint.base.printable import markdown_code, markdown_prose
from schemalint.base.values import frozen
from schemalint.cli.action.github_runner import Inputs
from schemalint.report.findings.markdown import is_shortened
from schemalint.report.text_helpers import MOST_CHARACTERS, fitting

MOST_BYTES: Final = 1_000_000
"""The most bytes of the summary: GitHub takes 1 MiB of each step."""

_FOR_PLAN: Final = 25_000  # and what the report leaves
_FOR_NOTE: Final = 300
_NOTHING: Final = "**Nothing to report any more.**"


@frozen
class Parts:
    """What both texts are made of.

    Attributes:
        report: The report of ``check`` in Markdown.
        report_text: The same as text, complete.
        result: The same in JSON.
        plan: The plan in Markdown; empty without one.
        planned: The same in JSON.
        notes: What else the reader has to know.
    """

    report: str
    report_text: str
    result: Mapping[str, Any]
    plan: str
    planned: Mapping[str, Any]
    notes: tuple[str, ...]

    @property
    def is_worth_a_comment(self) -> bool:
        """Whether there is something to see: a comment that says nothing would only disturb."""
        result, planned = self.result, self.planned
        has_findings = any(not finding["existing"] for finding in result.get("findings", ()))
        has_approvals = any(approval["by"]["added"] for approval in result.get("approved", ()))
        has_plan = any(table["steps"] or table["refusals"] for table in planned.get("tables", ()))
        return bool(
            not result
            or has_findings
            or has_approvals
            or has_plan
            or result["errors"]
            or planned.get("errors")
        )


def summary_of(parts: Parts) -> str:
    """Return the job's summary: all findings, up to GitHub's limit."""
    texts = [parts.report or _FAILED, *_notes(parts)]
    plan = [parts.plan] if parts.plan else []
    if is_shortened(parts.report):
        room = MOST_BYTES - sum(len(text.encode()) for text in (*texts, *plan))
        texts += ["All findings:", _code_block(parts.report_text, room)]
    return "\n\n".join(text.rstrip("\n") for text in (*texts, *plan))


def comment_of(parts: Parts, inputs: Inputs, env: Mapping[str, str]) -> dict[str, object]:
    """Return the comment: its marker, its text, and whether it is worth a new comment."""
    marker = marker_of(inputs)
    head = [marker] if parts.is_worth_a_comment else [marker, _NOTHING]
    run = f"[run]({url})" if (url := _run_url(env)) else "run"
    of_folder = (
        "" if inputs.shown_directory == "." else f"Contracts of {markdown_code(inputs.shown_directory)}. "
    )
    footer = f"<sub>{of_folder}The {run} shows everything.</sub>"
    room = MOST_CHARACTERS - sum(len(text) + 2 for text in (*head, *_notes(parts), footer))
    report = parts.report or _FAILED
    plan = _fitting(parts.plan, max(_FOR_PLAN, room - len(report)))
    report = _fitting(report, room - len(plan) - 4)
    texts = [*head, report, *_notes(parts), *([plan] if plan else []), footer]
    return {
        "marker": marker,
        "body": "\n\n".join(text.strip("\n") for text in texts),
        "is_worth_a_comment": parts.is_worth_a_comment,
    }


def marker_of(inputs: Inputs) -> str:
    """Return the line that tells the comment from others; it is a hash, so that no input can end it."""
    name = inputs.comment_id or json.dumps([inputs.shown_directory, inputs.target])
    return f"<!-- schemalint: {hashlib.sha256(name.encode()).hexdigest()[:32]} -->"


_FAILED: Final = "### schemalint\n\nThe check could not begin: the log of the step says why."


def _notes(parts: Parts) -> list[str]:
    return [f"{markdown_prose(note)}." for note in parts.notes]


def _run_url(env: Mapping[str, str]) -> str:
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    server, repository, run = (env.get(name, "") for name in names)
    url = f"{server}/{repository}/actions/runs/{run}"
    if re.fullmatch(r"https?://[\w.:/-]+", url) and run:
        return url
    return ""


def _fitting(text: str, room: int) -> str:
    """Return the text, without the last sections if it were too long."""
    if len(text) <= room:
        return text
    sections = re.split(r"\n(?=#### )", text)
    kept = fitting(sections, room - _FOR_NOTE, "\n")
    return "\n".join([*kept, "", f"{counted(len(sections) - len(kept), 'more section')}: see the run."])


def _code_block(text: str, most_bytes: int) -> str:
    """Return the first lines of a text as a code block, which no line of the text can end."""
    lines: list[str] = []
    for line in text.splitlines():
        indented = f"    {line}"
        most_bytes -= len(indented.encode()) + 1
        if most_bytes < _FOR_NOTE:
            lines.append("    ...")
            break
        lines.append(indented)
    return "\n".join(lines)
