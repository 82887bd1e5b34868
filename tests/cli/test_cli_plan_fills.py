"""What a plan says of a fill: how often it reads how many bytes, and that rows may be left."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Final

import jsonschema
import pytest

from schemalint.cli.schema import schema_of
from schemalint.delta.datatype import INTEGER, STRING, Field
from support.logs import commit_info, marker, metadata, protocol, write_checksum, write_log

if TYPE_CHECKING:
    from pathlib import Path

    from support.project import Project

OLD: Final = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: code, type: string}\n"
BOTH: Final = OLD + '  - {name: number, type: int, backfill: {from: code, with: "cast(code as int)"}}\n'
MAPPING: Final = "properties: {delta.columnMapping.mode: name}\n"
COST: Final = "each run reads up to 1,500 bytes 5 times, and rewrites up to 1,500 bytes"


@pytest.fixture
def table(project: Project, tmp_path: Path) -> Path:
    """Return the folder of a table that is as the contract declares it, with both columns."""
    lake = tmp_path / "lake"
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    project.declare(BOTH)
    revision = project.repo.commit()
    folder = lake / "sales/orders"
    created = [
        commit_info("CREATE TABLE"),
        protocol(),
        metadata(Field("code", STRING), Field("number", INTEGER)),
    ]
    write_log(folder, [created, [commit_info(), marker(BOTH, revision)]])
    write_checksum(folder, 1, tableSizeBytes=1_500)
    return folder


@pytest.mark.parametrize("style", ["text", "markdown", "sql", "json"])
def test_every_format_says_what_a_fill_reads_and_rewrites(project: Project, table: Path, style: str) -> None:
    assert table.is_dir()
    run = project.run("plan", "--output-format", style)
    assert run.status == 0
    assert COST in html.unescape(run.out)


def test_json_has_the_passes_and_the_bytes_as_numbers(project: Project, table: Path) -> None:
    content = json.loads(project.run("plan", "--output-format", "json").out)
    jsonschema.validate(content, schema_of("plan"))
    (planned,) = content["tables"]
    assert (planned["bytes"], [step["passes"] for step in planned["steps"]]) == (1_500, [5])
    (table / "_delta_log" / f"{1:020}.crc").unlink()
    with (table / "_delta_log" / f"{1:020}.json").open("a", encoding="utf-8") as commit:
        commit.write(json.dumps({"add": {"path": "of_unknown_size.parquet"}}) + "\n")
    content = json.loads(project.run("plan", "--output-format", "json").out)
    (planned,) = content["tables"]
    (step,) = planned["steps"]
    assert planned["bytes"] is None
    assert (
        "each run reads an unknown number of bytes at least 5 times, and rewrites at most as many"
        in step["risks"]
    )


def test_a_plan_without_a_fill_asks_for_no_bytes(project: Project, table: Path) -> None:
    allowed = "allow: [{rule: BF007, column: number, reason: nobody fills it}]\n"
    project.declare(OLD + "  - {name: number, type: int}\n  - {name: more, type: int}\n" + allowed)
    content = json.loads(project.run("plan", "--output-format", "json").out)
    assert [(each["bytes"], [step["passes"] for step in each["steps"]]) for each in content["tables"]] == [
        (None, [0])
    ]
    assert table.is_dir()


def test_the_approval_does_not_depend_on_the_bytes(project: Project, table: Path) -> None:
    hashes = []
    for size in (1_500, 2_500):
        write_checksum(table, 1, tableSizeBytes=size)
        hashes.append(json.loads(project.run("plan", "--output-format", "json").out)["hash"])
    assert len(set(hashes)) == 1


def test_the_drop_of_the_source_counts_first(project: Project, table: Path) -> None:
    project.declare(BOTH.replace("  - {name: code, type: string}\n", "") + MAPPING + "dropped: [code]\n")
    out = project.run("plan").out
    assert "risk: counts the rows before it drops: reads up to 1,500 bytes once" in out
    assert COST in out
    assert table.is_dir()


def test_the_drop_counts_first_although_the_key_is_out_and_the_column_has_another_name(
    project: Project, table: Path
) -> None:
    column = "  - {name: amount, type: int, renamed_from: number}\n"
    project.declare(OLD + column)
    revision = project.repo.commit()
    fields = [Field("code", STRING), Field("amount", INTEGER)]
    created = [commit_info("CREATE TABLE"), protocol(), metadata(*fields)]
    write_log(table, [created, [commit_info(), marker(OLD + column, revision)]])
    head = "schemalint: 1\ntable: sales.orders\ncolumns:\n"
    project.declare(f"{head}{column}dropped: [code]\n{MAPPING}")
    (planned,) = json.loads(project.run("plan", "--output-format", "json").out)["tables"]
    *_others, drop = planned["steps"]
    assert drop["sql"].endswith("DROP COLUMNS (`code`)")
    assert any("counts the rows before it drops" in risk for risk in drop["risks"])


def test_a_new_constraint_on_the_column_counts_first(project: Project, table: Path) -> None:
    project.declare(BOTH + "constraints: {has: number > 0}\nprotocol: {allow_upgrade: true}\n")
    out = project.run("plan").out
    assert "risk: counts the rows before it adds the constraint: reads up to 1,500 bytes once" in out
    assert out.index("SET `number`") < out.index("ADD CONSTRAINT `has`")
    assert table.is_dir()


def test_exit_code_is_4_while_rows_may_be_left_and_says_why(project: Project, table: Path) -> None:
    """The log does not tell how many rows are unfilled, and a pipeline must not take that for none."""
    run = project.run("plan", "--exit-code")
    assert (run.status, "apply counts them" in run.err) == (4, True)
    assert project.run("plan").status == 0
    project.declare(BOTH.replace("code, type: string", "code, type: string, comment: As text."))
    run = project.run("plan", "--exit-code")
    assert (run.status, "apply counts them" in run.err) == (4, False)
    assert table.is_dir()


def test_the_sql_asks_for_no_check_that_cannot_pass(project: Project, table: Path) -> None:
    out = project.run("plan", "--output-format", "sql").out
    assert "verify: schemalint check --live --all --strict" in out
    assert "--exit-code" not in out
    assert table.is_dir()
