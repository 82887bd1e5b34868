"""``apply --plan``: what it says before it runs anything, and which configuration counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

COLUMNS = (Field("id", LONG), Field("amount", Decimal(10, 2)))
CHANGED = f"""\
{ORDERS}  - {{name: note, type: string}}
properties: {{delta.logRetentionDuration: interval 9 days}}
consumers:
  - {{name: reports, client: trino, version: "476"}}
  - {{name: silver, stream: {{checkpoint: s3://elsewhere/chk}}}}
"""
CREATED = [commit_info("CREATE TABLE"), protocol(), metadata(*COLUMNS)]


@pytest.fixture
def planned(project: Project) -> Project:
    """Return a project with the plan of two statements for a table."""
    lake = project.repo.path.parent / "lake"
    write_log(lake / "sales/orders", [CREATED])
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    project.declare(CHANGED)
    project.repo.commit()
    run = project.run("plan", "--out", "plan.json")
    assert run.status == 0, run.out
    assert "2 statements in 1 table" in run.out, run.out
    return project


def _table(project: Project) -> Path:
    return project.repo.path.parent / "lake/sales/orders"


def _retained(*fields: Field) -> dict[str, object]:
    return metadata(*fields, configuration={"delta.logRetentionDuration": "interval 9 days"})


def test_completed_statements_are_counted_and_consumers_are_told(planned: Project) -> None:
    write_log(_table(planned), [CREATED, [commit_info(), _retained(*COLUMNS)]])
    hash_ = json.loads((planned.repo.path / "plan.json").read_text())["hash"]

    run = planned.run("apply", "--plan", "plan.json", "--yes")

    assert run.status == 4
    assert "1 of 2 statements done already\n  2. add columns" in run.out
    assert f"\nplan {hash_}\n" in run.out
    assert "stream silver: " in run.out
    assert "client reports (trino 476): " in run.out
    assert "the plan file needs an approval" in run.err


def test_table_between_other_states_is_refused_with_the_differences(planned: Project) -> None:
    write_log(_table(planned), [CREATED, [commit_info(), metadata(*COLUMNS, Field("note", LONG))]])

    run = planned.run("apply", "--plan", "plan.json")

    assert run.status == 2
    assert "the table differs from the plan file: field added: note" in run.out


def test_declared_streams_are_waited_for(planned: Project) -> None:
    run = planned.run("apply", "--plan", "plan.json", "--require-streams")

    assert run.status == 4
    assert "it is unknown what stream silver has read" in run.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--head", "worktree"), "--head has no effect with --plan"),
        (("--repair-drift",), "--repair-drift has no effect with --plan"),
        (("--allow", "upgrade"), "--allow has no effect with --plan"),
        (("--target", "prod"), "there is no target 'prod'"),
        (("--revision", "0" * 40), "unknown revision"),
        (("sales.others",), "plan.json does not contain sales.others"),
    ],
)
def test_options_that_do_not_fit_a_plan_file_are_errors(
    planned: Project, options: tuple[str, ...], message: str
) -> None:
    run = planned.run("apply", "--plan", "plan.json", *options)

    assert run.status == 2, run.err
    assert message in run.err, run.err


def test_revision_needs_a_plan_file(planned: Project) -> None:
    assert "--revision has no effect without --plan" in planned.run("apply", "--revision", "1" * 40).err


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("deploy.toml", "the plan file needs an approval"),
        ("repository/schemalint.toml", "is in a checkout that this command does not run in"),
        (None, "git is not installed"),
    ],
)
def test_only_a_configuration_outside_of_checkouts_counts_in_ci_without_git(
    planned: Project, monkeypatch: pytest.MonkeyPatch, config: str | None, message: str
) -> None:
    folder = planned.repo.path.parent
    planned.repo.path.joinpath("plan.json").rename(folder / "plan.json")
    (folder / "deploy.toml").write_bytes((planned.repo.path / "schemalint.toml").read_bytes())
    (folder / "bin").mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CI", "true")
    monkeypatch.setenv("PATH", str(folder / "bin"))

    run = planned.run("apply", "--plan", "plan.json", *(("--config", config) if config else ()))

    assert message in run.err, run.err
