"""A table that no overwrite keeps whole: the plan prints a script, and `apply` proves what it did."""

from __future__ import annotations

import json
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pytest

from support.project import Project
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

APPROVED: Final = "{{rule: BF010, column: {}, via: rewrite, reason: a script does it}}"
OLD: Final = """\
schemalint: 1
table: sales.orders
description: all orders
columns:
  - {name: id, type: bigint, nullable: false, comment: the key}
  - {name: amount, type: string}
  - {name: next, type: bigint, generated: id + 1}
constraints: {known: id > 0}
"""
NEW: Final = OLD.replace(
    "type: string}", 'type: "decimal(12,2)", rewrite: {from: string, with: "cast(amount as decimal(12,2))"}}'
)
WAITING: Final = f"{NEW}allow: [{APPROVED.format('id')}, {APPROVED.format('next')}]\n"


@pytest.fixture
def project(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Project]:
    """Yield a project whose table is in the catalog of the session, with two rows."""
    repo = Repo(tmp_path / "repository")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, repo.env[name])
    monkeypatch.chdir(repo.path)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    repo.write("schemalint.toml", '[targets.dev]\ncatalog = "spark_catalog"\n')
    spark.sql(f"CREATE SCHEMA sales LOCATION '{tmp_path}/sales'")
    project = Project(repo, capsys)
    declare(project, OLD)
    assert project.run("apply", "--via", "spark", "--yes").status == 0
    spark.sql("INSERT INTO sales.orders (id, amount) VALUES (1, ' 1.50 '), (2, NULL)")
    spark.sql("ALTER TABLE sales.orders SET TBLPROPERTIES ('team' = 'sales')")
    yield project
    spark.sql("DROP SCHEMA sales CASCADE")


def declare(project: Project, text: str) -> None:
    project.declare(text)
    project.repo.commit()


def planned(project: Project, *options: str) -> dict[str, Any]:
    run = project.run("plan", "--via", "spark", "--all", "--output-format", "json", *options)
    assert run.status == 4, run.err
    (table,) = json.loads(run.out)["tables"]
    return dict(table)


def state(folder: Path) -> dict[str, Any]:
    """Return what the log says of the table, without its id and the type of the column."""
    found: dict[str, Any] = {}
    for file in sorted((folder / "sales/orders/_delta_log").glob("*.json")):
        for line in file.read_text().splitlines():
            found |= json.loads(line).get("metaData", {})
    schema = json.loads(found["schemaString"])
    schema["fields"][1]["type"] = "any"
    return {**found, "schemaString": schema, "id": "", "createdTime": 0}


@pytest.mark.each_time
def test_the_script_keeps_all_that_an_overwrite_would_lose_and_apply_proves_it(
    project: Project, spark: SparkSession, tmp_path: Path
) -> None:
    before = state(tmp_path)
    declare(project, WAITING)
    table = planned(project)
    assert {refusal["kind"] for refusal in table["refusals"]} == {"rewrite"}
    text = project.run("plan", "--via", "spark", "--all").out
    assert "CREATE OR REPLACE TABLE" in text
    for statement in table["script"]:
        spark.sql(statement)
    rows = {row["id"]: (row["amount"], row["next"]) for row in spark.table("sales.orders").collect()}
    assert rows == {1: (Decimal("1.50"), 2), 2: (None, 3)}
    assert state(tmp_path) == before
    applied = project.run("apply", "--via", "spark", "--yes")
    assert applied.status == 0, applied.err
    assert project.run("plan", "--via", "spark", "--all", "--exit-code").status == 0


ODD: Final = """\
schemalint: 1
table: sales.orders
columns:
  - {name: "the `i.d`", type: bigint, nullable: false}
  - {name: "it's \\"ü\\"", type: string}
properties: {delta.columnMapping.mode: name}
constraints: {known: "`the ``i.d``` > 0"}
protocol: {allow_upgrade: true}
"""


def test_a_script_quotes_the_names(project: Project, spark: SparkSession) -> None:
    spark.sql("DROP TABLE sales.orders")
    declare(project, ODD)
    assert project.run("apply", "--via", "spark", "--yes", "--allow", "upgrade").status == 0
    spark.sql("INSERT INTO sales.orders VALUES (1, ' 1.50 '), (2, NULL)")
    cast = json.dumps('cast(`it\'s "ü"` as decimal(12,2))')
    new = ODD.replace("string}", f'"decimal(12,2)", rewrite: {{from: string, with: {cast}}}}}')
    allowed = json.dumps("`the ``i.d```")
    declare(project, f"{new}allow: [{APPROVED.format(allowed)}]\n")
    assert run_script(spark, planned(project)["script"]) == ""
    rows = {row[0]: row[1] for row in spark.table("sales.orders").collect()}
    assert rows == {1: Decimal("1.50"), 2: None}
    applied = project.run("apply", "--via", "spark", "--yes")
    assert applied.status == 0, applied.err
    assert spark.table("sales.orders").columns == ["the `i.d`", 'it\'s "ü"']


STRICT: Final = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint, nullable: false}
  - {name: amount, type: string, nullable: false}
constraints: {short: length(amount) < 5}
"""
LOSSY: Final = STRICT.replace(
    "amount, type: string",
    'amount, type: "decimal(12,2)", '
    'rewrite: {from: string, with: "cast(amount as decimal(12,2))", unfilled: keep_null}',
)


def run_script(spark: SparkSession, statements: list[str]) -> str:
    """Run a script until an error ends it; return the error."""
    for statement in statements:
        try:
            spark.sql(statement)
        except Exception as error:  # noqa: BLE001 (pyspark's errors share no class)
            return str(error)
    return ""


def version_of(spark: SparkSession) -> int:
    (newest,) = spark.sql("DESCRIBE HISTORY sales.orders LIMIT 1").collect()
    return int(newest["version"])


@pytest.mark.parametrize(("value", "nulls"), [("few", 1), ("123", 0)])
def test_rows_that_delta_refuses_are_counted_and_end_the_script_before_it_replaces_the_table(
    project: Project, spark: SparkSession, value: str, nulls: int
) -> None:
    """Its INSERT would leave an empty table, and ADD CONSTRAINT one without the constraint."""
    spark.sql("DROP TABLE sales.orders")
    declare(project, STRICT)
    assert project.run("apply", "--via", "spark", "--yes").status == 0
    spark.sql(f"INSERT INTO sales.orders VALUES (1, '1.50'), (2, '{value}')")
    declare(project, f"{LOSSY}allow: [{APPROVED.format('id')}, {APPROVED.format('amount')}]\n")
    table = planned(project, "--prove")
    refused = {"short": 1, "NOT NULL of id": 0, "NOT NULL of amount": nulls}
    assert table["rewrite_proof"]["refused"] == refused
    version = version_of(spark)
    assert "refuses a row" in run_script(spark, table["script"])
    assert version_of(spark) == version


def test_a_row_that_came_after_the_plan_ends_the_script_before_it_replaces_the_table(
    project: Project, spark: SparkSession
) -> None:
    declare(project, WAITING)
    script = planned(project)["script"]
    spark.sql("INSERT INTO sales.orders (id, amount) VALUES (3, '3')")
    version = version_of(spark)
    assert "rows were written since version" in run_script(spark, script)
    assert version_of(spark) == version
    assert run_script(spark, planned(project)["script"]) == ""
    assert project.run("apply", "--via", "spark", "--yes").status == 0
    amounts = {row["id"]: row["amount"] for row in spark.table("sales.orders").collect()}
    assert amounts == {1: Decimal("1.50"), 2: None, 3: Decimal("3.00")}


def test_what_the_script_did_not_keep_is_told_by_apply(project: Project, spark: SparkSession) -> None:
    declare(project, WAITING)
    for statement in planned(project)["script"]:
        spark.sql(statement.replace("'team' = 'sales'", "'team' = 'other'"))
        if statement.startswith("INSERT"):
            spark.sql("INSERT INTO sales.orders (id, amount) VALUES (3, 3)")
    told = project.run("apply", "--via", "spark", "--yes")
    assert told.status == 2
    assert "changed what it must not: property changed: team" in told.err
    assert "RESTORE TABLE" in told.err
