"""`plan` of a pull request: the tables that it changes, and one line about all others."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

NEW: Final = "description: New.\n"


class PullRequest:
    """``mine`` is changed, ``pending`` not applied yet, ``broken`` damaged, ``done`` is done."""

    def __init__(self, project: Project) -> None:
        self.project, self.lake = project, project.repo.path.parent / "lake"
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{self.lake}"\n')
        for name in ("mine", "pending", "broken", "done"):
            self.declare(name)
            write_log(
                self.lake / f"sales/{name}",
                [
                    [
                        commit_info("CREATE TABLE"),
                        protocol(),
                        metadata(Field("id", LONG), Field("amount", Decimal(10, 2))),
                    ]
                ],
            )
        (self.lake / f"sales/broken/_delta_log/{0:020}.json").write_text("{")
        project.repo.commit()
        self.declare("pending", NEW)
        self.base = project.repo.commit()
        self.declare("mine", NEW)
        project.repo.commit()

    def declare(self, name: str, more: str = "") -> None:
        self.project.declare(ORDERS.replace("sales.orders", f"sales.{name}") + more, f"contracts/{name}.yml")


@pytest.fixture
def pull_request(project: Project) -> PullRequest:
    return PullRequest(project)


@pytest.fixture
def event(pull_request: PullRequest, monkeypatch: pytest.MonkeyPatch) -> PullRequest:
    monkeypatch.setenv("CI_MERGE_REQUEST_DIFF_BASE_SHA", pull_request.base)
    monkeypatch.setenv("CI_MERGE_REQUEST_IID", "1")
    return pull_request


OTHERS = "1 more pending, 1 not planned, of 3 tables that this change does not touch (--all)"


@pytest.mark.parametrize("output_format", ["text", "markdown", "sql"])
def test_plan_of_a_pull_request_counts_the_tables_that_it_does_not_change(
    event: PullRequest, output_format: str
) -> None:
    run = event.project.run("plan", "--output-format", output_format)
    out = run.out.replace("&#44;", ",").replace("&#40;", "(").replace("&#41;", ")").replace("&#45;", "-")
    assert (run.status, run.err) == (0, "")
    assert OTHERS in out
    assert "sales/mine" in out
    assert "sales/pending" not in out
    assert "broken" not in out


def test_plan_of_a_pull_request_names_the_other_tables_as_json(event: PullRequest) -> None:
    plan = json.loads(event.project.run("plan", "--output-format", "json").out)
    assert [table["table"] for table in plan["tables"]] == ["sales.mine"]
    assert plan["others"] == {
        "number": 3,
        "pending": ["sales.pending"],
        "refused": [],
        "unplanned": ["sales.broken"],
    }
    assert plan["errors"] == []
    (mine,) = json.loads(event.project.run("plan", "sales.mine", "--output-format", "json").out)["tables"]
    assert plan["tables"][0]["hash"] == mine["hash"]


@pytest.mark.parametrize(
    "arguments", [("--all",), ("sales.pending", "sales.mine", "sales.broken", "sales.done")]
)
def test_plan_of_a_pull_request_shows_all_tables_on_demand(
    event: PullRequest, arguments: tuple[str, ...]
) -> None:
    run = event.project.run("plan", *arguments)
    assert run.status == 2
    assert "2 statements in 2 tables, 1 table up to date, 1 table not planned" in run.out
    assert "more pending" not in run.out


def test_run_without_an_event_plans_all_tables_and_those_of_the_branch_on_demand(
    pull_request: PullRequest,
) -> None:
    assert "sales/pending" in pull_request.project.run("plan").out
    pull_request.project.repo.git("update-ref", "refs/remotes/origin/main", pull_request.base)
    pull_request.project.repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    run = pull_request.project.run("plan", "--changed")
    assert run.status == 0
    assert OTHERS in run.out
    assert "sales/mine" in run.out


@pytest.mark.parametrize(
    ("more", "is_changed"),
    [
        ("# a remark\n", False),
        ("owner: '@sales'\n", False),
        ("properties: {team: sales}\n", True),
        ("protocol: {allow_upgrade: true}\n", True),
        ("location: elsewhere\n", True),
        ("targets: {dev: {absent: true}}\n", True),
        ("targets: {prod: {properties: {team: sales}}}\n", False),
    ],
)
def test_table_counts_as_changed_if_a_plan_of_the_target_can_differ(
    event: PullRequest, more: str, *, is_changed: bool
) -> None:
    event.declare("done", more)
    event.project.repo.commit()
    plan = json.loads(event.project.run("plan", "--output-format", "json").out)
    named = [table["table"] for table in (*plan["tables"], *plan["skipped"])]
    assert ("sales.done" in named) == is_changed


def test_pull_request_without_a_changed_table_says_so(event: PullRequest) -> None:
    event.declare("mine")
    event.project.repo.commit()
    run = event.project.run("plan", "--exit-code")
    others = OTHERS.replace("3 tables", "4 tables")
    assert (run.status, run.out) == (0, f"Nothing to do.\n{others}\n")


def test_fetch_gets_the_commits_that_a_shallow_clone_lacks(
    event: PullRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event.project.repo.clone(tmp_path / "shallow", "--depth=1")
    monkeypatch.chdir(tmp_path / "shallow")
    without = event.project.run("plan")
    assert without.status == 2
    assert "help: git fetch" in without.err
    run = event.project.run("plan", "--fetch", "-o", str(tmp_path / "plan.json"))
    assert run.status == 0
    assert OTHERS in run.out
    assert [table["table"] for table in json.loads((tmp_path / "plan.json").read_text())["tables"]] == [
        "sales.mine"
    ]
