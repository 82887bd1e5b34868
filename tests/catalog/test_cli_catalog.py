"""`check --live`, `plan` and `apply` with a catalog that knows the locations of tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from schemalint.delta.datatype import INTEGER, LONG, STRING, Decimal, Field, Struct
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS, Project
from support.repo import Repo
from support.unity_server import Table, UnityServer

ID = Field("id", LONG)
AMOUNT = Field("amount", Decimal(10, 2))


@pytest.fixture
def project(
    tmp_path: Path, server: UnityServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Project:
    """A repository with the committed contract of ``sales.orders`` and a target with a catalog."""
    repo = Repo(tmp_path / "repository")
    for name, value in {**repo.env, "UC_TOKEN": "secret-token"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    new_project = Project(repo, capsys)
    repo.write(
        "schemalint.toml",
        f'[targets.prod]\ncatalog = "main"\ncatalog_uri = "{server.uri}"\ncatalog_token = "${{UC_TOKEN}}"\n',
    )
    new_project.declare(ORDERS)
    repo.commit()
    return new_project


@pytest.fixture
def table(server: UnityServer, tmp_path: Path) -> Table:
    """A table that matches its contract and its catalog entry."""
    path = write_log(
        tmp_path / "somewhere/orders", [[commit_info("CREATE TABLE"), protocol(), metadata(ID, AMOUNT)]]
    )
    registered = Table(path.as_uri(), Struct((ID, AMOUNT)))
    server.tables["main.sales.orders"] = registered
    return registered


@pytest.mark.usefixtures("each_api", "table")
def test_table_is_read_at_the_location_in_the_catalog(project: Project) -> None:
    run = project.check("--live", "--all")
    assert (run.status, run.codes) == (0, [])
    assert "no findings in 1 table" in run.out
    project.declare(ORDERS.replace("bigint", "int"))
    run = project.run("check", "--live", "--output-format", "json")
    (finding,) = json.loads(run.out)["findings"]
    assert (finding["code"], finding["against"]) == ("TW001", ["git", "live"])


@pytest.mark.usefixtures("table")
def test_full_table_name_is_the_same_table(project: Project) -> None:
    project.declare(ORDERS.replace("sales.orders", "main.sales.orders"))
    assert project.check("--live", "--all", "--against", "none").codes == []


def test_name_of_another_catalog_is_an_error_at_its_line(project: Project) -> None:
    project.declare(ORDERS.replace("sales.orders", "dev.sales.orders"))
    run = project.check("--live")
    assert run.status == 2
    assert "contracts/orders.yml:2:" in run.out
    assert "target prod has catalog main" in run.out


def test_missing_table_is_a_notice(project: Project) -> None:
    run = project.check("--live", "--all", "--against", "none")
    assert (run.status, run.codes) == (0, ["DR003"])
    assert "no table at main.sales.orders yet" in run.out


def test_missing_schema_is_an_error(project: Project, server: UnityServer) -> None:
    server.schemas = {"main.other"}
    run = project.check("--live", "--all")
    assert run.status == 2
    assert "there is no schema main.sales" in run.out


def test_wrong_token_is_an_error_without_the_token(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UC_TOKEN", "wrong-token")
    run = project.check("--live", "--all")
    assert run.status == 2
    assert "not accepted" in run.out
    assert "wrong-token" not in run.out + run.err
    monkeypatch.delenv("UC_TOKEN")
    run = project.check("--live", "--all")
    assert run.status == 2
    assert "UC_TOKEN is not set" in run.out + run.err


def test_catalog_that_disagrees_with_the_log_is_a_finding(project: Project, table: Table) -> None:
    table.columns = Struct((Field("id", INTEGER), AMOUNT))
    run = project.check("--live", "--all", "--against", "none")
    assert run.codes == ["DR006"]
    assert "id is int, not bigint" in run.out


@pytest.mark.usefixtures("table")
def test_plan_alters_the_table_by_its_full_name(project: Project) -> None:
    project.declare(ORDERS + "  - {name: note, type: string}\n")
    run = project.run("plan", "--output-format", "sql")
    assert run.status == 0, run.out + run.err
    assert "ALTER TABLE `main`.`sales`.`orders` ADD COLUMNS" in run.out


def test_plan_creates_the_table_by_its_full_name(project: Project) -> None:
    run = project.run("plan", "--output-format", "sql")
    assert run.status == 0, run.out + run.err
    assert "CREATE TABLE `main`.`sales`.`orders` (" in run.out


def test_plan_shows_the_features_that_the_catalog_adds(project: Project) -> None:
    told = (
        "the catalog adds catalogManaged, columnMapping, deletionVectors, domainMetadata, inCommitTimestamp, "
        "rowTracking, v2Checkpoint, vacuumProtocolCheck: "
        "the table gets reader version 3, writer version 7"
    )
    run = project.run("plan")
    assert run.status == 0, run.out + run.err
    assert told in run.out
    (table,) = json.loads(project.run("plan", "--output-format", "json").out)["tables"]
    assert told in table["steps"][0]["reasons"]
    assert "vacuumProtocolCheck" in project.run("plan", "--output-format", "markdown").out
    project.declare(ORDERS + "features: [v2Checkpoint]\n")
    assert "rowTracking, vacuumProtocolCheck: the table gets" in project.run("plan").out


def test_plan_refuses_a_table_that_the_catalog_would_put_above_its_limits(
    project: Project, server: UnityServer
) -> None:
    project.declare(ORDERS + "protocol: {max_reader: 1}\n")
    project.repo.commit()
    run = project.run("plan")
    assert run.status == 2
    assert "the catalog adds catalogManaged, columnMapping, deletionVectors" in run.out
    assert "above max_reader: 1" in run.out
    assert not [line for line in server.request_lines if "staging" in line]
    project.declare(ORDERS + "protocol: {max_reader: 3}\n")
    project.repo.commit()
    assert "CREATE TABLE" in project.run("plan", "--output-format", "sql").out


@pytest.mark.usefixtures("table")
def test_apply_without_yes_shows_the_statements_by_full_name(project: Project) -> None:
    project.declare(ORDERS + "  - {name: note, type: string}\n")
    project.repo.commit()
    run = project.run("apply")
    assert run.status == 4
    assert "ALTER TABLE `main`.`sales`.`orders` ADD COLUMNS" in run.out


@pytest.mark.usefixtures("table")
def test_second_contract_for_one_name_is_refused(project: Project) -> None:
    project.declare(ORDERS.replace("sales.orders", "main.sales.orders"), "contracts/again.yml")
    run = project.run("plan")
    assert run.status != 0
    assert "the table at this location belongs to sales.orders" in run.out
    assert project.check().codes == ["CT002"]


def test_path_of_a_table_that_another_contract_names_is_refused(project: Project, table: Table) -> None:
    """The catalog knows that both are one table; without a request `check` cannot."""
    people = ORDERS.replace("sales.orders", "crm.people") + f"location: {table.location}/\n"
    config = project.repo.path / "schemalint.toml"
    config.write_text(f'{config.read_text()}allowed_locations = ["{table.location}"]\n')
    project.repo.commit()
    project.declare(people, "contracts/again.yml")
    assert project.check().codes == []
    run = project.check("--live", "--all", "--against", "none")
    assert [code for code in run.codes if code == "CT002"] == ["CT002"]
    for tables in ((), ("crm.people",)):
        run = project.run("plan", *tables)
        assert run.status != 0
        assert "the table at this location belongs to sales.orders" in run.out


def test_two_names_of_one_location_are_one_table(project: Project, table: Table, server: UnityServer) -> None:
    server.tables["main.crm.people"] = Table(table.location, table.columns, table_id="another")
    project.declare(ORDERS.replace("sales.orders", "crm.people"), "contracts/again.yml")
    assert project.check().codes == []
    run = project.check("--live", "--all")
    assert (run.status, run.codes) == (1, ["CT002"])
    assert run.out.startswith("contracts/again.yml:2:")
    plan = project.run("plan")
    assert plan.status != 0
    assert plan.out.count("the table at this location belongs to sales.orders") == 1


def test_location_in_a_contract_needs_no_catalog_request(
    project: Project, server: UnityServer, tmp_path: Path
) -> None:
    path = write_log(tmp_path / "lake/orders", [[protocol(), metadata(ID, AMOUNT, Field("new", STRING))]])
    project.repo.write("schemalint.toml", f'[targets.prod]\ncatalog = "main"\nroot = "{path.parent}"\n')
    project.declare(ORDERS.replace("columns:", "location: orders\ncolumns:"))
    assert project.check("--live", "--all", "--against", "none").codes == ["DR001"]
    assert server.requests == []
