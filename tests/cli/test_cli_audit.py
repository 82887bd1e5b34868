"""`audit`: the tables that it reads, the summary over all of them, and the exit status.

The findings come from two local rules; the built-in rules have their own tests.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import LONG, Decimal, Field
from support.logs import add, commit_info, metadata, protocol, write_commit, write_log
from support.project import ORDERS, Project, Run

if TYPE_CHECKING:
    from pathlib import Path

RULES = '''
from schemalint.delta.history import HistoryStep
from schemalint.delta.table import LiveTable
from schemalint.plugin import ObjectRef, Problem, Severity, rule

TABLE = ObjectRef("table", "")


@rule("AU001", on=LiveTable, severity=Severity.WARNING)
def unnamed(table, ctx):
    """A table has no description."""
    if not table.state.description:
        yield Problem("the table has no description", object=TABLE)


@rule("AU002", on=HistoryStep, severity=Severity.ERROR)
def manual(step, ctx):
    """Somebody altered the table by hand."""
    if step.entry.operation == "MANUAL":
        yield Problem(f"version {step.entry.version} was made by hand", object=TABLE)
'''
ID = Field("id", LONG)
NAMES = ["typeWidening-preview", "appendOnly", "invariants"]


class Lake:
    """A project with tables below ``lake`` and local rules."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.root = project.repo.path / "lake"
        self.root.mkdir()
        project.repo.write("rules/audit.py", RULES)
        self.configure("")

    def configure(self, text: str) -> None:
        self.project.repo.write("schemalint.toml", f'plugins = ["rules/audit.py"]\n{text}')

    def table(self, name: str, *operations: str, description: str | None = None) -> Path:
        first = [commit_info("CREATE TABLE"), protocol(), metadata(ID, description=description)]
        later = [
            [commit_info(operation), metadata(ID, properties={"n": str(number)}, description=description)]
            for number, operation in enumerate(operations)
        ]
        return write_log(self.root / name, [first, *later])

    def audit(self, *arguments: str) -> Run:
        return self.project.run("audit", "--allow-local-plugins", "--select", "AU", *arguments)

    def report(self, *arguments: str) -> dict[str, object]:
        document: dict[str, object] = json.loads(self.audit("--output-format", "json", *arguments).out)
        Draft202012Validator(schema_of("report")).validate(document)
        return document

    def compared(self, *arguments: str) -> list[str]:
        run = self.report(*arguments)["run"]
        assert isinstance(run, dict)
        return list(run["compared"])


@pytest.fixture
def lake(project: Project) -> Lake:
    return Lake(project)


def test_a_table_and_its_history_are_judged(lake: Lake) -> None:
    lake.table("orders", "SET TBLPROPERTIES", "MANUAL")
    run = lake.audit("lake/orders", "--output-format", "concise")
    assert run.status == 1
    assert run.out == (
        "lake/orders:1:1: AU001 warning the table has no description\n"
        "lake/orders/_delta_log/00000000000000000002.json:1:1: AU002 error version 2 was made by hand\n"
        "Tables\n"
        "  lake/orders: 1 error, 1 warning\n"
        "Protocols\n"
        "  reader 1, writer 2, legacy: 1 table\n"
        "1 error, 1 warning in 1 table (base history, as far back as the logs go, as Delta 4.4)\n"
    )


def test_a_table_without_findings_is_status_zero(lake: Lake) -> None:
    lake.table("orders", description="One row per order.")
    run = lake.audit("lake/orders")
    assert run.status == 0
    assert "no findings in 1 table" in run.out


@pytest.mark.parametrize(
    ("flags", "status"),
    [
        ((), 0),
        (("--fail-on", "warning"), 1),
        (("--fail-on", "never"), 0),
        (("--fail-on", "warning", "--ignore", "AU001"), 0),
    ],
)
def test_fail_on_sets_the_severity_that_fails(lake: Lake, flags: tuple[str, ...], status: int) -> None:
    lake.table("orders")
    assert lake.audit("lake/orders", *flags).status == status


def test_quiet_prints_findings_alone(lake: Lake) -> None:
    lake.table("orders", description="One row per order.")
    quiet = lake.audit("lake/orders", "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")
    lake.table("lines")
    assert "AU001" in lake.audit("lake/lines", "--quiet").out


def test_verbose_says_what_is_read(lake: Lake) -> None:
    lake.table("orders")
    assert lake.audit("lake/orders").err == ""
    err = lake.audit("lake/orders", "--verbose").err
    assert err == "configuration: schemalint.toml\ntables: 1\nrules: 2\n"


def test_tables_below_overlapping_roots_are_judged_once(lake: Lake) -> None:
    lake.table("sales/orders")
    lake.table("sales/items")
    compared = lake.compared("lake/sales/orders", "--root", "lake", "--root", "lake/sales")
    assert compared == ["lake/sales/orders", "lake/sales/items"]


def test_older_versions_are_judged_as_separate_tables(lake: Lake) -> None:
    lake.table("orders", "MANUAL", "MANUAL")
    run = lake.audit("lake/orders@v0", "lake/orders@v1", "lake/orders@v1", "--output-format", "concise")
    assert run.out.count("AU002") == 1
    assert "in 2 tables" in run.out


def test_inventory_counts_protocols_and_unused_features(lake: Lake) -> None:
    for name in ("a", "b"):
        write_log(lake.root / name, [[protocol(3, 7, NAMES[:1], NAMES), metadata(ID)]])
    inventory = lake.report("--root", "lake")["inventory"]
    assert isinstance(inventory, dict)
    assert inventory["protocols"] == [{"min_reader_version": 3, "min_writer_version": 7, "tables": 2}]
    assert inventory["idle_features"] == [{"feature": "typeWidening-preview", "tables": 2}]
    assert inventory["preview_features"] == [{"feature": "typeWidening-preview", "tables": 2}]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "no tables given"),
        (("--root", "lake"), "no tables found in lake"),
        (("--root", "nowhere"), "there is no such folder"),
        (("--all",), "--all needs a target"),
        (("--target", "dev", "lake"), "there is no target 'dev'"),
    ],
)
def test_an_audit_of_no_tables_is_an_error(lake: Lake, arguments: tuple[str, ...], message: str) -> None:
    run = lake.audit(*arguments, "--fail-on", "never")
    assert run.status == 2
    assert message in run.out + run.err


def test_an_unreadable_table_does_not_stop_the_audit_of_others(lake: Lake) -> None:
    lake.table("orders")
    write_commit(lake.root / "broken", 0, "{")
    run = lake.audit("--root", "lake", "lake/missing", "--output-format", "json")
    document = json.loads(run.out)
    assert (run.status, document["run"]["exit_status"]) == (2, 2)
    assert document["run"]["compared"] == ["lake/orders"]
    assert sorted(error["message"].split("/")[1].split(":")[0] for error in document["errors"]) == [
        "broken",
        "missing",
    ]


def test_declared_tables_are_listed_by_name_and_others_by_path(lake: Lake) -> None:
    lake.configure('[targets.dev]\nroot = "lake"\n')
    lake.project.declare(ORDERS)
    lake.table("sales/orders")
    lake.table("sales/items")
    assert lake.compared("--target", "dev", "sales.orders") == ["sales.orders"]
    everything = ["sales.orders", str(lake.root / "sales/items")]
    assert lake.compared("--target", "dev", "--all") == everything
    assert lake.compared("--target", "dev") == everything
    assert lake.compared("--all") == everything
    assert lake.compared("--all", str(lake.root / "sales/orders")) == everything
    by_root = lake.compared("--target", "dev", "--root", str(lake.root))
    assert sorted(by_root) == sorted(everything)
    assert sorted(lake.compared("--target", "dev", "--root", "lake")) == ["lake/sales/items", "sales.orders"]


def test_a_missing_declared_table_is_an_error(lake: Lake) -> None:
    lake.configure('[targets.dev]\nroot = "lake"\n')
    lake.project.declare(ORDERS)
    lake.table("sales/items")
    run = lake.audit("--all")
    assert run.status == 2
    assert "there is no Delta table" in run.out


def test_a_missing_root_is_an_error(lake: Lake) -> None:
    lake.configure('[targets.dev]\nroot = "elsewhere"\n')
    lake.project.declare(ORDERS)
    run = lake.audit("--all")
    assert run.status == 2
    assert "the root of target dev does not exist" in run.out


def test_rules_can_be_ignored_for_tables_by_pattern(lake: Lake) -> None:
    lake.configure('[targets.dev]\nroot = "lake"\n[[tables]]\nmatch = "sales.*"\nignore = ["AU001"]\n')
    lake.project.declare(ORDERS)
    lake.table("sales/orders")
    lake.table("stage/orders")
    run = lake.audit("--all", "--output-format", "concise")
    assert [line.split(":")[0] for line in run.out.splitlines() if "AU001" in line] == [
        str(lake.root / "stage/orders")
    ]


def test_a_report_is_written_into_a_file(lake: Lake) -> None:
    lake.table("orders")
    run = lake.audit("lake/orders", "--output-format", "full:report.txt")
    assert run.out == ""
    assert "AU001" in (lake.project.repo.path / "report.txt").read_text()


def test_built_in_rules_judge_undeclared_tables(project: Project) -> None:
    table = project.repo.path / "orders"
    before, after = Field("amount", Decimal(10, 2)), Field("amount", Decimal(12, 2))
    write_log(
        table,
        [
            [commit_info("CREATE TABLE"), protocol(), metadata(ID, before), add()],
            [commit_info("CHANGE COLUMN", userName="anna"), metadata(ID, after)],
        ],
    )
    commit = "version 1 (CHANGE COLUMN, 2023-11-14 22:13:20 UTC, by anna) changed amount from decimal(10,2)"
    for output_format in ("concise", "full", "github"):
        run = project.run("audit", "orders", "--output-format", output_format)
        assert run.status == 1
        assert commit in run.out
    (finding,) = json.loads(project.run("audit", "orders", "--output-format", "json").out)["findings"]
    assert finding["commit"] == {
        "version": 1,
        "timestamp": 1_700_000_000_000,
        "operation": "CHANGE COLUMN",
        "user": "anna",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--run-id", "7"), "--run-id has no effect without --into"),
        (("--master", "local[1]"), "--master has no effect without Spark"),
        (("--via", "spark", "--conf", "x"), "--conf x: a value is missing"),
        (("--into", "ops.`findings"), "--into ops.`findings: the back-quote"),
        (("lake/orders@v0", "--into", "ops.findings"), "lake/orders is named twice"),
    ],
)
def test_contradictory_spark_options_are_refused_before_spark_starts(
    lake: Lake, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    started: list[object] = []
    monkeypatch.setattr("schemalint.spark.session.start", started.append)
    lake.table("orders")
    run = lake.audit("lake/orders", *arguments)
    assert run.status == 2
    assert message in run.out + run.err
    assert started == []


def test_data_files_are_read_only_with_files(project: Project) -> None:
    table = project.repo.path / "orders"
    write_log(table, [[commit_info(), protocol(), metadata(ID)], [add("gone.parquet")]])
    assert project.run("audit", "orders", "--select", "TH011").status == 0
    run = project.run("audit", "orders", "--select", "TH011", "--files", "--output-format", "concise")
    assert run.status == 1
    assert "TH011 error 1 data file cannot be read, it is gone: gone.parquet" in run.out


def test_an_incomplete_list_of_data_files_is_an_error_and_findings_remain(lake: Lake) -> None:
    state = [protocol(), metadata(ID)]
    table = write_log(lake.root / "orders", [state, [add()], state])
    (table / "_delta_log" / f"{1:020}.json").unlink()
    run = lake.audit("lake/orders", "--files", "--output-format", "concise")
    assert run.status == 2
    assert "AU001" in run.out
    assert "the commit of version 1 is missing" in run.out
