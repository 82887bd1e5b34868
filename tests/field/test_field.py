"""What people met with their tables: each file in ``reports/`` is one report, and the right answer to it.

A report has these keys; only the first three and one text are needed.

    did:      what was done, and what went wrong
    right:    the right answer
    asked:    how it was asked
    contract: the contract under review; without it, the log alone is judged
    base:     the contract at the merge base, which was applied last
    live:     a contract that makes the live table; the default is `base`
    log:      the log of the live table instead (see `support.short_logs`)
    check, check --live, plan, audit: what each command says

A command says a list of findings, as ``CODE severity: part of the message``: these, and no other error.
`plan` says ``refused`` or its kinds of steps. A command without a key is not asked.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from schemalint import contract as contracts
from schemalint.model.finding import Severity
from support.judging import judge_table
from support.rule_judging import built_in
from support.seam import created_table, findings, planned
from support.short_logs import logged_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemalint.delta.table import LiveTable
    from schemalint.model.contract import Contract
    from schemalint.model.finding import Finding

REPORTS = sorted(Path(__file__).with_name("reports").glob("*.yaml"))
TEXTS = {"did", "right", "asked", "contract", "base", "live", "log"}
COMMANDS = ("check", "check --live", "plan", "audit")
ASKED = [
    pytest.param(path, command, id=f"{path.stem}: {command}")
    for path in REPORTS
    for command in COMMANDS
    if command in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
]


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.stem)
def test_report_says_what_was_done_and_how_the_answer_was_found(path: Path) -> None:
    report = _read(path)
    assert {"did", "right", "asked"} <= report.keys()
    assert report.keys() <= TEXTS | set(COMMANDS)
    assert not report.keys().isdisjoint(COMMANDS)


@pytest.mark.parametrize(("path", "command"), ASKED)
def test_command_gives_the_right_answer(path: Path, command: str, tmp_path: Path) -> None:
    report = _read(path)
    base, contract = _contract(report, "base"), _contract(report, "contract")
    live = _live(report, base, tmp_path)
    if command == "plan":
        assert contract is not None
        plan = planned(base, contract, live)
        said = ["refused"] if plan.refusals else [step.kind.name for step in plan.steps]
        assert said == report[command], plan.refusals
        return
    if command == "audit":
        assert live is not None
        rules = tuple(built_in().values())
        said = _lines(judge_table(live, rules))
    else:
        assert contract is not None
        said = _lines(findings(base, contract, live if command == "check --live" else None))
    expected = report[command]
    assert [part for part in expected if not any(_says(line, part) for line in said)] == [], said
    assert [
        line for line in said if " error: " in line and not any(_says(line, part) for part in expected)
    ] == []


def _says(line: str, part: str) -> bool:
    code_and_severity, _, message = part.partition(": ")
    return line.startswith(code_and_severity) and message in line


def _lines(found: Iterable[Finding]) -> list[str]:
    return sorted(
        f"{finding.code} {finding.severity.label}: {finding.message}"
        for finding in found
        if finding.severity > Severity.INFO
    )


def _read(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return report


def _contract(report: dict[str, Any], key: str) -> Contract | None:
    if key not in report:
        return None
    result = contracts.read(f"{key}.yaml", report[key].encode())
    assert result.errors == ()
    (contract,) = result.contracts
    return contract


def _live(report: dict[str, Any], base: Contract | None, folder: Path) -> LiveTable | None:
    if "log" in report:
        return logged_table(report["log"], folder)
    made = _contract(report, "live") or base
    return created_table(made) if made else None
