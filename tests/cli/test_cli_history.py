"""What `check --live` and `pull` find in the newest commits of a table, and with ``--history`` in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, STRING, DataType, Decimal, Field
from support.logs import Action, add, commit_info, metadata, protocol, write_log
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Run

MAPPED = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": "3"}
CONTRACT = (
    f"{ORDERS}  - {{name: note, type: string}}\nproperties: {{team: shop, tier: gold}}\n"
    "features: [columnMapping]\n"
)
TIME = "2023-11-14 22:13:20 UTC"
UNKNOWN = "the commit that changed it is not known"


def column(name: str, number: int) -> Field:
    types: dict[int, DataType] = {1: LONG, 2: Decimal(10, 2)}
    return Field(name, types.get(number, STRING), column_id=number, physical_name=f"c{number}")


def table_action(*names: str, **properties: str) -> Action:
    """Return the table's metadata with columns of these names; the third may be called otherwise."""
    columns = [column(name, number) for number, name in enumerate(("id", "amount", *names), 1)]
    return metadata(*columns, properties={**MAPPED, "team": "shop", "tier": "gold", **properties})


@pytest.fixture
def orders(project: Project) -> Path:
    lake = project.repo.path.parent / "lake"
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    project.repo.commit()
    project.declare(CONTRACT)
    return lake / "sales/orders"


def write_orders(table: Path, edits: dict[int, Action], commits: int) -> None:
    """Write a log with edits in some versions by Anna, and files in all others."""
    created = [commit_info("CREATE TABLE"), protocol(2, 5), table_action("note"), add()]
    log = [created, *([[commit_info("WRITE"), add()]] * commits)]
    for version, action in edits.items():
        log[version] = [commit_info("ALTER TABLE", userName="anna"), action]
    write_log(table, log)


def checks(project: Project, table: Path, *arguments: str) -> Run:
    """Check the live table, and the same table from a file: the reports are equal."""
    project.repo.write("shown.jsonl", project.run("show", "--output-format", "json", str(table)).out)
    live = project.check("--all", "--live", *arguments)
    assert project.check("--all", "--live-from", "shown.jsonl", *arguments).out == live.out
    return live


def test_drift_names_the_commit_that_made_it(project: Project, orders: Path) -> None:
    edits = {2: table_action("note", team="sales"), 4: table_action("note", "extra", team="sales")}
    write_orders(orders, edits, 5)
    report = checks(project, orders).out
    assert f"declares it; changed in version 4 (ALTER TABLE, {TIME}, by anna)" in report
    assert "changed in version 2" not in report, "without a marker the contract may be newer than the table"


def test_drift_since_the_creation_of_the_table_names_it(project: Project, orders: Path) -> None:
    write_log(
        orders,
        [
            [commit_info("CREATE TABLE"), protocol(2, 5), table_action("note", "extra")],
            [commit_info(), add()],
        ],
    )
    assert f"declares it; changed in version 0 (CREATE TABLE, {TIME})" in checks(project, orders).out


@pytest.mark.parametrize("commits", [104, 105, 150])
def test_drift_older_than_the_newest_commits_has_no_author_without_the_history(
    project: Project, orders: Path, commits: int
) -> None:
    write_orders(orders, {5: table_action("note", "extra")}, commits)
    author = f"changed in version 5 (ALTER TABLE, {TIME}, by anna)"
    report = checks(project, orders).out
    assert (author in report) == (commits == 104)
    assert (f"{UNKNOWN} (read 100; --history)" in report) == (commits != 104)
    assert author in checks(project, orders, "--history").out


def test_a_log_that_begins_after_the_drift_says_so(project: Project, orders: Path) -> None:
    write_orders(orders, {5: table_action("note", "extra"), 9: table_action("note", "extra")}, 20)
    log = orders / "_delta_log"
    log.joinpath(f"{9:020}.json").write_text(
        log.joinpath(f"{0:020}.json").read_text() + log.joinpath(f"{9:020}.json").read_text().splitlines()[1]
    )
    for version in range(9):
        log.joinpath(f"{version:020}.json").unlink()
    assert f"{UNKNOWN} (the log begins at version 9)" in checks(project, orders).out


@pytest.mark.parametrize("commits", [104, 105])
def test_a_rename_by_hand_is_recognized_in_the_newest_commits(
    project: Project, orders: Path, commits: int
) -> None:
    write_orders(orders, {5: table_action("remark")}, commits)
    project.repo.commit()
    recent = "note is called remark in the live table" in checks(project, orders).out
    assert recent == (commits == 104)
    assert "note is called remark" in checks(project, orders, "--history").out
    for arguments in ([], ["--history"]):
        diff = project.run("pull", "--diff", "sales.orders", *arguments).out
        assert ("renamed_from: note" in diff) == (recent or bool(arguments))


def test_the_whole_history_needs_live_tables(project: Project, orders: Path) -> None:
    write_orders(orders, {}, 1)
    run = project.check("--history")
    assert run.status == 2
    assert "--history needs --live or --live-from" in run.out + run.err
