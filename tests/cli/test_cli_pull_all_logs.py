"""`pull`, then `check --live`, for every log in the tests: a pulled contract matches its table."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.record_logs import all_questions, log_text
from support.short_logs import logged_table

if TYPE_CHECKING:
    from support.project import Project

DAMAGED = Path(__file__).parents[1] / "delta_log/damaged"


@pytest.mark.parametrize("case", sorted(folder.name for folder in DAMAGED.iterdir()))
def test_contract_pulled_from_a_damaged_log_matches_the_audit(
    project: Project, tmp_path: Path, case: str
) -> None:
    _assert_pull_matches_audit(project, Path(shutil.copytree(DAMAGED / case, tmp_path / "lake/t")))


@pytest.mark.parametrize("case", all_questions())
def test_contract_pulled_from_a_rule_s_log_matches_the_audit(
    project: Project, tmp_path: Path, case: str
) -> None:
    table = Path(logged_table(log_text(case), tmp_path / "log").uri)
    _assert_pull_matches_audit(project, Path(shutil.copytree(table, tmp_path / "lake/t")))


def _assert_pull_matches_audit(project: Project, table: Path) -> None:
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{table.parent}"\n')
    first = project.run("pull", "t", "--output", "t.yml")
    audit = project.run("audit", str(table), "--output-format", "concise")
    if audit.status == 2 or "CM007" in audit.codes:
        assert (first.status, (project.repo.path / "t.yml").exists()) == (2, False)
        return
    assert first.status == 0, first.err
    check = project.check("--live", "--history", "--all", "--against", "none")
    assert Counter(check.codes) == Counter(audit.codes)
    assert project.run("pull", "t", "--diff").status == 0
    assert project.run("pull", "t", "--only", "all", "--diff").status == 0
