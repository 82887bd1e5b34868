"""`pull` and `check --live` over every log of the tests: what is pulled is as declared, and stays so."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from engine.ask_logs import all_questions, text_of
from support.short_logs import logged_table

if TYPE_CHECKING:
    from support.project import Project

DAMAGED = Path(__file__).parents[1] / "delta_log/damaged"


@pytest.mark.parametrize("case", sorted(folder.name for folder in DAMAGED.iterdir()))
def test_damaged_log(project: Project, tmp_path: Path, case: str) -> None:
    _pulled(project, Path(shutil.copytree(DAMAGED / case, tmp_path / "lake/t")))


@pytest.mark.parametrize("case", all_questions())
def test_log_of_a_rule(project: Project, tmp_path: Path, case: str) -> None:
    table = Path(logged_table(text_of(case), tmp_path / "log").uri)
    _pulled(project, Path(shutil.copytree(table, tmp_path / "lake/t")))


def _pulled(project: Project, table: Path) -> None:
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{table.parent}"\n')
    first = project.run("pull", "t", "--output", "t.yml")
    audit = project.run("audit", str(table), "--output-format", "concise")
    if audit.status == 2 or "CM007" in audit.codes:
        assert (first.status, (project.repo.path / "t.yml").exists()) == (2, False)
        return
    assert first.status == 0, first.err
    check = project.check("--live", "--all", "--against", "none")
    assert Counter(check.codes) == Counter(audit.codes)
    assert project.run("pull", "t", "--diff").status == 0
    assert project.run("pull", "t", "--only", "all", "--diff").status == 0
