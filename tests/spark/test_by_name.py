"""Every command reads the tables of a Spark session's catalog with ``--via spark``."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import SchemalintError
from schemalint.spark.session_catalog import SessionCatalog
from schemalint.tables.delta_log.table_reader import POSSIBLY_STALE
from schemalint.tables.storage import read_table
from support.project import Project, Run
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from schemalint.delta.table import TableState

pytestmark = pytest.mark.spark

# Hadoop paths are not URIs: a percent sign in the path stays one.
ODD_LOCATION = "some where/100%20ü"
ORDERS = """\
schemalint: 1
table: sales.orders
columns:
  - {name: id, type: bigint}
"""

NO_TABLES = {
    "sales.nothing": "Spark's session has no table spark_catalog.sales.nothing",
    "sales.`odd.name ü`": "Spark's session has no table spark_catalog.sales.`odd.name ü`",
    "nothing.orders": "Spark's session does not know spark_catalog.nothing: ",
    "main.sales.orders": "main.sales.orders: ",
    "sales.seen": "spark_catalog.sales.seen is a view, not a table",
    "sales.files": "spark_catalog.sales.files is a parquet table, not a Delta table",
    "sales.`${x}`": "Spark cannot look up a name that contains '${'",
}


@dataclass(frozen=True)
class Metastore:
    """A project whose tables are in a schema of the session's catalog.

    Attributes:
        elsewhere: The location of the external table ``sales.placed``.
    """

    project: Project
    spark: SparkSession
    elsewhere: Path

    def run(self, *arguments: str) -> Run:
        return self.project.run(*arguments, "--via", "spark")

    def sql(self, statement: str) -> None:
        self.spark.sql(statement)

    def state(self, table: str) -> TableState:
        """Return what the log of a table says."""
        (detail,) = self.spark.sql(f"DESCRIBE DETAIL {table}").collect()
        return read_table(detail["location"]).state

    def raise_protocol(self, location: Path, *reader_features: str) -> None:
        """Add a protocol with table features that the session does not support."""
        raised = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": reader_features}
        raised["writerFeatures"] = reader_features
        log = location / "_delta_log"
        version = len(list(log.glob("*.json")))
        (log / f"{version:020}.json").write_text(json.dumps({"protocol": raised}) + "\n")

    def declare(self, text: str = ORDERS) -> None:
        self.project.declare(text)
        self.project.repo.commit()


@pytest.fixture
def metastore(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Metastore]:
    """Yield a metastore with a managed table, an external table, views and a Parquet table."""
    repo = Repo(tmp_path / "repository")
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_EVENT_NAME", "SCHEMALINT_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
        monkeypatch.setenv(name, repo.env[name])
    monkeypatch.chdir(repo.path)
    # `start` sets this; the tests' session was started without it.
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    repo.write("schemalint.toml", '[targets.dev]\ncatalog = "spark_catalog"\n')
    elsewhere = tmp_path / ODD_LOCATION
    for statement in (
        "CREATE SCHEMA sales",
        "CREATE TABLE sales.orders (id BIGINT) USING delta",
        f"CREATE TABLE sales.placed (id INT, Location STRING) USING delta LOCATION '{elsewhere}'",
        "CREATE TABLE sales.files (id INT) USING parquet",
        "CREATE VIEW sales.seen AS SELECT * FROM sales.orders",
        "CREATE TEMPORARY VIEW passing AS SELECT 1 AS id",
    ):
        spark.sql(statement)
    yield Metastore(Project(repo, capsys), spark, elsewhere)
    spark.sql("USE spark_catalog.default")
    spark.sql("DROP VIEW passing")
    spark.sql("DROP SCHEMA sales CASCADE")


@pytest.fixture
def catalog(metastore: Metastore) -> SessionCatalog:
    return SessionCatalog(lambda: metastore.spark)


@pytest.mark.each_time
def test_show_prints_tables_given_by_name(metastore: Metastore) -> None:
    run = metastore.run(
        "show", "--target", "dev", "sales.orders", "`sales`.`placed`", "--output-format", "json"
    )
    managed, placed = map(json.loads, run.out.splitlines())
    assert run.status == 0, run.err
    assert managed["table"] == "sales.orders"
    assert placed["uri"] == str(metastore.elsewhere)


def test_names_without_a_target_are_resolved_as_spark_does(metastore: Metastore) -> None:
    metastore.sql("USE sales")
    names = ("orders", "sales.orders", "spark_catalog.sales.orders", "SALES.Orders", "orders@v0")
    run = metastore.run("show", *names, "--output-format", "json", "--no-history")
    assert run.status == 0, run.err
    assert len({json.loads(line)["uri"].casefold() for line in run.out.splitlines()}) == 1
    assert len(run.out.splitlines()) == len(names)


@pytest.mark.each_time
def test_names_of_missing_and_non_delta_tables_are_reported(metastore: Metastore) -> None:
    run = metastore.run("show", *NO_TABLES)
    assert run.status == 2
    errors = [line.removeprefix("error: ") for line in run.err.splitlines() if line.startswith("error: ")]
    assert [line for line, part in zip(errors, NO_TABLES.values(), strict=True) if part not in line] == []
    assert "--conf spark.sql.catalog.main=" in run.err
    audited = metastore.run("audit", *NO_TABLES, "--output-format", "json")
    assert {error["message"] for error in json.loads(audited.out)["errors"]} == set(errors)


@pytest.mark.each_time
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("passing", "passing is a temporary view, not a table"),
        ("a.b.c.d", "a.b.c.d has too many parts"),
        ("sales.`orders", "is not a valid table name"),
    ],
)
def test_invalid_table_name_is_refused(catalog: SessionCatalog, name: str, message: str) -> None:
    with pytest.raises(SchemalintError, match=message):
        catalog.full_name(name)


def test_plan_does_not_create_a_table_whose_files_are_missing(metastore: Metastore) -> None:
    metastore.elsewhere.rename(metastore.elsewhere.with_name("moved"))
    metastore.declare(ORDERS.replace("sales.orders", "sales.placed"))
    run = metastore.run("plan")
    assert run.status == 2
    assert f"at {metastore.elsewhere}, but no Delta table is there" in run.err


def test_audit_reports_the_table_whose_files_are_missing(metastore: Metastore) -> None:
    metastore.elsewhere.rename(metastore.elsewhere.with_name("moved"))
    for arguments in (("sales.placed",), ("--target", "dev", "sales.placed")):
        run = metastore.run("audit", *arguments)
        assert run.status == 2
        assert "failure: sales.placed: " in run.out


def test_unknown_name_does_not_stop_other_tables(metastore: Metastore) -> None:
    run = metastore.run("show", "a.b.c.d", "sales.nothing", "sales.placed")
    assert run.status == 2
    assert str(metastore.elsewhere) in run.out
    assert "a.b.c.d has too many parts" in run.err


def test_table_that_spark_cannot_load_is_still_read(metastore: Metastore) -> None:
    metastore.raise_protocol(metastore.elsewhere, "fromTheFuture")
    run = metastore.run("show", "sales.placed", "--output-format", "json")
    assert run.status == 0, run.err
    assert json.loads(run.out)["uri"] == str(metastore.elsewhere)
    assert "placed" in metastore.run("audit", "--target", "dev", "--all", "--output-format", "json").out


def test_location_in_a_tables_comment_is_ignored(metastore: Metastore) -> None:
    location = metastore.elsewhere.with_name("sly")
    comment = rf"COMMENT 'x\nLocation: file:{metastore.elsewhere}'"
    metastore.sql(f"CREATE TABLE sales.sly (id INT) USING delta LOCATION '{location}' {comment}")
    shown = metastore.run("show", "sales.sly", "--output-format", "json")
    assert json.loads(shown.out)["uri"] == str(location)
    metastore.raise_protocol(location, "fromTheFuture")
    run = metastore.run("show", "sales.sly")
    assert run.status == 2
    assert "fromTheFuture" in run.err


@pytest.mark.each_time
def test_pulled_tables_have_no_findings(metastore: Metastore) -> None:
    pulled = metastore.run(
        "pull", "--all", "--match", "SAL*.*", "--into", "contracts/{schema}/{table}.yml", "--only", "all"
    )
    assert pulled.status == 0, pulled.err
    texts = {path.stem: path.read_text() for path in Path("contracts/sales").iterdir()}
    assert texts.keys() == {"orders", "placed"}
    assert "table: sales.placed\n" in texts["placed"]
    assert "location" not in texts["placed"].split("columns:")[0]
    metastore.project.repo.commit()
    checked = metastore.run("check", "--live", "--all", "--output-format", "concise")
    assert (checked.status, checked.codes) == (0, []), checked.out
    assert "no findings in 2 tables" in checked.out


def test_the_tables_of_a_session_are_adopted(metastore: Metastore) -> None:
    Path("schemalint.toml").unlink()
    adopted = metastore.run("init", "--ci", "none")
    assert {path.stem for path in Path("contracts/sales").iterdir()} == {"orders", "placed"}, adopted.err
    assert '[targets.lake]\ncatalog = "spark_catalog"' in Path("schemalint.toml").read_text()
    metastore.project.repo.commit()
    checked = metastore.run("check", "--live", "--all", "--strict", "--output-format", "concise")
    assert (checked.status, checked.codes) == (0, []), checked.out


def test_tables_of_a_session_that_dbt_makes_are_not_adopted(metastore: Metastore) -> None:
    Path("schemalint.toml").unlink()
    node = {"unique_id": "model.shop.orders", "resource_type": "model", "schema": "SALES", "alias": "orders"}
    version = "https://schemas.getdbt.com/dbt/manifest/v12.json"
    manifest = {"metadata": {"dbt_schema_version": version}, "nodes": {"model.shop.orders": node}}
    metastore.project.repo.write("dbt_project.yml", "name: shop\n")
    metastore.project.repo.write("target/manifest.json", json.dumps(manifest))
    adopted = metastore.run("init", "--ci", "none")
    assert [path.stem for path in Path("contracts/sales").iterdir()] == ["placed"], adopted.err
    assert "1 of them by dbt" in adopted.out  # the session may have tables of other tests


def test_pull_works_without_a_configuration(metastore: Metastore) -> None:
    Path("schemalint.toml").unlink()
    run = metastore.run("pull", "sales.orders")
    assert run.status == 0, run.err
    assert "table: sales.orders\n" in run.out


def test_sql_that_is_pulled_from_a_session_makes_the_table_again(metastore: Metastore) -> None:
    metastore.sql(
        "CREATE TABLE sales.lines (id BIGINT NOT NULL COMMENT 'the key', amount DECIMAL(10,2) DEFAULT 0, "
        "day DATE, tags MAP<STRING, STRUCT<a: INT>>) USING delta PARTITIONED BY (day) COMMENT 'all lines' "
        "TBLPROPERTIES ('delta.feature.allowColumnDefaults' = 'supported', 'team' = 'shop')"
    )
    metastore.sql("ALTER TABLE sales.lines ADD CONSTRAINT positive CHECK (amount >= 0)")
    made = metastore.state("sales.lines")
    run = metastore.run("pull", "sales.lines", "--format", "sql")
    assert run.status == 0, run.err
    metastore.sql("DROP TABLE sales.lines")
    for statement in filter(None, map(str.strip, run.out.split(";\n"))):
        metastore.sql(statement)
    assert metastore.state("sales.lines") == made


@pytest.mark.each_time
def test_check_compares_with_the_tables_of_the_session(metastore: Metastore) -> None:
    metastore.declare()
    metastore.project.declare(ORDERS.replace("bigint", "int"))
    run = metastore.run("check", "--live", "--output-format", "json")
    (finding,) = json.loads(run.out)["findings"]
    assert (finding["code"], finding["against"]) == ("TW001", ["git", "live"])
    metastore.declare(ORDERS.replace("sales.orders", "sales.soon"))
    assert metastore.run("check", "--live", "--all", "--output-format", "concise").codes == ["DR003"]


@pytest.mark.each_time
def test_plan_file_is_applied(metastore: Metastore, tmp_path: Path) -> None:
    metastore.declare(ORDERS + "  - {name: note, type: string}\n")
    plan = tmp_path / "plan.json"
    planned = metastore.run("plan", "--out", str(plan), "--output-format", "sql")
    assert planned.status == 0, planned.err
    assert "ALTER TABLE `spark_catalog`.`sales`.`orders` ADD COLUMNS" in planned.out
    hash_ = json.loads(plan.read_text())["hash"]
    applied = metastore.project.run(
        "apply", "--approved", hash_, "--plan", str(plan), "--output-format", "json"
    )
    assert applied.status == 0, applied.err
    assert json.loads(applied.out)["plan"] == hash_
    assert metastore.spark.table("sales.orders").columns == ["id", "note"]
    assert metastore.run("plan", "--exit-code").status == 0


def test_a_table_is_rewritten_by_its_name_from_a_plan_file(metastore: Metastore, tmp_path: Path) -> None:
    metastore.declare("schemalint: 1\ntable: sales.placed\ncolumns:\n  - {name: id, type: int}\n")
    metastore.sql("INSERT INTO sales.placed VALUES (1, '7'), (2, NULL)")
    column = "{name: Location, type: int, rewrite: {from: string, with: cast(location as int)}}"
    text = f"schemalint: 1\ntable: sales.placed\ncolumns: [{{name: id, type: int}}, {column}]\n"
    metastore.declare(text)
    plan = tmp_path / "plan.json"
    planned = metastore.run("plan", "--out", str(plan), "sales.placed")
    assert planned.status == 0, planned.err
    hash_ = json.loads(plan.read_text())["hash"]
    applied = metastore.project.run("apply", "--approved", hash_, "--plan", str(plan))
    assert applied.status == 0, applied.err
    assert sorted(map(tuple, metastore.spark.table("sales.placed").collect())) == [(1, 7), (2, None)]
    again = metastore.project.run("apply", "--approved", hash_, "--plan", str(plan))
    assert again.status == 0, again.err


def test_empty_target_uses_the_sessions_catalog(metastore: Metastore) -> None:
    metastore.project.repo.write("schemalint.toml", "[targets.dev]\n")
    metastore.declare(ORDERS + "  - {name: note, type: string}\n")
    assert metastore.run("plan", "--exit-code").status == 4
    assert metastore.run("apply", "--yes").status == 0
    assert metastore.run("plan", "--exit-code").status == 0


def test_catalog_uri_of_the_target_is_not_used(metastore: Metastore) -> None:
    metastore.project.repo.write(
        "schemalint.toml",
        '[targets.dev]\ncatalog = "spark_catalog"\n'
        'catalog_uri = "http://127.0.0.1:9"\ncatalog_token = "${NOT_SET_ANYWHERE}"\n',
    )
    metastore.declare()
    assert metastore.run("check", "--live", "--all").status == 0


def test_revert_prints_the_plan_of_the_table(metastore: Metastore) -> None:
    metastore.declare(ORDERS.replace("bigint", "bigint, comment: old"))
    metastore.declare(ORDERS.replace("bigint", "bigint, comment: new"))
    run = metastore.run("revert", "sales.orders")
    assert run.status == 0, run.err
    assert "ALTER TABLE `spark_catalog`.`sales`.`orders`" in run.out, run.err
    assert "the plan could not be made" not in run.err


def test_audit_by_name_gives_the_findings_of_the_audit_by_path(metastore: Metastore) -> None:
    by_path = metastore.run("audit", str(metastore.elsewhere), "--output-format", "json")
    arguments = ("--all", "--files", "--output-format", "json")
    by_name = metastore.run("audit", "--target", "dev", *arguments)
    assert by_name.status == 0, by_name.out
    report = json.loads(by_name.out)
    compared = [name for name in report["run"]["compared"] if name.startswith("spark_catalog.sales.")]
    assert compared == ["spark_catalog.sales.orders", "spark_catalog.sales.placed"]
    assert [
        finding["message"]
        for finding in report["findings"]
        if finding["table"] == "spark_catalog.sales.placed"
    ] == [finding["message"] for finding in json.loads(by_path.out)["findings"]]
    assert metastore.run("audit", "sales.placed", "sales.orders").status == 0


def test_show_warns_that_the_log_of_a_catalog_managed_table_may_be_stale(metastore: Metastore) -> None:
    metastore.raise_protocol(metastore.elsewhere, "catalogManaged", "vacuumProtocolCheck")
    run = metastore.run("show", "sales.placed")
    assert run.status == 0, run.err
    assert POSSIBLY_STALE in run.out


def test_error_without_via_spark_suggests_via_spark(metastore: Metastore) -> None:
    metastore.declare()
    for arguments in (
        ("check", "--live", "--all"),
        ("show", "--target", "dev", "sales.orders"),
        ("pull", "sales.orders"),
        ("plan",),
        ("audit", "--target", "dev", "sales.orders"),
    ):
        run = metastore.project.run(*arguments)
        assert run.status == 2
        assert "target dev has no catalog_uri for catalog spark_catalog" in run.out + run.err
        assert (run.out + run.err).count("--via spark") == 1


def test_running_session_keeps_its_settings_and_is_not_stopped(metastore: Metastore) -> None:
    partitions = metastore.spark.conf.get("spark.sql.shuffle.partitions")
    assert metastore.run("show", "sales.orders", "--conf", "spark.sql.session.timeZone=UTC").status == 0
    assert metastore.spark.conf.get("spark.sql.shuffle.partitions") == partitions
    assert metastore.spark.sql("SELECT 1 AS one").collect()[0]["one"] == 1
