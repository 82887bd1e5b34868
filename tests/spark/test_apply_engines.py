"""`apply` with spark-submit, with Spark Connect, and on tables of the session's catalog."""

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

from schemalint.delta.datatype import TIMESTAMP
from schemalint.delta_log.store import NoTable
from schemalint.deploy.outcome import Outcome
from support.repo import Repo
from support.skipping import skip_or_fail

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

# The options of the tests' own session: the process runs only a few statements.
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
    """Return a lakehouse whose target has its tables in the catalog of Spark's session."""
    lakehouse.repo.write("schemalint.toml", '[targets.dev]\ncatalog = "spark_catalog"\n')
    return lakehouse


def test_spark_submit_job_alters_tables_of_a_hive_metastore(by_name: Lakehouse, tmp_path: Path) -> None:
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

    process = subprocess.run(
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

    lines = [line for line in process.stdout.splitlines() if line.startswith(("outcome:", "rows:"))]
    assert lines == [
        "outcome: APPLIED ",
        "outcome: APPLIED ",
        "outcome: NOTHING ",
        "outcome: checked 0",
        "rows: 5000000000",
    ], process.stdout + process.stderr
    assert (tmp_path / "warehouse/sales.db/orders/_delta_log").is_dir()


@pytest.fixture
def schema(spark: SparkSession) -> Iterator[None]:
    spark.sql("CREATE SCHEMA IF NOT EXISTS sales")
    yield
    spark.sql("DROP SCHEMA sales CASCADE")


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
    monkeypatch.setattr("schemalint.catalog.read_many", lambda names, *_how: _no_tables(names))

    applied = lakehouse.apply()

    assert applied.outcome is Outcome.REFUSED
    assert applied.error is not None
    assert "cannot reach the catalog main" in applied.error.message


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


@pytest.fixture
def connect(spark: SparkSession) -> Iterator[str]:
    """Yield the address of a Connect server in the JVM of the tests' own session."""
    if importlib.util.find_spec("grpc") is None:
        skip_or_fail("no Connect client is installed: pip install 'pyspark[connect]'")
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    jvm = spark.sparkContext._jvm  # noqa: SLF001 (the server has no Python API)
    assert jvm is not None
    jvm.org.apache.spark.SparkEnv.get().conf().set("spark.connect.grpc.binding.port", str(port))
    service = jvm.org.apache.spark.sql.connect.service.SparkConnectService
    service.start(spark.sparkContext._jsc.sc())  # noqa: SLF001
    yield f"sc://127.0.0.1:{port}"
    no_timeout = jvm.scala.Option.apply(None)
    service.stop(no_timeout, no_timeout)


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


def _session_conf() -> dict[str, str]:
    """Return the settings that Delta needs; the tests' own session has already downloaded the jars."""
    return {
        "spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
    }


def _no_tables(names: Iterable[str]) -> tuple[NoTable, ...]:
    return tuple(NoTable(f"no {name}") for name in names)
