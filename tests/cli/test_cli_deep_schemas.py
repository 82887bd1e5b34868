"""Schemas that are as deeply nested as Spark allows, through every command that reads logs."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import LiveError
from schemalint.tables.storage import read_table
from support.deep_schemas import AT_THE_LIMIT, compares_deep_values, nested, write_nested

if TYPE_CHECKING:
    from support.project import Project

CONTRACT = "schemalint: 1\ntable: deep\ncolumns: []\nopen: {columns: true}\n"
LIMIT = (
    "limit of schemalint exceeded: schemaString cannot be read: its JSON is nested more than 1000 levels deep"
)


@pytest.mark.parametrize(
    ("kind", "levels"),
    [
        ("struct", 100),
        *(
            pytest.param(*limit, marks=[pytest.mark.wide, compares_deep_values])
            for limit in AT_THE_LIMIT.items()
        ),
    ],
)
def test_a_deep_schema_is_read_shown_and_compared(project: Project, kind: str, levels: int) -> None:
    lake = project.repo.path.parent / "lake"
    versions = (nested(kind, levels), nested(kind, levels, "long"), nested(kind, levels, "string"))
    write_nested(lake / "deep", *versions)
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    project.declare(CONTRACT)
    project.repo.commit()
    shown = project.run("show", str(lake / "deep"))
    assert (shown.status, shown.err) == (0, "")
    as_json = project.run("show", str(lake / "deep"), "--output-format", "json")
    tables = project.repo.path.parent / "tables.json"
    tables.write_text(as_json.out, encoding="utf-8")
    compared = ("--history", "--all", "--against", "none")
    live = project.check("--live", *compared)
    assert set(live.codes) == {"TH001"}, "the type changes of the history are found"
    options = ("--live-from", str(tables), *compared, "--output-format", "concise")
    from_file = subprocess.run(  # a new process has Python's own recursion limit
        [sys.executable, "-m", "schemalint", "check", *options], capture_output=True, text=True, check=False
    )
    assert from_file.stdout == live.out
    assert project.run("audit", str(lake / "deep")).status == 1


@pytest.mark.parametrize("kind", AT_THE_LIMIT)
@pytest.mark.parametrize("too_many", [1, 100_000])
def test_a_deeper_schema_exceeds_a_limit_that_the_error_names(
    project: Project, kind: str, too_many: int
) -> None:
    table = write_nested(project.repo.path.parent / "deep", nested(kind, AT_THE_LIMIT[kind] + too_many))
    run = project.run("show", str(table))
    assert run.status == 2
    assert LIMIT in run.err


@compares_deep_values
def test_threads_that_read_stores_have_room_for_deep_schemas(project: Project) -> None:
    errors: list[LiveError] = []
    tables = [
        write_nested(project.repo.path.parent / f"deep{more}", nested("array", AT_THE_LIMIT["array"] + more))
        for more in (0, 1, 100_000)
    ]

    def read() -> None:
        for table in tables:
            try:
                assert hash(read_table(str(table)).state.columns)
            except LiveError as error:
                errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert len(errors) == 2
