"""``apply --log`` where no statement runs; ``tests/spark/test_apply_cli.py`` has tables that change."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from schemalint.cli.schema import schema_of
from support.project import Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def deployable(committed: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A repository with a contract, a target without tables, and no Spark."""
    committed.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    (committed.repo.path / "lake").mkdir()
    committed.repo.commit()
    monkeypatch.setattr("schemalint.spark.session.start", lambda _settings: pytest.fail("Spark starts"))
    return committed


def _lines(file: Path) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    validator = Draft202012Validator(schema_of("deploy-log"))
    assert [error for line in lines for error in validator.iter_errors(line)] == []
    return lines


def test_log_of_a_run_that_an_error_ends_has_it_in_the_summary(deployable: Project, tmp_path: Path) -> None:
    run = deployable.run("apply", "--yes", "--max-tables", "0", "--log", str(tmp_path / "log"))
    (summary,) = _lines(tmp_path / "log")
    assert run.status == summary["exit_status"] == 2
    assert summary["error"] == {
        "message": "the plan changes 1 tables, more than --max-tables 0: nothing was changed",
        "help": "read the plan: if it is right, name fewer tables, or raise --max-tables",
    }


def test_log_of_a_run_that_nobody_confirms_has_no_table(deployable: Project, tmp_path: Path) -> None:
    run = deployable.run("apply", "--log", str(tmp_path / "log"))
    started, summary = _lines(tmp_path / "log")
    assert (started["type"], started["tables"], started["revision"]) == ("started", 1, deployable.repo.head())
    assert run.status == summary["exit_status"] == 4
    assert (summary["outcomes"], summary["error"]) == ({}, None)


def test_log_has_tables_that_cannot_be_planned(deployable: Project, tmp_path: Path) -> None:
    broken = deployable.repo.path / "lake/sales/orders/_delta_log"
    broken.mkdir(parents=True)
    (broken / f"{0:020}.json").write_text("{broken")
    run = deployable.run("apply", "--yes", "--log", str(tmp_path / "log"))
    _started, table, summary = _lines(tmp_path / "log")
    assert (table["table"], table["outcome"], table["declaration"]) == ("sales.orders", "unplanned", None)
    assert run.status == summary["exit_status"] == 2
    assert (summary["outcomes"], summary["error"]) == ({"unplanned": 1}, None)


def test_log_that_cannot_be_opened_ends_the_run_before_it_begins(deployable: Project, tmp_path: Path) -> None:
    run = deployable.run("apply", "--yes", "--log", str(tmp_path / "missing/log"))
    assert (run.status, run.out) == (2, "")
    assert "log cannot be written: No such file or directory" in run.err


def test_log_that_cannot_be_written_to_its_end_fails_the_run(deployable: Project) -> None:
    run = deployable.run("apply", "--log", "/dev/full")
    assert run.status == 2
    assert "/dev/full cannot be written: No space left on device" in run.err
