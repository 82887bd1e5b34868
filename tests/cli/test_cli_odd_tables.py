"""Tables that nobody can write, or even open: all commands say so, and `plan` plans nothing there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.short_logs import write_short_log

if TYPE_CHECKING:
    from support.project import Project

CONTRACT = """\
schemalint: 1
table: orders
columns:
  - {name: a, type: int, comment: the key}
  - {name: b, type: int}
"""
CONFIG = '[targets.dev]\nroot = "lake"\n'
LOGS = {
    "a type of SQL": ("{name: b, type: int}", "", "DR011"),
    "a field without a key": ("{name: b, type: integer, nullable: omitted}", "", "DR005"),
    "a comment of the wrong kind": ("{name: b, type: integer, metadata: {comment: 5}}", "", "DR011"),
    "no configuration": ("{name: b, type: integer}", "configuration: omitted", "DR005"),
}


def _write(project: Project, column: str, more: str = "") -> str:
    text = f"""
    - protocol: {{minReaderVersion: 1, minWriterVersion: 2}}
      metaData:
        fields: [{{name: a, type: integer}}, {column}]
        {more}
    """
    write_short_log(text, project.repo.path / "lake" / "orders")
    project.declare(CONTRACT)
    project.repo.write("schemalint.toml", CONFIG)
    project.repo.write(".gitignore", "lake/\n")
    project.repo.commit()
    return str(project.repo.path / "lake" / "orders")


@pytest.mark.parametrize("log", LOGS)
def test_nothing_is_planned_for_a_table_that_spark_does_not_open(project: Project, log: str) -> None:
    column, more, code = LOGS[log]
    table = _write(project, column, more)
    audit = project.run("audit", table, "--output-format", "concise")
    assert (audit.status, code in audit.out) == (1, True)
    plan = project.run("plan", "--target", "dev")
    assert plan.status != 0
    assert code in plan.out
    assert "ALTER TABLE orders" not in plan.out


def test_show_and_pull_name_the_invariants_of_columns(project: Project) -> None:
    invariant = """{delta.invariants: '{"expression": {"expression": "b > 3"}}'}"""
    table = _write(project, f"{{name: b, type: integer, metadata: {invariant}}}")
    assert "Invariants of columns\n  b CHECK b > 3\n" in project.run("show", table).out
    pulled = project.run("pull", table, "--diff")
    assert "no contract declares the invariant of b: b > 3" in pulled.err
