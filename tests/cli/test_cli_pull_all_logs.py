"""`pull`, then `check --live`, for every log in the tests: a pulled contract matches its table."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.record_logs import all_questions, log_text
from support.short_logs import logged_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from support.project import Project

NO_TYPES_OF_CONTRACTS = {
    "decimal-over-38/live-negative-scale",
    "metadata-unusable/name-in-other-letters",
    "metadata-unusable/name-of-sql",
    "metadata-unusable/type-of-a-newer-delta-in-an-array",
}
"""The logs with types that Delta does not know either: no contract can say them."""

DAMAGED = Path(__file__).parents[1] / "delta_log/damaged"


def test_contracts_pulled_from_damaged_logs_match_the_audit(project: Project) -> None:
    _assert_pull_matches_audit(project, {folder.name: folder for folder in sorted(DAMAGED.iterdir())})


@pytest.mark.wide
def test_contracts_pulled_from_the_logs_of_rules_match_the_audit(project: Project, tmp_path: Path) -> None:
    tables = enumerate(all_questions())
    logs = {case: Path(logged_table(log_text(case), tmp_path / f"log{n}").uri) for n, case in tables}
    _assert_pull_matches_audit(project, logs)


def _assert_pull_matches_audit(project: Project, logs: Mapping[str, Path]) -> None:
    """Assert it of all tables at once, which are read, judged and reported one by one."""
    lake = project.repo.path.parent / "lake"
    cases = {f"t{number:03}": case for number, case in enumerate(logs)}
    for name, case in cases.items():
        shutil.copytree(logs[case], lake / name)
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    pulled = project.run("pull", "--all", "--target", "dev", "--into", "contracts/{table}.yml")
    audited, unreadable = _codes(project, cases, "audit", "--target", "dev", "--all")
    refused = {case for case, codes in audited.items() if "CM007" in codes} | unreadable
    refused |= NO_TYPES_OF_CONTRACTS & set(logs)
    contracts = {name for name in cases if (project.repo.path / f"contracts/{name}.yml").exists()}
    assert pulled.status == (2 if refused else 0), pulled.err
    assert {cases[name] for name in contracts} == set(logs) - refused, pulled.err
    assert contracts
    checked, failed = _codes(project, cases, "check", "--live", "--history", "--all", "--against", "none")
    assert failed == set()
    assert checked == {case: codes for case, codes in audited.items() if case not in refused}
    for only in ((), ("--only", "all")):
        again = project.run("pull", "--diff", "--target", "dev", *only, *sorted(contracts))
        assert again.status == 0, again.out + again.err


def _codes(
    project: Project, cases: Mapping[str, str], *command: str
) -> tuple[dict[str, list[str]], set[str]]:
    """Return the sorted codes of the findings by case, and the cases that a command cannot read."""
    run = project.run(*command, "--output-format", "json")
    report = json.loads(run.out)
    codes: dict[str, list[str]] = {}
    for finding in report["findings"]:
        case = cases[Path(finding["table"]).name]
        codes[case] = sorted([*codes.get(case, []), finding["code"]])
    failed = {cases[name] for name in cases if any(name in json.dumps(error) for error in report["errors"])}
    assert len(failed) == len(report["errors"]), run.err
    return codes, failed
