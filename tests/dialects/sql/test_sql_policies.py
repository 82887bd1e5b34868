"""What a team wants of names, types and owners, for tables that SQL files declare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from support.project import Project
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS: Final = """\
contracts = [{path = "sql/**/*.sql", format = "sql"}]
[options]
PO001.pattern = "[a-z_]+"
PO002.pattern = "[a-z_]+"
PO003.of = ["table", "column"]
PO004.required = true
PO005.types = {float = "double"}
PO010.partitions = "none"
"""
ORDERS: Final = "CREATE TABLE s.orders (a INT COMMENT 'of the shop') USING delta COMMENT 'One row each.';\n"
ADDED: Final = ORDERS.replace("shop')", "shop', ShipTo FLOAT)")
NEW: Final = "CREATE TABLE s.New (x INT, y INT) USING delta PARTITIONED BY (x);\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    repo = Repo(tmp_path / "repository")
    for name, value in repo.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    return Project(repo, capsys)


def test_an_edit_of_a_sql_file_is_judged_where_it_is_written(project: Project) -> None:
    """SQL has no owners, so no table lacks one."""
    project.repo.write("schemalint.toml", SETTINGS)
    project.repo.write("sql/orders.sql", ORDERS)
    project.repo.commit()
    project.repo.write("sql/orders.sql", ADDED + NEW)
    found = [line.split(" ")[:2] for line in project.check().out.splitlines() if " PO" in line]
    assert [(place.removeprefix("sql/orders.sql:").rstrip(":"), code) for place, code in found] == [
        ("1:53", "PO002"),  # ShipTo
        ("1:53", "PO003"),
        ("1:60", "PO005"),  # FLOAT
        ("2:14", "PO001"),  # s.New
        ("2:14", "PO003"),
        ("2:21", "PO003"),  # x
        ("2:28", "PO003"),  # y
        ("2:47", "PO010"),  # PARTITIONED BY
    ]
