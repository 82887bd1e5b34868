"""`show` and `audit` where the target's catalog says where tables lie."""

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
    """Of a catalog with two tables, one of them declared."""
    repo = Repo(tmp_path / "repository")
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_EVENT_NAME", "SCHEMALINT_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {**repo.env, "UC_TOKEN": "secret-token"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    repo.write(
        "schemalint.toml",
        f'[targets.prod]\ncatalog = "main"\ncatalog_uri = "{server.uri}"\ncatalog_token = "${{UC_TOKEN}}"\n',
    )
    made = Project(repo, capsys)
    made.declare(ORDERS)
    for name in ("orders", "items"):
        place = write_log(tmp_path / f"lake/{name}", [[commit_info("CREATE"), protocol(), metadata(ID)]])
        server.tables[f"main.sales.{name}"] = Table(place.as_uri(), Struct((ID,)))
    return made


def shown(project: Project, *arguments: str) -> list[dict[str, object]]:
    run = project.run("show", "--target", "prod", "--output-format", "json", *arguments)
    return [json.loads(line) for line in run.out.splitlines()]


def test_tables_are_shown_by_name_declared_or_not(project: Project, tmp_path: Path) -> None:
    lines = shown(project, "sales.orders", "sales.items", "main.sales.items@v0", str(tmp_path / "lake/items"))
    assert [line["table"] for line in lines] == ["sales.orders", "sales.items", "main.sales.items", None]
    assert [isinstance(line["catalog"], dict) for line in lines] == [True, True, True, False]
    assert [line["version"] for line in lines] == [0, 0, 0, 0]


def test_the_state_alone_is_shown_too(project: Project) -> None:
    (line,) = shown(project, "--no-history", "sales.items")
    assert line["history"] == []


def test_a_name_that_the_catalog_does_not_have_is_a_line_with_an_error(project: Project) -> None:
    missing, found = shown(project, "sales.nothing", "sales.items")
    assert missing["missing"] is True
    assert "error" not in found


def test_all_tables_of_a_catalog_are_audited_once(project: Project) -> None:
    run = project.run("audit", "--all", "--output-format", "json")
    assert sorted(json.loads(run.out)["run"]["compared"]) == ["main.sales.items", "sales.orders"]


def test_data_files_of_staged_commits_are_audited(
    project: Project, server: UnityServer, tmp_path: Path
) -> None:
    first = [PROTOCOL, metadata(ID), add("a.parquet"), add("b.parquet")]
    place = write_log(tmp_path / "lake/managed", [first])
    table = Table(str(place), properties={"delta.feature.catalogManaged": "supported"}, latest=1)
    (place / "c.parquet").write_bytes(b"no Parquet")
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


def test_a_file_of_names_stands_in_for_the_catalog(project: Project, server: UnityServer) -> None:
    run = project.run("show", "--target", "prod", "--output-format", "json", "sales.orders")
    project.repo.write("live.jsonl", run.out)
    project.repo.commit()
    server.tables.clear()
    found = project.check("--all", "--live-from", "live.jsonl")
    assert "DR001" in found.codes
