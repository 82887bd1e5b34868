"""``schemalint -C DIR``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.project import ORDERS

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project


@pytest.mark.parametrize("option", ["-C", "--directory"])
def test_a_command_runs_as_if_started_there(
    committed: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    committed.declare(ORDERS.replace("bigint", "date"))
    monkeypatch.chdir(tmp_path)
    run = committed.run(option, "repository/contracts", "check", "orders.yml", "--output-format=concise")
    assert run.status == 1
    assert "TW002" in run.out


def test_a_missing_directory_is_an_error(project: Project) -> None:
    run = project.run("-C", "gone", "check")
    assert run.status == 2
    assert "gone cannot be the directory" in run.err
