"""An audit of tables that another tool builds anew: what a build takes away, and nothing about ALTER."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import INTEGER, LONG, STRING, Field
from support.logs import add, commit_info, metadata, protocol, remove, write_log

if TYPE_CHECKING:
    from support.project import Project

CONTRACT = """\
schemalint: 1
table: sales.orders
managed_by: {tool: dbt, how: %s}
columns:
  - {name: a, type: int, nullable: false}
  - {name: b, type: string}
"""
BUILT = "CREATE OR REPLACE TABLE AS SELECT"
OF_BUILDS = {"RB008"}


@pytest.mark.parametrize(("how", "codes"), [("alter", set()), ("replace", OF_BUILDS), ("rename", OF_BUILDS)])
def test_the_rules_that_speak_are_those_of_builds(project: Project, how: str, codes: set[str]) -> None:
    """A build made a type narrower and took a column away; none of that was an ALTER."""
    lake = project.repo.path / "lake"
    project.repo.write("schemalint.toml", f'[targets.dev]\nroot = "{lake}"\n')
    project.declare(CONTRACT % how)
    project.repo.commit()
    before = metadata(Field("a", LONG), Field("c", STRING), partitioned_by=("c",), table_id="one")
    after = metadata(Field("a", INTEGER), Field("b", STRING), properties={"team": "sales"}, table_id="two")
    write_log(
        lake / "sales/orders",
        [
            [commit_info("CREATE TABLE AS SELECT"), protocol(), before, add("part-0.parquet")],
            [commit_info(BUILT), after, remove("part-0.parquet"), add("part-1.parquet")],
        ],
    )
    run = project.run("audit", "--all", "--output-format", "concise")
    assert set(run.codes) == codes, run.out + run.err
