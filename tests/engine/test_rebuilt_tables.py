"""What the rules about rebuilt tables say, asked of the engine: what CREATE OR REPLACE loses and refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def _error(spark: SparkSession, statement: str) -> str | None:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    try:
        spark.sql(statement).collect()
    except PySparkException as error:
        return str(error.getCondition())
    return None


def _replace(table: str, query: str, options: str = "") -> str:
    return f"CREATE OR REPLACE TABLE {table} USING delta {options} AS SELECT {query}"


def test_columns_and_types_are_those_of_the_query(spark: SparkSession, tmp_path: Path) -> None:
    """RB001 and RB002: Delta refuses none of it, and a value that does not fit fails the build alone."""
    table = f"delta.`{tmp_path / 'orders'}`"
    spark.sql(
        f"CREATE TABLE {table} (id INT, amount DECIMAL(12,2), s STRUCT<net: DECIMAL(10,2)>) USING delta"
    )
    query = "1L AS id, CAST({} AS DECIMAL(5,2)) AS amount, named_struct('net', CAST(1 AS DECIMAL(5,2))) AS s"
    assert _error(spark, _replace(table, query.format(5))) is None
    assert spark.table(table).schema.simpleString() == (
        "struct<id:bigint,amount:decimal(5,2),s:struct<net:decimal(5,2)>>"
    )
    error = _error(spark, _replace(table, f"{query.format('n')} FROM VALUES (123456) AS v(n)"))
    assert str(error).startswith("NUMERIC_VALUE_OUT_OF_RANGE")
    assert _error(spark, _replace(table, "1L AS id")) is None
    assert spark.table(table).columns == ["id"]


@pytest.mark.each_time
def test_what_the_statement_does_not_say_is_gone(spark: SparkSession, tmp_path: Path) -> None:
    """RB003 and RB004."""
    table = f"delta.`{tmp_path / 'orders'}`"
    spark.sql(
        f"CREATE TABLE {table} (id INT NOT NULL, v INT) USING delta CLUSTER BY (id) COMMENT 'all' "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true', 'a.b' = 'c')"
    )
    spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT positive CHECK (id > 0)")
    before = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    assert _error(spark, _replace(table, "1 AS id, 2 AS v")) is None
    after = spark.sql(f"DESCRIBE DETAIL {table}").collect()[0]
    assert (after.properties, after.description, after.clusteringColumns) == ({}, None, [])
    assert [field.nullable for field in spark.table(table).schema] == [True, True]
    assert before.id != after.id


def test_not_null_cannot_be_set_after_the_build(spark: SparkSession, tmp_path: Path) -> None:
    """RB003; the statement is that of dbt-spark (``spark__alter_column_set_constraints``)."""
    table = f"delta.`{tmp_path / 'orders'}`"
    assert _error(spark, _replace(table, "1 AS id")) is None
    assert _error(spark, f"ALTER TABLE {table} CHANGE COLUMN id SET NOT NULL") == "_LEGACY_ERROR_TEMP_2330"


def test_a_clustered_table_cannot_be_partitioned(spark: SparkSession, tmp_path: Path) -> None:
    """RB004; all other layouts can change."""
    table = f"delta.`{tmp_path / 'orders'}`"
    partitioned = _replace(table, "1 AS id, 2 AS day", "PARTITIONED BY (day)")
    clustered = _replace(table, "1 AS id, 2 AS day", "CLUSTER BY (day)")
    assert [_error(spark, statement) for statement in (partitioned, clustered, partitioned)] == [
        None,
        None,
        "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
    ]


def test_a_table_that_allows_appends_only_is_not_replaced(spark: SparkSession, tmp_path: Path) -> None:
    """RB009: what the table has counts, not what the statement says; a renamed table is a new one."""
    table, options = f"delta.`{tmp_path / 'logins'}`", "TBLPROPERTIES ('delta.appendOnly' = 'true')"
    build, build_without = _replace(table, "1 AS id", options), _replace(table, "1 AS id")
    empty = f"REPLACE TABLE {table} (id INT) USING delta"
    assert [_error(spark, each) for each in (build_without, build)] == [None, None]
    assert [_error(spark, each) for each in (build, build_without, empty)] == [
        "DELTA_CANNOT_MODIFY_APPEND_ONLY"
    ] * 3
    assert _error(spark, f"ALTER TABLE {table} SET TBLPROPERTIES ('delta.appendOnly' = 'false')") is None
    assert _error(spark, build_without) is None

    for step in (
        _replace("logins", "1 AS id", options),
        _replace("logins_tmp", "2 AS id", options),
        "ALTER TABLE logins RENAME TO logins_backup",
        "ALTER TABLE logins_tmp RENAME TO logins",
    ):
        assert _error(spark, step) is None
    assert [row.id for row in spark.table("logins").collect()] == [2]
    spark.sql("DROP TABLE logins_backup")
    spark.sql("DROP TABLE logins")


def test_a_stream_does_not_survive_a_build(spark: SparkSession, tmp_path: Path) -> None:
    """RB005, even if the build changes nothing."""
    from pyspark.errors import StreamingQueryException  # noqa: PLC0415 (only with Spark)

    path = str(tmp_path / "orders")
    build = _replace(f"delta.`{path}`", "1 AS id")
    assert _error(spark, build) is None

    def read() -> str:
        source = spark.readStream.format("delta").load(path)
        sink = source.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "checkpoint"))
        try:
            sink.trigger(availableNow=True).start().awaitTermination(120)
        except StreamingQueryException as error:
            return str(error)
        return ""

    assert read() == ""
    assert _error(spark, build) is None
    assert "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE" in read()
