"""`show` and `audit` with a catalog that knows the locations of tables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Field, Struct
from support.logs import add, commit_info, metadata, protocol, remove, write_log
from support.managed_tables import PROTOCOL, stage
from support.project import ORDERS, Project
from support.repo import Repo
from support.unity_server import Table, UnityServer

if TYPE_CHECKING:
    from pathlib import Path

ID = Field("id", LONG)


@pytest.fixture
def project(
    tmp_path: Path, server: UnityServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    """A repository with a target whose catalog has two tables, one of them declared."""
    repo = Repo(tmp_path / "repository")
    for name, value in {**repo.env, "UC_TOKEN": "secret-token"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    repo.write(
        "schemalint.toml",
        f'[targets.prod]\ncatalog = "main"\ncatalog_uri = "{server.uri}"\ncatalog_token = "${{UC_TOKEN}}"\n',
    )
    new_project = Project(repo, capsys)
    new_project.declare(ORDERS)
    for name in ("orders", "items"):
        path = write_log(tmp_path / f"lake/{name}", [[commit_info("CREATE"), protocol(), metadata(ID)]])
        server.tables[f"main.sales.{name}"] = Table(path.as_uri(), Struct((ID,)))
    return new_project


def shown_tables(project: Project, *arguments: str) -> list[dict[str, object]]:
    """Return the JSON lines of `show`."""
    run = project.run("show", "--target", "prod", "--output-format", "json", *arguments)
    return [json.loads(line) for line in run.out.splitlines()]


def test_declared_and_undeclared_tables_are_shown_by_name(project: Project, tmp_path: Path) -> None:
    lines = shown_tables(
        project, "sales.orders", "sales.items", "main.sales.items@v0", str(tmp_path / "lake/items")
    )
    assert [line["table"] for line in lines] == ["sales.orders", "sales.items", "main.sales.items", None]
    assert [isinstance(line["catalog"], dict) for line in lines] == [True, True, True, False]
    assert [line["version"] for line in lines] == [0, 0, 0, 0]


def test_no_history_shows_the_state_only(project: Project) -> None:
    (line,) = shown_tables(project, "--no-history", "sales.items")
    assert line["history"] == []


def test_a_name_unknown_to_the_catalog_is_a_line_with_an_error(project: Project) -> None:
    missing, shown = shown_tables(project, "sales.nothing", "sales.items")
    assert missing["missing"] is True
    assert "error" not in shown


def test_all_tables_of_a_catalog_are_audited_once(project: Project) -> None:
    run = project.run("audit", "--all", "--output-format", "json")
    assert sorted(json.loads(run.out)["run"]["compared"]) == ["main.sales.items", "sales.orders"]


def test_data_files_of_staged_commits_are_audited(
    project: Project, server: UnityServer, tmp_path: Path
) -> None:
    first = [PROTOCOL, metadata(ID), add("a.parquet"), add("b.parquet")]
    path = write_log(tmp_path / "lake/managed", [first])
    table = Table(str(path), properties={"delta.feature.catalogManaged": "supported"}, latest=1)
    (path / "c.parquet").write_bytes(b"no Parquet")
    table.staged.append(stage(table, 1, remove("a.parquet"), add("c.parquet")))
    server.tables["main.sales.managed"] = table
    run = project.run(
        "audit",
        "--target",
        "prod",
        "sales.managed",
        "--files",
        "--select",
        "TH011",
        "--output-format",
        "concise",
    )
    assert run.status == 1
    assert "b.parquet" in run.out
    assert "c.parquet" in run.out
    assert "a.parquet" not in run.out


def test_a_file_from_show_replaces_the_catalog(project: Project, server: UnityServer) -> None:
    run = project.run("show", "--target", "prod", "--output-format", "json", "sales.orders")
    project.repo.write("live.jsonl", run.out)
    project.repo.commit()
    server.tables.clear()
    check = project.check("--all", "--live-from", "live.jsonl")
    assert "DR001" in check.codes
