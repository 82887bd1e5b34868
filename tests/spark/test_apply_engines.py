"""`apply` with Spark Connect, and on tables of the session's catalog."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import TIMESTAMP
from schemalint.deploy.results import Outcome
from schemalint.tables.delta_log.store import NoTable
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from schemalint.delta.table import LiveTable
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

BASE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
properties: {delta.enableTypeWidening: true}
"""
WIDER = BASE.replace("type: int", "type: bigint, comment: wide")


@pytest.fixture
def by_name(lakehouse: Lakehouse) -> Lakehouse:
    """Return a lakehouse whose target has its tables in the catalog of Spark's session."""
    lakehouse.repo.write("schemalint.toml", '[targets.dev]\ncatalog = "spark_catalog"\n')
    return lakehouse


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[None]:
    spark.sql("CREATE SCHEMA IF NOT EXISTS sales")
    yield
    spark.sql("DROP SCHEMA sales CASCADE")


@pytest.mark.each_time
@pytest.mark.usefixtures("schema")
def test_table_of_the_sessions_catalog_is_created_and_widened_by_name(
    by_name: Lakehouse, spark: SparkSession
) -> None:
    by_name.declare(BASE)
    created = by_name.apply()
    by_name.declare(WIDER)
    widened = by_name.apply()

    assert (created.outcome, widened.outcome) == (Outcome.APPLIED, Outcome.APPLIED)
    assert widened.done[0].step.sql.startswith("ALTER TABLE `spark_catalog`.`sales`.`orders` ")
    assert by_name.apply().outcome is Outcome.NOTHING
    assert spark.table("sales.orders").dtypes == [("a", "bigint")]


@pytest.mark.usefixtures("schema")
def test_parquet_table_is_not_altered(by_name: Lakehouse, spark: SparkSession) -> None:
    spark.sql("CREATE TABLE sales.orders (a int) USING parquet")
    by_name.declare(BASE)

    applied = by_name.apply()

    assert applied.outcome is Outcome.UNPLANNED
    assert applied.error is not None
    assert "parquet" in applied.error.message


def test_catalog_unknown_to_the_session_is_reported(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakehouse.repo.write(
        "schemalint.toml",
        '[targets.dev]\ncatalog = "main"\ncatalog_uri = "http://127.0.0.1:9/api/2.1/unity-catalog"\n',
    )
    lakehouse.declare(BASE)
    monkeypatch.setattr("schemalint.tables.catalog.read", _no_table)

    applied = lakehouse.apply()

    assert applied.outcome is Outcome.REFUSED
    assert applied.error is not None
    assert "cannot reach the catalog main" in applied.error.message


@pytest.mark.each_time
def test_connect_server_is_named_by_option_or_environment_variable(
    lakehouse: Lakehouse, connect: str
) -> None:
    timed = [
        text.replace("properties:", "  - {name: at, type: timestamp}\nproperties:") for text in (BASE, WIDER)
    ]
    lakehouse.declare(timed[0])
    lakehouse.declare(BASE.replace("sales.orders", "sales.other"), "other")
    other_type = ("--conf", "spark.sql.timestampType=TIMESTAMP_NTZ")
    logs = [_deploy_log_of_process(lakehouse.repo, {}, "--remote", connect, *other_type)]
    lakehouse.declare(timed[1])
    logs.append(_deploy_log_of_process(lakehouse.repo, {"SPARK_REMOTE": connect}))
    version = lakehouse.table().version
    logs.append(_deploy_log_of_process(lakehouse.repo, {"SPARK_REMOTE": connect}))

    outcomes = [sorted(table["outcome"] for table in log["tables"]) for log in logs]
    assert outcomes == [["applied", "applied"], ["applied", "nothing"], ["nothing", "nothing"]]
    assert lakehouse.table().state.columns.fields[0].comment == "wide"
    assert lakehouse.table().state.columns.fields[1].type == TIMESTAMP
    assert lakehouse.table().version == version
    contracts = {
        json.loads(entry.user_metadata or "{}").get("contract") for entry in lakehouse.table().history.entries
    }
    assert contracts == {"contracts/orders.yml"}


def _deploy_log_of_process(
    repo: Repo, environment: dict[str, str], *options: str
) -> dict[str, list[dict[str, str]]]:
    process = subprocess.run(
        [
            sys.executable,
            "-m",
            "schemalint",
            "apply",
            "--yes",
            "--output-format",
            "json",
            "--jobs",
            "2",
            *options,
        ],
        env={**os.environ, **environment},
        cwd=repo.path,
        capture_output=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr.decode()
    log: dict[str, list[dict[str, str]]] = json.loads(process.stdout)
    return log


def _no_table(name: str, *_how: object, **_more: object) -> LiveTable:
    raise NoTable(f"no {name}")
