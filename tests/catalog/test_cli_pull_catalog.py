"""`pull` and `init` from a catalog."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from catalog.test_cli_catalog import ID, project, table
from schemalint.delta.datatype import STRING, Field, Struct
from support.logs import commit_info, metadata, protocol, write_log
from support.project import ORDERS, Project, Run
from support.unity_server import Table, UnityServer

__all__ = ["project", "table"]


def without_note(run: Run, server: UnityServer) -> str:
    """Return standard error after the note on the catalog, which has no encryption."""
    host = urlsplit(server.uri).netloc
    note = f"note: target prod sends credentials to {host} without encryption: same machine\n"
    assert run.err.startswith(note)
    return run.err.removeprefix(note)


@pytest.mark.usefixtures("each_api", "table")
def test_catalog_is_pulled_and_existing_contracts_are_kept(
    project: Project, server: UnityServer, tmp_path: Path
) -> None:
    note = Field("note", STRING)
    lines = write_log(
        tmp_path / "elsewhere/lines", [[commit_info("CREATE TABLE"), protocol(), metadata(ID, note)]]
    )
    server.tables["main.sales.lines"] = Table(lines.as_uri(), Struct((ID, note)))
    run = project.run("pull", "--all", "--match", "sales.*", "--into", "c/{catalog}/{schema}/{table}.yml")
    assert run.status == 0
    assert without_note(run, server) == "wrote c/main/sales/lines.yml\nsales.orders is up to date\n"
    written = (project.repo.path / "c/main/sales/lines.yml").read_text(encoding="utf-8")
    assert written.startswith("schemalint: 1\ntable: sales.lines\n\ncolumns:\n")
    assert project.check("--live", "--all", "--against", "none").codes == []


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("name", ["sales.orders", "main.sales.orders"])
def test_table_of_a_catalog_is_pulled_by_its_name(project: Project, server: UnityServer, name: str) -> None:
    project.declare(ORDERS.replace("bigint", "int"))
    assert without_note(project.run("pull", name), server) == "updated contracts/orders.yml\n"
    assert (project.repo.path / "contracts/orders.yml").read_text(encoding="utf-8") == ORDERS


@pytest.mark.usefixtures("server")
def test_missing_table_is_an_error(project: Project) -> None:
    run = project.run("pull", "sales.nowhere")
    assert (run.status, run.out) == (2, "")
    assert "nowhere" in run.err


@pytest.mark.usefixtures("each_api", "table")
def test_the_tables_of_a_configured_catalog_are_adopted(
    project: Project, server: UnityServer, tmp_path: Path
) -> None:
    lines = write_log(tmp_path / "lines", [[commit_info("CREATE TABLE"), protocol(), metadata(ID)]])
    server.tables["main.sales.Lines"] = Table(lines.as_uri(), Struct((ID,)))
    server.tables["main.sales.gone"] = Table((tmp_path / "gone").as_uri(), Struct((ID,)))
    text = (project.repo.path / "schemalint.toml").read_text()
    project.repo.write("schemalint.toml", f'baseline = "b.json"\n{text}')
    run = project.run("init", "--ci", "none")
    assert run.status == 2
    assert "gone" in run.err
    assert run.out.startswith("wrote 1 contract in contracts/sales/\nwrote b.json: 0 findings")
    assert "2 tables declared" in run.out
    written = (project.repo.path / "contracts/sales/Lines.yml").read_text(encoding="utf-8")
    assert written.startswith("schemalint: 1\ntable: sales.Lines\n\ncolumns:\n")
