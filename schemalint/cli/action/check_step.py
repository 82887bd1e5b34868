"""The step ``check``: one run of ``schemalint check`` with all its reports, and a plan."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from schemalint.base.errors import worst_status
from schemalint.base.files import write_text
from schemalint.base.values import frozen
from schemalint.cli import main
from schemalint.cli.action.comment_text import Parts, comment_of, summary_of
from schemalint.cli.action.github_runner import Handover, Inputs, read_inputs
from schemalint.project.git import foreign_head

_REPORTS: Final = {
    "github": "annotations.txt",
    "markdown": "report.md",
    "full": "report.txt",
    "json": "report.json",
    "sarif": "schemalint.sarif",
}
_FAILED: Final = 2
_FIRST: Final = "the base has no configuration, and the targets of the first one count after the merge"


@frozen
class _Report:
    """What a run of ``check`` or ``plan`` left.

    Attributes:
        status: The exit status.
        folder: The folder with its files.
        content: Its report in JSON; empty if there is none.
        text: Its report in Markdown.
    """

    status: int
    folder: Path
    content: Mapping[str, Any]
    text: str

    @property
    def failures(self) -> int:
        """How many errors kept the run from completing."""
        if self.content:
            return len(self.content.get("errors", ()))
        return 1


def check_step(handover: Handover, env: Mapping[str, str]) -> int:
    """Check the contracts, and leave the reports, the summary and the comment.

    Raises:
        UsageError: An input is not valid.
    """
    inputs = read_inputs(env)
    foreign = None if inputs.live == "off" else foreign_head(env)
    report, unread = _checked(inputs, handover.folder, foreign)
    plan = None
    if inputs.live != "off" and unread is None:
        plan = _planned(inputs, handover.folder)
    parts = Parts(
        report=report.text,
        report_text=_text(report.folder / _REPORTS["full"]),
        result=report.content,
        plan=plan.text if plan else "",
        planned=plan.content if plan else {},
        notes=tuple(_notes(unread, plan)),
    )
    handover.log.append(_text(report.folder / _REPORTS["github"]))
    for note in parts.notes:
        handover.annotate("notice", note)
    handover.outputs |= {**_outputs(report, plan), "folder": str(handover.folder)}
    handover.summary.append(summary_of(parts))
    write_text(handover.folder / "comment.json", json.dumps(comment_of(parts, inputs, env)))
    is_failed_plan = inputs.live == "required" and plan is not None and not plan.content
    return worst_status([report.status, _FAILED if is_failed_plan else 0])


def _checked(inputs: Inputs, folder: Path, foreign: str | None) -> tuple[_Report, str | None]:
    """Return the report, and why the live tables are not part of it."""
    if inputs.live == "off":
        return _check(inputs, folder, live=False), None
    if foreign is not None:
        return _check(inputs, folder, live=False), f"this change counts as a stranger's: {foreign}"
    report = _check(inputs, folder, live=True)
    if report.status < _FAILED and report.content["run"]["target"] is None:
        return report, _FIRST
    if inputs.live == "required" or report.status != _FAILED:
        return report, None
    without = _check(inputs, folder / "without-live", live=False)
    unread = report.failures - without.failures
    compared = report.content.get("run", {}).get("compared", ())
    if unread <= 0 or unread < len(compared):  # the failures have other causes, or some tables were read
        return report, None
    return without, _first_failure(report)


def _check(inputs: Inputs, folder: Path, *, live: bool) -> _Report:
    folder.mkdir(exist_ok=True)
    options = [f"--output-format={name}:{folder / file}" for name, file in _REPORTS.items()]
    if live:
        options += ["--live", *_target(inputs)]
    if inputs.fail_on:
        options.append(f"--fail-on={inputs.fail_on}")
    status = main(["--directory", str(inputs.directory), "check", *inputs.options, *options])
    return _Report(status, folder, _json(folder / _REPORTS["json"]), _text(folder / _REPORTS["markdown"]))


def _planned(inputs: Inputs, folder: Path) -> _Report:
    file = folder / "plan.json"
    options = [*_target(inputs), "--output-format=markdown", f"--out={file}"]
    with redirect_stdout(io.StringIO()) as printed:
        status = main(["--directory", str(inputs.directory), "plan", *inputs.options, *options])
    return _Report(status, folder, _json(file), printed.getvalue())


def _target(inputs: Inputs) -> list[str]:
    if inputs.target:
        return [f"--target={inputs.target}"]
    return []


def _notes(unread: str | None, plan: _Report | None) -> list[str]:
    notes = []
    if unread is not None:
        notes.append(f"The live tables were not read: {unread}")
    if plan is not None and not plan.content:
        notes.append("There is no plan: the log of this step says why")
    return notes


def _first_failure(report: _Report) -> str:
    errors = report.content.get("errors") or [{"message": "the log of this step says why"}]
    return str(errors[0]["message"])


def _outputs(report: _Report, plan: _Report | None) -> dict[str, str]:
    counts = Counter(
        finding["severity"] for finding in report.content.get("findings", ()) if not finding["existing"]
    )
    has_steps = plan is not None and any(table["steps"] for table in plan.content.get("tables", ()))
    return {
        "findings": str(counts.total()),
        "errors": str(counts["error"]),
        "warnings": str(counts["warning"]),
        "plan-hash": plan.content["hash"] if plan is not None and has_steps else "",
        "report": _path(report.folder / _REPORTS["markdown"]),
        "sarif": _path(report.folder / _REPORTS["sarif"]),
    }


def _path(file: Path) -> str:
    """Return the path of a report; nothing if the run has made none."""
    return str(file) if file.exists() else ""


def _json(file: Path) -> Mapping[str, Any]:
    text = _text(file)
    content: Mapping[str, Any] = json.loads(text) if text else {}
    return content


def _text(file: Path) -> str:
    """Return the text of a report; nothing if the run has made none."""
    if file.exists():
        return file.read_text(encoding="utf-8")
    return ""
