"""The ways to an engine: spark-submit, Spark Connect, and tables that only a session's catalog knows."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.delta_log.store import NoTable
from schemalint.deploy.outcome import Outcome
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession

    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

TESTS = Path(__file__).parents[1]
BASE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
properties: {delta.enableTypeWidening: true}
"""
WIDER = BASE.replace("type: int", "type: bigint, comment: wide")

# As for the tests' own session: this one lives for a few statements.
JVM_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

SUBMITTED = """
import os
import sys
import delta
from pyspark.sql import SparkSession
import schemalint.spark
from schemalint.cli import main

os.chdir(sys.argv[1])
session = SparkSession.builder.getOrCreate()
session.sql("CREATE SCHEMA IF NOT EXISTS sales")
for revision in ("HEAD~1", "HEAD", "HEAD"):
    (applied,) = schemalint.spark.apply(session, sys.argv[1], head=revision)
    print("outcome:", applied.outcome.name, applied.error or "")
status = main(["check", "--live", "--via", "spark", "--all", "--against", "none"])
print("outcome: checked", status)
session.sql("INSERT INTO sales.orders VALUES (5000000000)")
print("rows:", session.sql("SELECT a FROM sales.orders").collect()[0].a)
"""


@pytest.fixture
def by_name(lakehouse: Lakehouse) -> Lakehouse:
    """A target whose tables are found in the catalog of Spark's session."""
    lakehouse.repo.write("schemalint.toml", '[targets.dev]\ncatalog = "spark_catalog"\n')
    return lakehouse


def test_submitted_job_alters_tables_of_a_hive_metastore(by_name: Lakehouse, tmp_path: Path) -> None:
    by_name.declare(BASE)
    by_name.declare(WIDER)
    script = tmp_path / "job.py"
    script.write_text(SUBMITTED)
    metastore = f"jdbc:derby:;databaseName={tmp_path / 'metastore'};create=true"
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        **_session_conf(),
    }

    answer = subprocess.run(
        [
            Path(sys.executable).parent / "spark-submit",
            "--master",
            "local[1]",
            *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
            script,
            by_name.repo.path,
        ],
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, "JAVA_TOOL_OPTIONS": JVM_OPTIONS},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    said = [line for line in answer.stdout.splitlines() if line.startswith(("outcome:", "rows:"))]
    assert said == [
        "outcome: APPLIED ",
        "outcome: APPLIED ",
        "outcome: NOTHING ",
        "outcome: checked 0",
        "rows: 5000000000",
    ], answer.stdout + answer.stderr
    assert (tmp_path / "warehouse/sales.db/orders/_delta_log").is_dir()


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[None]:
    spark.sql("CREATE SCHEMA IF NOT EXISTS sales")
    yield
    spark.sql("DROP SCHEMA sales CASCADE")


@pytest.mark.usefixtures("schema")
def test_tables_of_the_sessions_catalog_are_reached_by_name(by_name: Lakehouse, spark: SparkSession) -> None:
    by_name.declare(BASE)
    created = by_name.apply()
    by_name.declare(WIDER)
    widened = by_name.apply()

    assert (created.outcome, widened.outcome) == (Outcome.APPLIED, Outcome.APPLIED)
    assert widened.done[0].step.sql.startswith("ALTER TABLE `spark_catalog`.`sales`.`orders` ")
    assert by_name.apply().outcome is Outcome.NOTHING
    assert spark.table("sales.orders").dtypes == [("a", "bigint")]


@pytest.mark.usefixtures("schema")
def test_table_of_another_format_is_not_touched(by_name: Lakehouse, spark: SparkSession) -> None:
    spark.sql("CREATE TABLE sales.orders (a int) USING parquet")
    by_name.declare(BASE)

    applied = by_name.apply()

    assert applied.outcome is Outcome.UNPLANNED
    assert applied.error is not None
    assert "parquet" in applied.error.message


def test_catalog_that_the_session_does_not_know_is_said(
    lakehouse: Lakehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lakehouse.repo.write(
        "schemalint.toml",
        '[targets.dev]\ncatalog = "main"\ncatalog_uri = "http://127.0.0.1:9/api/2.1/unity-catalog"\n',
    )
    lakehouse.declare(BASE)
    monkeypatch.setattr("schemalint.catalog.read_many", lambda names, *_how: _nothing(names))

    applied = lakehouse.apply()

    assert applied.outcome is Outcome.REFUSED
    assert applied.error is not None
    assert "cannot reach the catalog main" in applied.error.message


def test_connect_server_is_reached_by_its_address(lakehouse: Lakehouse, connect: str) -> None:
    lakehouse.declare(BASE)
    lakehouse.declare(BASE.replace("sales.orders", "sales.other"), "other")
    statuses = [_apply_from_outside(lakehouse.repo, {}, "--remote", connect)]
    lakehouse.declare(WIDER)
    statuses.append(_apply_from_outside(lakehouse.repo, {"SPARK_REMOTE": connect}))
    version = lakehouse.table().version
    statuses.append(_apply_from_outside(lakehouse.repo, {"SPARK_REMOTE": connect}))

    outcomes = [sorted(one["outcome"] for one in log["tables"]) for log in statuses]
    assert outcomes == [["applied", "applied"], ["applied", "nothing"], ["nothing", "nothing"]]
    assert lakehouse.table().state.columns.fields[0].comment == "wide"
    assert lakehouse.table().version == version
    said = {
        json.loads(entry.user_metadata or "{}").get("contract") for entry in lakehouse.table().history.entries
    }
    assert said == {"contracts/orders.yml"}


@pytest.fixture
def connect(spark: SparkSession) -> Iterator[str]:
    """The address of a Connect server in the JVM of the tests' own session."""
    if importlib.util.find_spec("grpc") is None:
        give_up = pytest.fail if os.environ.get("SCHEMALINT_TEST_ALL") == "1" else pytest.skip
        give_up("a Connect client needs more: pip install 'pyspark[connect]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    jvm = spark.sparkContext._jvm  # noqa: SLF001 (the server has no Python API)
    assert jvm is not None
    jvm.org.apache.spark.SparkEnv.get().conf().set("spark.connect.grpc.binding.port", str(port))
    service = jvm.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(spark.sparkContext._jsc.sc())  # noqa: SLF001
    yield f"sc://127.0.0.1:{port}"
    for_ever = jvm.scala.Option.apply(None)
    service.stop(for_ever, for_ever)


def _apply_from_outside(
    repo: Repo, environment: dict[str, str], *options: str
) -> dict[str, list[dict[str, str]]]:
    answer = subprocess.run(
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
    assert answer.returncode == 0, answer.stderr.decode()
    log: dict[str, list[dict[str, str]]] = json.loads(answer.stdout)
    return log


def _session_conf() -> dict[str, str]:
    """What makes a session one for Delta, by the jars that the tests' own session has found already."""
    return {
        "spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
    }


def _nothing(names: Iterable[str]) -> tuple[NoTable, ...]:
    return tuple(NoTable(f"no {name}") for name in names)
