"""Output of `plan` and `apply` for tables without statements and for long plans."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import LONG, Decimal, Field
from schemalint.model.marker import PENDING
from support.logs import commit_info, marker, metadata, protocol, write_log
from support.project import ORDERS

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

COLUMNS = (Field("id", LONG), Field("amount", Decimal(10, 2)))


class Tables:
    """A project with tables that match their contracts."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.root = project.repo.path.parent / "lake"
        self.root.mkdir()
        project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{self.root}"\n')

    def declare(self, name: str, more: str = "") -> str:
        text = ORDERS.replace("sales.orders", name) + more
        self.project.declare(text, f"contracts/{name}.yml")
        return text

    def log(self, name: str, text: str | None = None, revision: str | None = None) -> None:
        """Write a log, without a marker or with the marker of a contract text at a revision."""
        marked = [[commit_info(), marker(text, revision)]] if text is not None else []
        write_log(
            self.root / name.replace(".", "/"),
            [[commit_info("CREATE TABLE"), protocol(), metadata(*COLUMNS)], *marked],
        )


@pytest.fixture
def tables(project: Project) -> Tables:
    return Tables(project)


@pytest.mark.parametrize("command", [("plan",), ("apply", "--yes")])
def test_table_that_cannot_be_planned_is_reported_by_name(tables: Tables, command: tuple[str, ...]) -> None:
    for name in ("sales.orders", "sales.lines"):
        tables.declare(name)
        note = metadata(*COLUMNS, properties={PENDING: "{}"})
        write_log(tables.root / name.replace(".", "/"), [[commit_info("CREATE TABLE"), protocol(), note]])
    tables.project.repo.commit()
    run = tables.project.run(*command)
    assert run.status == 2
    reason = f"the table property {PENDING} is unreadable: {{}}"
    for name in ("sales.orders", "sales.lines"):
        assert f"{name}: not planned\n  - {reason}\n      help: " in run.out
        assert f"error: {name}: {reason}\n" in run.err
    assert "\n2 tables not planned.\n" in run.out


def test_unknown_base_is_an_error_even_where_no_table_needs_it(tables: Tables) -> None:
    text = tables.declare("sales.orders")
    tables.log("sales.orders", text, tables.project.repo.commit())
    run = tables.project.run("plan", "--base", "nope")
    assert (run.status, run.out) == (2, "")
    assert run.err.startswith("error: unknown revision: nope\n")
    assert tables.project.run("plan", "--base", "none").status == 0


def test_shallow_clone_without_the_last_applied_commit_names_the_table(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tables.declare("sales.orders")
    applied = tables.project.repo.commit()
    tables.declare("sales.orders", "description: New.\n")
    tables.project.repo.commit()
    tables.log("sales.orders", text, applied)
    tables.project.repo.clone(tmp_path / "shallow", "--depth=1")
    monkeypatch.chdir(tmp_path / "shallow")
    run = tables.project.run("plan")
    message = f"sales.orders was applied at {applied[:12]}, which this shallow clone lacks"
    assert f"error: {message}\n  help: git fetch --no-tags --unshallow origin {applied}\n" in run.err
    assert message in run.out
    assert run.status == 2
    fetched = tables.project.run("plan", "--fetch")
    assert fetched.status == 0
    assert fetched.err == ""
    assert "1 statement in 1 table" in fetched.out


def test_shallow_clone_does_not_know_which_revision_a_table_without_a_marker_is_at(
    tables: Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables.declare("sales.orders")
    tables.project.repo.commit()
    tables.declare("sales.orders", "description: New.\n")
    newest = tables.project.repo.commit()
    tables.log("sales.orders")
    tables.project.repo.clone(tmp_path / "shallow", "--depth=1")
    monkeypatch.chdir(tmp_path / "shallow")
    run = tables.project.run("plan")
    assert f"this shallow clone lacks the revisions of sales.orders before {newest[:12]}\n" in run.err
    assert "  help: git fetch --no-tags --unshallow origin\n" in run.err
    assert run.status == 2
    fetched = tables.project.run("plan", "--fetch")
    assert fetched.status == 0
    assert fetched.err == ""
    assert "1 statement in 1 table" in fetched.out


def test_tables_that_were_never_applied_are_up_to_date(tables: Tables) -> None:
    for number in range(2):
        tables.declare(f"s.t{number}")
        tables.log(f"s.t{number}")
    run = tables.project.run("plan", "--exit-code")
    assert run.out.endswith(": up to date\n2 tables up to date.\n")
    assert run.status == 0
    assert "marker" not in run.out


def test_plan_with_nothing_to_do_has_no_hash(tables: Tables) -> None:
    tables.log("sales.orders", tables.declare("sales.orders"))
    assert tables.project.run("plan").out.endswith("\n1 table up to date.\n")


def test_plan_with_only_a_refused_table_has_no_hash(tables: Tables) -> None:
    tables.declare("sales.orders", "partitioned_by: [id]\n")
    tables.log("sales.orders")
    assert tables.project.run("plan").out.endswith("\n1 table refused.\n")


@pytest.mark.parametrize("number", [10, 11])
def test_many_up_to_date_tables_are_counted_instead_of_listed(tables: Tables, number: int) -> None:
    for index in range(number):
        name = f"s.t{index}"
        tables.log(name, tables.declare(name))
    tables.declare("s.new")
    lines = tables.project.run("plan").out.splitlines()
    assert ("11 tables up to date" in lines) == (number > 10)
    assert sum(line.endswith(": up to date") for line in lines) == (10 if number == 10 else 0)
    assert any(line.startswith("s.new (") for line in lines)


@pytest.mark.wide
@pytest.mark.parametrize(("output_format", "word"), [("text", "because "), ("markdown", "<br>")])
def test_reasons_beyond_five_are_counted(tables: Tables, output_format: str, word: str) -> None:
    columns = "".join(f"  - {{name: c{number}, type: int}}\n" for number in range(1_210))
    tables.declare("sales.orders", columns)
    tables.log("sales.orders")
    out = tables.project.run("plan", "--output-format", output_format).out
    assert len(re.findall(rf"{word}c\d+ is declared and missing", out)) == 5
    assert "and 1,205 more" in out.replace("&#44;", ",")
    whole = json.loads(tables.project.run("plan", "--output-format", "json").out)
    assert len(whole["tables"][0]["steps"][0]["reasons"]) == 1_210


@pytest.mark.parametrize("file", ["part-0.parquet", "_SUCCESS", "day=1/part-0.parquet", ".hidden"])
def test_table_is_not_created_in_a_folder_with_other_files(tables: Tables, file: str) -> None:
    tables.declare("sales.pq")
    folder = tables.root / "sales/pq"
    (folder / file).parent.mkdir(parents=True)
    (folder / file).write_bytes(b"PAR1")
    run = tables.project.run("plan")
    assert run.status == 2
    assert f"there are files but no Delta log at {folder}" in run.out
    assert "CONVERT TO DELTA" in run.out
    assert "CREATE TABLE" not in run.out


def test_table_is_created_in_an_empty_folder(tables: Tables) -> None:
    tables.declare("sales.pq")
    (tables.root / "sales/pq").mkdir(parents=True)
    (tables.root / "sales/pq/.part-0.parquet.crc").write_bytes(b"")
    run = tables.project.run("plan")
    assert run.status == 0
    assert "CREATE TABLE" in run.out


class PlannedProject:
    """A project with a plan file that creates two tables."""

    def __init__(self, tables: Tables) -> None:
        self.project = tables.project
        for name in ("sales.orders", "sales.lines"):
            tables.declare(name)
        tables.project.repo.commit()
        self.file = str(tables.root.parent / "p.json")
        assert self.project.run("plan", "--out", self.file).status == 0


@pytest.fixture
def planned(tables: Tables) -> PlannedProject:
    return PlannedProject(tables)


def test_table_name_limits_apply_to_part_of_a_plan_file(planned: PlannedProject) -> None:
    run = planned.project.run("apply", "--plan", planned.file, "Sales.`Orders`")
    assert run.status == 4
    assert "sales.orders: the plan file needs an approval" in run.err
    assert "\n1 statement in 1 table" in run.out
    assert "sales.lines" not in run.out


def test_table_missing_from_a_plan_file_is_an_error(planned: PlannedProject) -> None:
    planned.project.declare(ORDERS.replace("sales.orders", "sales.new"), "contracts/new.yml")
    planned.project.repo.commit()
    run = planned.project.run("apply", "--plan", planned.file, "sales.new")
    assert run.status == 2
    assert f"{planned.file} does not contain sales.new" in run.err
    assert "it contains sales.lines, sales.orders" in run.err


@pytest.mark.parametrize("engine", ["delta-rs:py-1.6.6", "Apache-Spark/4.2.0 Delta-Lake/4.4.0"])
def test_a_plan_says_what_a_new_column_means_for_delta_rs_where_that_wrote(
    project: Project, engine: str
) -> None:
    lake = project.repo.path.parent / "lake"
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    created = [commit_info("CREATE TABLE", engineInfo=engine), protocol(), metadata(*COLUMNS)]
    write_log(lake / "sales/orders", [created])
    project.declare(ORDERS + "  - {name: note, type: string}\n")
    project.repo.commit()
    risk = "delta-rs, which wrote the table lately, appends nothing without the new column"
    assert (risk in project.run("plan").out) == engine.startswith("delta-rs")
