"""The guard in a real session: what it says before a write, and what the log shows after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

from engine.write_questions import Table
from schemalint.delta.write_effect import effect_of
from schemalint.delta.writes import Method, Mode, Write
from schemalint.guard import WriteRefused, check_sql, check_write, guard
from schemalint.guard.session import schema_of
from schemalint.tables.storage import read_table
from support.guard_tables import packed, table_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

MERGE = {"mergeSchema": "true"}


@pytest.fixture
def orders(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    path = table_at(tmp_path / "orders")
    spark.sql("CREATE DATABASE IF NOT EXISTS sales")
    spark.sql(f"CREATE TABLE sales.orders USING delta LOCATION '{path}'")
    yield path
    spark.sql("DROP TABLE IF EXISTS sales.orders")


def _row(spark: SparkSession, **more: str) -> DataFrame:
    columns = {"id": "1L", "c": "2", "s": "'a'"} | more
    return spark.range(1).selectExpr(*(f"{value} AS {name}" for name, value in columns.items() if value))


def _columns(path: Path) -> list[str]:
    return [field.name for field in read_table(str(path)).state.columns.fields]


def _jobs(spark: SparkSession) -> int:
    """Return how many jobs the session has run so far."""
    context: Any = spark.sparkContext
    return int(context._jsc.sc().dagScheduler().numTotalJobs())  # noqa: SLF001 (PySpark has no other way)


@pytest.mark.spark
@pytest.mark.each_time
def test_a_write_is_judged_without_a_job_and_then_does_what_was_said(
    spark: SparkSession, orders: Path
) -> None:
    wider = _row(spark, x="3")
    before = _jobs(spark)
    refused = check_write(wider, "sales.orders", contracts=packed(orders), options=MERGE)
    allowed = check_write(wider, "sales.orders", contracts=packed(orders, columns=True), options=MERGE)
    by_sql = check_sql(spark, "INSERT INTO sales.orders SELECT 1L, 2, 'a'", contracts=packed(orders))
    too_few = check_sql(spark, "INSERT INTO sales.orders SELECT 1L, 2", contracts=packed(orders))
    assert _jobs(spark) == before
    assert (refused.outcome, allowed.outcome) == ("refused", "allowed")
    assert [finding.code for finding in refused.findings if finding.refuses] == ["DR001"]
    assert (by_sql.outcome, too_few.outcome) == ("allowed", "refused"), f"{by_sql} {too_few}"
    assert read_table(str(orders)).version == 0
    wider.write.format("delta").mode("append").options(**MERGE).saveAsTable("sales.orders")
    assert _columns(orders) == ["id", "c", "s", "x"]
    again = check_write(wider, "sales.orders", contracts=packed(orders, columns=True), options=MERGE)
    assert (again.version, again.outcome) == (1, "allowed")


@pytest.mark.spark
def test_the_session_alone_tells_of_a_table_whose_location_nobody_knows(
    spark: SparkSession, orders: Path
) -> None:
    contracts: Any = packed(orders)
    contracts["tables"][0]["location"] = None
    result = check_write(_row(spark, x="3"), "sales.orders", contracts=contracts, options=MERGE)
    assert result.outcome == "refused"
    assert "log was not read" in str(result)


@pytest.mark.spark
def test_a_name_without_a_catalog_is_that_of_the_sessions_catalog(spark: SparkSession, orders: Path) -> None:
    data, insert = _row(spark), "INSERT INTO sales.orders SELECT 1L, 2, 'a'"
    for catalog, outcome in (("spark_catalog", "allowed"), ("main", "unknown")):
        contracts: Any = packed(orders) | {"catalog": catalog}
        by_name = check_write(data, "sales.orders", contracts=contracts)
        by_sql = check_sql(spark, insert, contracts=contracts)
        assert (by_name.outcome, by_sql.outcome) == (outcome, outcome)
        assert ("is a table of spark_catalog" in str(by_name)) == (outcome == "unknown")
        assert check_write(data, str(orders), contracts=contracts, method="save").outcome == "allowed"


@pytest.mark.spark
def test_a_writer_that_makes_no_table_finds_none(spark: SparkSession, tmp_path: Path) -> None:
    data, contracts = _row(spark), packed(tmp_path / "nowhere")
    writes: dict[str, Callable[[], None]] = {
        "insertInto": lambda: data.write.insertInto("sales.orders"),
        "writeTo": lambda: data.writeTo("sales.orders").append(),
    }
    for method, write in writes.items():
        result = check_write(data, "sales.orders", contracts=contracts, method=method)
        assert result.outcome == "refused"
        assert "TABLE_OR_VIEW_NOT_FOUND" in str(result)
        with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
            write()


@pytest.mark.spark
def test_spark_passes_options_of_insert_into_on_where_the_writer_names_delta(
    spark: SparkSession, orders: Path
) -> None:
    wider = _row(spark, x="3")
    result = check_write(wider, "sales.orders", contracts=packed(orders), method="insertInto", options=MERGE)
    assert [finding.code for finding in result.findings if finding.refuses] == ["DR001"]
    with pytest.raises(AnalysisException):
        wider.write.options(**MERGE).insertInto("sales.orders")
    wider.write.format("delta").options(**MERGE).insertInto("sales.orders")
    assert _columns(orders) == ["id", "c", "s", "x"]


@pytest.mark.spark
def test_a_refused_statement_names_the_class_of_the_error(spark: SparkSession, orders: Path) -> None:
    refused = {
        "SELECT 1L, 2": "DELTA_INSERT_COLUMN_ARITY_MISMATCH",
        "SELECT 1L, 2, nothing": "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION",
        "SELECT 1L, array(2), 'a'": "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
    }
    for query, error in refused.items():
        result = check_sql(spark, f"INSERT INTO sales.orders {query}", contracts=packed(orders))
        assert str(result).endswith(f"Delta refuses the write: {error}")


@pytest.mark.spark
def test_statements_that_the_guard_cannot_read_are_unknown_and_not_run(
    spark: SparkSession, orders: Path
) -> None:
    statements = {
        "INSERT INTO sales.orders DROP TABLE sales.orders": ("refused", "unknown"),
        "DELETE FROM sales.orders": ("unknown",),
        "WITH v AS (SELECT 1) INSERT INTO sales.orders SELECT * FROM v": ("unknown",),
        "INSERT INTO sales.orders PARTITION (c = 1) SELECT 1L, 'a'": ("refused",),  # it has no partitions
    }
    for statement, outcomes in statements.items():
        assert check_sql(spark, statement, contracts=packed(orders)).outcome in outcomes, statement
    assert spark.catalog.tableExists("sales.orders")
    assert read_table(str(orders)).version == 0


@pytest.mark.spark
def test_a_merge_whose_star_drops_a_column_is_refused(spark: SparkSession, orders: Path) -> None:
    _row(spark, x="3").createOrReplaceTempView("changes")
    merge = (
        "MERGE INTO sales.orders AS t USING changes AS s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    result = check_sql(spark, merge, contracts=packed(orders))
    assert result.outcome == "refused"
    assert [(finding.code, finding.path) for finding in result.findings if finding.refuses] == [
        ("WR002", "x")
    ]
    spark.sql(merge)
    assert _columns(orders) == ["id", "c", "s"]


@pytest.mark.spark
def test_the_clauses_of_a_merge_are_judged_by_the_values_that_they_name(
    spark: SparkSession, orders: Path
) -> None:
    _row(spark, x="1.5D").createOrReplaceTempView("changes")
    merge = "MERGE INTO sales.orders AS t USING changes AS s ON t.id = s.id WHEN"
    said = {
        "MATCHED THEN UPDATE SET c = s.c + 1": ("allowed", []),
        "MATCHED THEN UPDATE SET t.c = s.x": ("refused", [("WR002", "c")]),
        "MATCHED THEN DELETE": ("allowed", []),
        "MATCHED AND s.x > 1 THEN UPDATE SET c = CASE WHEN t.c > 1 THEN s.c ELSE 3 END, s = s.s": (
            "allowed",
            [],
        ),
        "NOT MATCHED THEN INSERT (id, c) VALUES (s.id, DEFAULT)": ("refused", [("WR001", "")]),  # it has none
    }
    for clause, expected in said.items():
        result = check_sql(spark, f"{merge} {clause}", contracts=packed(orders))
        found = [(finding.code, finding.path) for finding in result.findings]
        assert (result.outcome, found) == expected, f"{clause}: {result}"


@pytest.mark.spark
def test_what_a_clause_does_not_name_is_filled_kept_or_unknown(spark: SparkSession, orders: Path) -> None:
    _row(spark, x="1.5D").createOrReplaceTempView("changes")
    merge = "MERGE INTO sales.orders AS t USING changes AS s ON t.id = s.id WHEN"
    said = {
        "NOT MATCHED THEN INSERT (id) VALUES (s.id)": (
            "allowed",
            [("WR004", "c"), ("WR004", "s"), ("WR003", "id")],
        ),
        "MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE THEN UPDATE SET c = 0": (
            "refused",
            [("WR002", "x"), ("WR003", "id")],
        ),
        "MATCHED THEN UPDATE SET nothing = s.c": ("refused", [("WR001", "")]),
    }
    for clause, expected in said.items():
        result = check_sql(spark, f"{merge} {clause}", contracts=packed(orders))
        found = [(finding.code, finding.path) for finding in result.findings]
        assert (result.outcome, found) == expected, f"{clause}: {result}"
    spark.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        same = check_sql(spark, f"{merge} MATCHED THEN UPDATE SET c = s.c", contracts=packed(orders))
        wider = check_sql(spark, f"{merge} MATCHED THEN UPDATE SET c = s.x", contracts=packed(orders))
    finally:
        spark.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")
    assert (same.outcome, wider.outcome) == ("allowed", "unknown")


@pytest.mark.spark
def test_a_partition_that_an_insert_names_is_no_column_of_its_query(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table("id: bigint NOT NULL, c: int, s: string", partitioned=("c",))
    path = table_at(tmp_path / "parts", table)
    spark.sql(f"CREATE TABLE sales.parts USING delta LOCATION '{path}'")
    contracts: Any = packed(path, table)
    contracts["tables"][0]["table"] = "sales.parts"
    try:
        fits = check_sql(
            spark, "INSERT INTO sales.parts PARTITION (c = 1) SELECT 1L, 'a'", contracts=contracts
        )
        too_many = check_sql(
            spark, "INSERT INTO sales.parts PARTITION (c = 1) SELECT 1L, 2, 3", contracts=contracts
        )
    finally:
        spark.sql("DROP TABLE sales.parts")
    assert [finding.code for finding in fits.findings] == ["WR003", "WR005", "WR005"], fits
    assert (fits.outcome, too_many.outcome) == ("allowed", "refused")


@pytest.mark.spark
def test_a_batch_of_a_stream_is_refused_by_a_final_error(spark: SparkSession, orders: Path) -> None:
    contracts = packed(orders)
    source = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    batches: list[str] = []

    def write(batch: DataFrame, _number: int) -> None:
        with_more = batch.selectExpr("1L AS id", "2 AS c", "'a' AS s", "3 AS x")
        batches.append(check_write(with_more, "sales.orders", contracts=contracts, options=MERGE).outcome)
        guard(with_more, "sales.orders", contracts=contracts, options=MERGE)

    checkpoint = str(orders.with_name("checkpoint"))
    query = source.writeStream.foreachBatch(write).option("checkpointLocation", checkpoint)
    running = query.trigger(once=True).start()
    with pytest.raises(Exception, match="WriteRefused") as failed:
        running.awaitTermination()
    assert "x" in str(failed.value)
    assert batches == ["refused"]
    assert _columns(orders) == ["id", "c", "s"]


@pytest.mark.spark
def test_a_switch_of_the_session_decides(spark: SparkSession, orders: Path) -> None:
    wider = _row(spark, x="3")
    with pytest.raises(WriteRefused):
        guard(wider, "sales.orders", contracts=packed(orders), options=MERGE)
    spark.conf.set("spark.schemalint.guard", "warn")
    try:
        assert guard(wider, "sales.orders", contracts=packed(orders), options=MERGE).outcome == "refused"
    finally:
        spark.conf.unset("spark.schemalint.guard")


@pytest.mark.spark
def test_an_overwrite_removes_the_clustering_as_the_guard_says(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "clustered"
    spark.sql(f"CREATE TABLE delta.`{path}` (id BIGINT, c INT) USING delta CLUSTER BY (id)")
    live = read_table(str(path))
    data = spark.range(1).selectExpr("id", "2 AS c")
    write = Write(Method.SAVE, (4, 4), Mode.OVERWRITE)
    effect = effect_of(live.state, live.protocol.features, schema_of(data), write)
    data.write.format("delta").mode("overwrite").save(str(path))
    after = read_table(str(path)).state
    assert (live.state.clustered_by, after.clustered_by) == ((("id",),), ())
    assert effect.after == after
