"""`show`: text for people, lines of JSON for programs, tables by place and by name."""

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

from schemalint import table_json
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
from schemalint.report.table.text import show_text
from support.golden import assert_golden
from support.logs import add, commit_info, metadata, protocol, write_checkpoint, write_commit, write_log
from support.project import ORDERS, Project

if TYPE_CHECKING:
    from support.logs import Action

SHOW = (sys.executable, "-m", "schemalint", "show")
LOGS = Path(__file__).parent.parent / "delta_log" / "logs"
TEXTS = Path(__file__).parent / "shown"
WIDENING = {"delta.enableTypeWidening": "true"}
HOUR = 3_600_000
START = 1_767_225_600_000  # 2026-01-01


def info(hours: int, operation: str, **others: object) -> Action:
    return commit_info(
        operation,
        START + hours * HOUR,
        userName="ada",
        engineInfo="Apache-Spark/4.2.0 Delta-Lake/4.4.0",
        **others,
    )


def orders(table: Path) -> Path:
    """A table with a life: widened, altered by a stranger, on a protocol that nobody uses up."""
    names = ["typeWidening", "columnMapping", "appendOnly", "invariants", "changeDataFeed", "v3Thing"]
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
                protocol(3, 7, names[:2], names[:5]),
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
                protocol(3, 7, names[:2], names),
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


def compare(name: str, text: str) -> None:
    assert_golden(text, TEXTS / f"{name}.txt")


@pytest.mark.parametrize("name", ["checked", "checkpointed", "clustered", "computed", "mapped", "widened"])
def test_text_of_a_table_that_spark_wrote(
    name: str, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(LOGS)
    run = project.run("show", "--isolated", name)
    assert (run.status, run.err) == (0, "")
    compare(name, run.out)


def test_text_of_a_table_with_a_life(project: Project) -> None:
    orders(project.repo.path / "lake/orders")
    run = project.run("show", "lake/orders")
    assert run.status == 0
    compare("orders", run.out)


def test_text_steers_no_terminal_and_no_ci_service(project: Project) -> None:
    hostile(project.repo.path / "lake/hostile")
    run = project.run("show", "lake/hostile")
    assert run.status == 0
    assert all(char.isprintable() or char == "\n" for char in run.out)
    assert not any(line.lstrip().startswith("::") for line in run.out.splitlines())
    compare("hostile", run.out)


def test_text_of_what_is_wrong_with_a_log_and_of_what_a_catalog_says() -> None:
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
    compare(
        "defects",
        show_text(table_json.TableDocument(live, dt.datetime(2026, 11, 20, tzinfo=dt.UTC), "sales.orders")),
    )


def test_an_older_version_and_an_instant(project: Project) -> None:
    orders(project.repo.path / "lake/orders")
    lines = project.run(
        "show", "--output-format", "json", "lake/orders@v0", "lake/orders@v2"
    ).out.splitlines()
    assert [json.loads(line)["version"] for line in lines] == [0, 2]


def test_only_the_state(project: Project) -> None:
    orders(project.repo.path / "lake/orders")
    run = project.run("show", "--no-history", "lake/orders")
    assert "History" not in run.out
    assert re.search(r"element.qty +bigint\n +int -> bigint  version 3 or before", run.out)


def test_long_histories_are_cut_in_text_alone(project: Project) -> None:
    commits = [[info(0, "CREATE TABLE"), protocol(), metadata(Field("id", LONG))]]
    commits += [
        [info(hour, "SET TBLPROPERTIES"), metadata(Field("id", LONG), properties={"n": str(hour)})]
        for hour in range(1, 30)
    ]
    write_log(project.repo.path / "lake/busy", commits)
    run = project.run("show", "lake/busy")
    assert "10 earlier changes are in --output-format json" in run.out
    assert ("n = 9\n" in run.out, "n = 10\n" in run.out) == (False, True)
    run = project.run("show", "lake/busy", "--output-format", "json")
    assert len(json.loads(run.out)["history"]) == 30


def test_one_bad_table_is_a_line_and_the_others_go_on(project: Project) -> None:
    lake = project.repo.path / "lake"
    orders(lake / "orders")
    write_commit(lake / "broken", 0, "{")
    run = project.run(
        "show", "--output-format", "json", "lake/orders", "lake/nothing", "lake/broken", "lake/orders"
    )
    assert run.status == 2
    lines = [json.loads(line) for line in run.out.splitlines()]
    validator = Draft202012Validator(table_json.schema())
    for line in lines:
        validator.validate(line)
    assert [line["uri"] for line in lines] == ["lake/orders", "lake/nothing", "lake/broken", "lake/orders"]
    assert ["error" in line for line in lines] == [False, True, True, False]
    assert [lines[1]["missing"], lines[2]["missing"]] == [True, False]


def test_text_tells_bad_tables_on_standard_error(project: Project) -> None:
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
    by_place = json.loads(project.run("show", "--output-format", "json", line["uri"]).out)
    assert by_place["table"] is None


def test_an_unknown_name_is_told_with_its_neighbour(project: Project) -> None:
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
    assert "target dev is not known" in run.err


def test_the_schema_of_the_lines_is_published(project: Project) -> None:
    run = project.run("schema", "table")
    assert json.loads(run.out) == table_json.schema()


def test_the_protocol_is_told_where_it_has_no_features(project: Project) -> None:
    table = project.repo.path / "bare"
    write_log(table, [[protocol(1, 1), metadata(Field("id", LONG))]])
    assert "\nProtocol: reader 1, writer 1\n" in project.run("show", str(table)).out


def test_the_oldest_state_that_is_known_is_not_told_as_a_change(project: Project) -> None:
    table = project.repo.path / "cleaned"
    actions = [protocol(), metadata(Field("id", LONG))]
    write_checkpoint(table, 4, actions)
    write_log(table, [[commit_info("WRITE"), add()]], first=5)
    assert "last change  version 4 or before\n" in project.run("show", str(table)).out


def test_a_reader_that_goes_away_is_not_a_finding(tmp_path: Path) -> None:
    # More than a pipe holds.
    tables = 5 * [str(_wide(tmp_path / "wide"))]
    with subprocess.Popen([*SHOW, *tables], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has it")
def test_a_full_disk_is_no_bug(tmp_path: Path) -> None:
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
    """A table with much to show."""
    fields = [Field(f"column_{number}", LONG) for number in range(3_000)]
    return write_log(table, [[protocol(), metadata(*fields)]])


@pytest.mark.parametrize("output_format", ["text", "json"])
def test_an_unknown_name_stops_no_other_table(project: Project, output_format: str) -> None:
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
