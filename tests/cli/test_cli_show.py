"""`show`: text, JSON lines, and tables by path or by name."""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from schemalint.cli import BROKEN_PIPE
from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import INTEGER, LONG, STRING, Array, Atomic, Field, Map, RecordedChange, Struct
from schemalint.delta.path import Part
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import (
    CatalogTable,
    History,
    LiveTable,
    LogDefect,
    LogDefectKind,
    Metadata,
    TableState,
)
from schemalint.report.table.table_text import show_text
from schemalint.tables import table_json
from support.golden import assert_golden
from support.logs import (
    add,
    commit_info,
    marker,
    metadata,
    protocol,
    transaction,
    write_checkpoint,
    write_commit,
    write_log,
)
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from support.logs import Action

SHOW = (sys.executable, "-m", "schemalint", "show")
LOGS = Path(__file__).parent.parent / "delta_log" / "logs"
TEXTS = Path(__file__).parent / "shown"
WIDENING = {"delta.enableTypeWidening": "true"}
HOUR = 3_600_000
START = 1_767_225_600_000  # 2026-01-01


def info(hours: int, operation: str, **more: object) -> Action:
    """Return a ``commitInfo`` some hours after START."""
    return commit_info(
        operation,
        START + hours * HOUR,
        userName="ada",
        engineInfo="Apache-Spark/4.2.0 Delta-Lake/4.4.0",
        **more,
    )


def orders(table: Path) -> Path:
    """Write a table with a history: widened types, a manual type change, and unused table features."""
    features = ["typeWidening", "columnMapping", "appendOnly", "invariants", "changeDataFeed", "v3Thing"]
    ids = (Field("id", LONG, nullable=False, comment="Assigned by\nthe shop."),)
    line = Struct((Field("sku", STRING, nullable=False), Field("qty", INTEGER)))
    lines = Field("lines", Array(line, contains_null=False))
    wide = Struct(
        (
            line.fields[0],
            Field("qty", LONG, type_changes=(RecordedChange(INTEGER, LONG),)),
        )
    )
    counts = Field("counts", Map(STRING, INTEGER))
    wide_counts = Field(
        "counts", Map(STRING, LONG), type_changes=(RecordedChange(INTEGER, LONG, (Part.VALUE,)),)
    )
    amount = Field("amount", Atomic("short"))
    return write_log(
        table,
        [
            [
                info(0, "CREATE TABLE"),
                protocol(3, 7, features[:2], features[:5]),
                metadata(*ids, lines, counts, amount, properties=WIDENING, partitioned_by=["id"]),
            ],
            [info(1, "WRITE"), add()],
            [
                info(2, "CHANGE COLUMNS"),
                metadata(
                    *ids,
                    Field("lines", Array(wide, contains_null=False)),
                    wide_counts,
                    amount,
                    properties=WIDENING,
                    partitioned_by=["id"],
                ),
            ],
            [
                info(3, "WRITE"),
                protocol(3, 7, features[:2], features),
                metadata(
                    *ids,
                    Field("lines", Array(wide, contains_null=False)),
                    wide_counts,
                    Field("amount", INTEGER),
                    properties={**WIDENING, "team": "sales", "delta.constraints.positive": "id > 0"},
                    partitioned_by=["id"],
                    description="One row per order.",
                ),
            ],
        ],
    )


def hostile(table: Path) -> Path:
    """Write a table with control characters and CI commands in all its texts."""
    name, text = "a\x1b[2J`b", "\u202edrop\n::error::x"
    return write_log(
        table,
        [
            [
                commit_info("X\x07", START, userName=text),
                protocol(),
                metadata(
                    Field(
                        name, LONG, comment=text, default=text, type_changes=(RecordedChange(INTEGER, LONG),)
                    ),
                    properties={"k\r": text, f"delta.constraints.{name}": text},
                    partitioned_by=[name],
                    name=text,
                    description=text,
                ),
            ]
        ],
    )


def assert_shown(name: str, text: str) -> None:
    """Assert that a text equals a golden file, apart from the clients: rows of their table come and go."""
    text = re.sub(r"^Clients at .*\n(  .*\n)+\n", "", text, flags=re.MULTILINE)
    assert_golden(text, TEXTS / f"{name}.txt")


@pytest.mark.parametrize("name", ["checked", "checkpointed", "clustered", "computed", "mapped", "widened"])
def test_text_of_a_table_that_spark_wrote(
    name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(LOGS)
    run = project.run("show", "--isolated", name)
    assert (run.status, run.err) == (0, "")
    assert_shown(name, run.out)


def test_text_of_a_table_with_a_history(project: Project) -> None:
    orders(project.repo.path / "lake/orders")
    run = project.run("show", "lake/orders")
    assert run.status == 0
    assert_shown("orders", run.out)


def test_hostile_text_cannot_control_a_terminal_or_ci_service(project: Project) -> None:
    hostile(project.repo.path / "lake/hostile")
    run = project.run("show", "lake/hostile")
    assert run.status == 0
    assert all(char.isprintable() or char == "\n" for char in run.out)
    assert not any(line.lstrip().startswith("::") for line in run.out.splitlines())
    assert_shown("hostile", run.out)


def test_text_of_log_defects_and_catalog_entry() -> None:
    live = LiveTable(
        "s3://lake/orders",
        7,
        Protocol(1, 2),
        Metadata("t-1", TableState(Struct((Field("id", LONG),)))),
        History((), 7),
        ("the file _last_checkpoint is stale",),
        (
            LogDefect(LogDefectKind.REPEATED_ACTION, "it has two protocols", "00000000000000000003.json", 2),
            LogDefect(LogDefectKind.CHECKSUM_DIFFERS, "it says version 3", "7.crc", None, "DELTA_X"),
        ),
        CatalogTable("main.sales.orders", "Unity Catalog at https://uc", "s3://lake/orders"),
    )
    assert_shown(
        "defects",
        show_text(
            table_json.TableDocument(live, dt.datetime(2026, 11, 20, tzinfo=dt.UTC), "sales.orders"), ()
        ),
    )


def test_declaration_that_was_applied_last_is_shown(project: Project) -> None:
    revision = "c0ffee" * 6 + "abcd"
    created = [commit_info("CREATE TABLE"), protocol(), metadata(Field("id", LONG))]
    marked = [
        [commit_info(), transaction("schemalint:1:ab:-", 1)],
        [commit_info(), marker(ORDERS, revision, 2)],
    ]
    write_log(project.repo.path / "t", [created, *marked])
    assert f"last applied  revision {revision}, declaration 1:" in project.run("show", "t").out
    table = json.loads(project.run("show", "t", "--output-format", "json").out)
    assert sorted(table["transactions"].values()) == [1, 2]


def test_older_versions_are_shown(project: Project) -> None:
    orders(project.repo.path / "lake/orders")
    lines = project.run(
        "show", "--output-format", "json", "lake/orders@v0", "lake/orders@v2"
    ).out.splitlines()
    assert [json.loads(line)["version"] for line in lines] == [0, 2]


def test_no_history_shows_the_state_only(project: Project) -> None:
    orders(project.repo.path / "lake/orders")
    run = project.run("show", "--no-history", "lake/orders")
    assert "History" not in run.out
    assert re.search(r"element.qty +bigint\n +int -> bigint  version 3 or before", run.out)


def test_long_history_is_shortened_in_text_but_not_in_json(project: Project) -> None:
    commits = [[info(0, "CREATE TABLE"), protocol(), metadata(Field("id", LONG))]]
    commits += [
        [info(hour, "SET TBLPROPERTIES"), metadata(Field("id", LONG), properties={"n": str(hour)})]
        for hour in range(1, 30)
    ]
    write_log(project.repo.path / "lake/busy", commits)
    run = project.run("show", "lake/busy")
    assert "10 earlier changes: see --output-format json" in run.out
    assert "n = 9\n" not in run.out
    assert "n = 10\n" in run.out
    run = project.run("show", "lake/busy", "--output-format", "json")
    assert len(json.loads(run.out)["history"]) == 30


def test_unreadable_table_is_one_json_line_and_the_others_are_shown(project: Project) -> None:
    lake = project.repo.path / "lake"
    orders(lake / "orders")
    write_commit(lake / "broken", 0, "{")
    run = project.run(
        "show", "--output-format", "json", "lake/orders", "lake/nothing", "lake/broken", "lake/orders"
    )
    assert run.status == 2
    lines = [json.loads(line) for line in run.out.splitlines()]
    validator = Draft202012Validator(schema_of("table"))
    for line in lines:
        validator.validate(line)
    assert [line["uri"] for line in lines] == ["lake/orders", "lake/nothing", "lake/broken", "lake/orders"]
    assert ["error" in line for line in lines] == [False, True, True, False]
    assert [lines[1]["missing"], lines[2]["missing"]] == [True, False]


def test_text_reports_unreadable_tables_on_standard_error(project: Project) -> None:
    orders(project.repo.path / "lake/orders")
    run = project.run("show", "lake/nothing", "lake/orders")
    assert run.status == 2
    assert "lake/nothing" in run.err
    assert run.out.startswith("lake/orders\n")


def test_names_are_looked_up_in_a_target(project: Project) -> None:
    lake = project.repo.path / "lake"
    orders(lake / "sales/orders")
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    project.declare(ORDERS)
    run = project.run("show", "--target", "dev", "--output-format", "json", "Sales.`Orders`")
    line = json.loads(run.out)
    assert (line["table"], line["target"]) == ("sales.orders", "dev")
    assert line["uri"] == str(lake / "sales/orders")
    by_path = json.loads(project.run("show", "--output-format", "json", line["uri"]).out)
    assert by_path["table"] is None


def test_an_unknown_name_is_an_error_that_suggests_the_nearest_name(project: Project) -> None:
    (project.repo.path / "lake").mkdir()
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    project.declare(ORDERS)
    run = project.run("show", "--target", "dev", "sales.order")
    assert run.status == 2
    assert "no contract declares sales.order in target dev" in run.err
    assert "did you mean sales.orders?" in run.err


def test_no_repository_is_needed(project: Project, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    orders(tmp_path / "elsewhere/orders")
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    assert project.run("show", "orders").status == 0
    run = project.run("show", "--target", "dev", "orders")
    assert (run.status, run.out) == (2, "")
    assert "target dev is unknown" in run.err


def test_the_schema_of_the_json_lines_is_published(project: Project) -> None:
    run = project.run("schema", "table")
    assert json.loads(run.out) == schema_of("table")


def test_a_protocol_without_features_is_shown(project: Project) -> None:
    table = project.repo.path / "bare"
    write_log(table, [[protocol(1, 1), metadata(Field("id", LONG))]])
    assert "\nProtocol: reader 1, writer 1\n" in project.run("show", str(table)).out


def test_the_oldest_known_state_is_not_shown_as_a_change(project: Project) -> None:
    table = project.repo.path / "cleaned"
    actions = [protocol(), metadata(Field("id", LONG))]
    write_checkpoint(table, 4, actions)
    write_log(table, [[commit_info("WRITE"), add()]], first=5)
    assert "last change  version 4 or before\n" in project.run("show", str(table)).out


def test_a_closed_pipe_ends_the_command_quietly(tmp_path: Path) -> None:
    # More output than a pipe buffers.
    tables = 5 * [str(_wide(tmp_path / "wide"))]
    with subprocess.Popen([*SHOW, *tables], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == BROKEN_PIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full exists on Linux only")
def test_a_full_disk_is_an_error_and_not_reported_as_a_bug(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [*SHOW, str(_wide(tmp_path / "wide"))],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (run.returncode, run.stderr) == (
        2,
        "error: the output cannot be written: No space left on device\n",
    )


def _wide(table: Path) -> Path:
    """Write a table with many columns."""
    fields = [Field(f"column_{number}", LONG) for number in range(3_000)]
    return write_log(table, [[protocol(), metadata(*fields)]])


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_an_unknown_name_does_not_stop_the_other_tables(project: Project, output_format: str) -> None:
    orders(project.repo.path / "lake/sales/orders")
    project.repo.write("schemalint.toml", '[targets.dev]\nroot = "lake"\n')
    project.declare(ORDERS)
    run = project.run(
        "show", "--target", "dev", "--output-format", output_format, "s.nope@v1", "sales.orders", "s.no"
    )
    assert run.status == 2
    assert "no contract declares s.nope in target dev" in run.out + run.err
    assert "no contract declares s.no in" in run.out + run.err
    assert f"{project.repo.path}/lake/sales/orders" in run.out
