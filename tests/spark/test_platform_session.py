"""A platform's own session: spark-submit supplies pyspark, and no package delta-spark is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from schemalint.project.config import SparkSettings
from schemalint.project.config.trust import TrustedSpark
from schemalint.spark.session import sibling_sessions, start
from support import jvm
from support.builders import Builder
from support.platform_python import platform_python

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

SPARK_HOME = Path(pyspark.__file__).parent
EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
BASE = """\
schemalint: 1
table: sales.orders
columns:
  - {name: a, type: int}
properties: {delta.enableTypeWidening: true}
"""
WIDER = BASE.replace("type: int", "type: bigint, comment: wide")

JOB = """
import importlib.metadata
import os
import sys
from pathlib import Path

import schemalint.spark
from pyspark.sql import SparkSession
from schemalint.cli import main
from schemalint.spark import ApplyOptions
from schemalint.base.errors import ApplyError

repository, log, extension, catalog = sys.argv[1:]
os.chdir(repository)
names = [found.name for found in importlib.metadata.distributions()]
print("outcome: installed", [name for name in names if "spark" in name])

for extensions in ("", extension):
    session = (
        SparkSession.builder.config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.extensions", extensions)
        .getOrCreate()
    )
    try:
        schemalint.spark.apply(session, options=ApplyOptions(target="paths"))
    except ApplyError as error:
        print("outcome:", error.message[:49])
    session.stop()

session = SparkSession.builder.config("spark.sql.catalog.spark_catalog", catalog).getOrCreate()
for statement in ("CREATE SCHEMA sales", "CREATE SCHEMA other", "USE other"):
    session.sql(statement)
session.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
session.conf.set("spark.sql.shuffle.partitions", "3")
before = dict(session.conf.getAll)

for revision in ("HEAD~1", "HEAD", "HEAD"):
    (applied,) = schemalint.spark.apply(session, options=ApplyOptions(target="named", head=revision))
    print("outcome:", applied.outcome.name, applied.error or "")
session.sql("INSERT INTO sales.orders VALUES (5000000000)")
contract = Path("contracts/orders.yml")
refused = contract.read_text() + "constraints: {large: a > 6000000000}\\n"
named = ["--target", "named"]
setting = ["--conf", "spark.sql.shuffle.partitions=7"]
for command in (
    ["check", *named, "--live", "--all", "--via", "spark", "--against", "none", "--head", "HEAD"],
    ["plan", *named, "--via", "spark", "--head", "HEAD", "--exit-code"],
    ["apply", *named, "--head", "worktree", "--allow", "upgrade", "--yes", "--log", log, *setting],
    ["audit", "--via", "spark", "sales.orders", *setting],
):
    print("outcome:", command[0], main(command))
    if command[0] == "plan":
        contract.write_text(refused)
(current,) = session.sql("SELECT current_catalog(), current_database()").collect()
after = session.conf.getAll
after.pop("spark.databricks.delta.lastCommitVersionInSession")  # Delta sets it
print("outcome: settings", sorted(after.items() ^ before.items()), *current)
print("outcome: rows", session.sql("SELECT a FROM sales.orders").collect()[0].a)
"""


@pytest.mark.engine
def test_job_of_spark_submit_alters_tables_of_a_hive_metastore_without_the_package_of_delta(
    lakehouse: Lakehouse, tmp_path: Path
) -> None:
    """It also uses the session as the platform left it, and leaves it like that after a failure."""
    python = platform_python(tmp_path / "python")
    targets = '[targets.named]\ncatalog = "spark_catalog"\n[targets.paths]\nroot = "lake"\n'
    lakehouse.repo.write("schemalint.toml", targets)
    lakehouse.declare(BASE)
    lakehouse.declare(WIDER)
    (tmp_path / "job.py").write_text(JOB)
    metastore = f"jdbc:derby:;databaseName={tmp_path / 'metastore'};create=true"
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": metastore,
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.jars.packages": "io.delta:delta-spark_4.2_2.13:4.4.0",
        "spark.sql.extensions": EXTENSION,
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
    }

    process = subprocess.run(
        [
            SPARK_HOME / "bin/spark-submit",
            *("--master", "local[1]"),
            *(word for key, value in settings.items() for word in ("--conf", f"{key}={value}")),
            *(tmp_path / "job.py", lakehouse.repo.path, tmp_path / "log", EXTENSION, CATALOG),
        ],
        env={
            **os.environ,
            "SPARK_HOME": str(SPARK_HOME),
            "PYSPARK_PYTHON": str(python),
            "JAVA_TOOL_OPTIONS": jvm.OPTIONS,
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    lines = [line for line in process.stdout.splitlines() if line.startswith("outcome:")]
    shown = process.stdout[-5000:] + process.stderr[-2000:]
    assert "SQLQueryContextLogger" not in process.stdout, shown
    assert lines == [
        "outcome: installed []",
        *["outcome: this Spark session cannot change Delta tables: it"] * 2,
        "outcome: APPLIED ",
        "outcome: APPLIED ",
        "outcome: NOTHING ",
        "outcome: check 0",
        "outcome: plan 0",
        "outcome: apply 2",
        "outcome: audit 0",
        "outcome: settings [] spark_catalog other",
        "outcome: rows 5000000000",
    ], shown
    assert [json.loads(line)["type"] for line in (tmp_path / "log").read_text().splitlines()] == [
        "started",
        "table",
        "summary",
    ]
    assert (tmp_path / "warehouse/sales.db/orders/_delta_log").is_dir()
    assert not (lakehouse.root / "sales").exists()


@pytest.mark.each_time
def test_sessions_of_tables_side_by_side_have_the_settings_of_the_given_one(lakehouse: Lakehouse) -> None:
    session = lakehouse.another_session()
    session.conf.set("fs.azure.account.key.lake", "of a notebook")
    assert [sibling.conf.get("fs.azure.account.key.lake") for sibling in sibling_sessions(session, 2)] == [
        "of a notebook",
        "of a notebook",
    ]


def test_spark_of_a_platform_keeps_its_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemalint.spark.session.is_running", lambda: False)
    monkeypatch.setattr("pyspark.sql.SparkSession.builder", Builder())
    monkeypatch.setitem(sys.modules, "delta", None)

    def settings_of(**settings: Any) -> dict[str, str]:  # noqa: ANN401 (of SparkSettings)
        started: Any = start(TrustedSpark(SparkSettings(**settings)))
        return dict(started)

    conf = {"a": "b"}
    assert settings_of(conf=conf) == {"appName": "schemalint", "a": "b"}
    packages = {"spark.jars.packages": "g:a:1,g:b:2"}
    assert settings_of(master="yarn", packages=["g:a:1", "g:b:2"]) == {
        "appName": "schemalint",
        "master": "yarn",
        **packages,
    }
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert settings_of(master="local", remote="sc://host", packages=["g:a:1"], conf=conf) == conf
