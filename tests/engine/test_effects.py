"""Spark carries out the changes of CM015, CM016 and TP010, and then refuses what these rules predict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.rule_judging import built_in

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

UNTRACKED = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"


def refusal_of_stream(spark: SparkSession, table: Path) -> str:
    """Return the text with which a new stream from the first version fails, empty if it runs."""
    from pyspark.errors import StreamingQueryException  # noqa: PLC0415 (only with Spark)

    source = spark.readStream.format("delta").option("startingVersion", 1).load(str(table))
    sink = source.writeStream.format("noop").option("checkpointLocation", f"{table}-checkpoint")
    try:
        sink.trigger(availableNow=True).start().awaitTermination(120)
    except StreamingQueryException as error:
        return str(error)
    return ""


def refusal_of_feed(spark: SparkSession, table: Path, first: int, last: int) -> str | None:
    """Return the error class with which a read of the change data feed fails, None if it succeeds."""
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    feed = spark.read.format("delta").option("readChangeFeed", "true")
    try:
        feed.option("startingVersion", first).option("endingVersion", last).load(str(table)).collect()
    except PySparkException as error:
        return str(error.getCondition())
    return None


@pytest.mark.spark
@pytest.mark.each_time("drop")
@pytest.mark.parametrize(
    ("statements", "rule"),
    [
        (["DROP COLUMN old"], "column-dropped"),
        (["RENAME COLUMN old TO new"], "column-renamed"),
        (["RENAME COLUMN old TO t", "RENAME COLUMN t TO OLD"], "column-renamed"),
        (["ADD COLUMN more INT"], None),
    ],
    ids=["drop", "rename", "case alone", "added"],
)
def test_drops_and_renames_stop_untracked_streams_and_feeds(
    spark: SparkSession, tmp_path: Path, statements: list[str], rule: str | None
) -> None:
    path = tmp_path / "table"
    table = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {table} (id INT, old STRING) USING delta TBLPROPERTIES "
        "('delta.columnMapping.mode' = 'name', 'delta.enableChangeDataFeed' = 'true')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x')")
    for statement in statements:
        spark.sql(f"ALTER TABLE {table} {statement}")
    refused = refusal_of_feed(spark, path, 1, 1 + len(statements))
    stream = refusal_of_stream(spark, path)
    if rule is None:
        assert (refused, stream) == (None, "")
    else:
        assert built_in()[rule].delta_errors == (UNTRACKED,)
        assert UNTRACKED in stream
        assert str(refused).startswith("DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_")
    rows = spark.sql(f"SELECT old FROM {table} VERSION AS OF 1").collect()
    assert [row[0] for row in rows] == ["x"]  # time travel still reads the values, under the old name


@pytest.mark.spark
def test_feed_turned_off_cannot_be_read_over_the_gap(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "table"
    table = f"delta.`{path}`"
    feed = "'delta.enableChangeDataFeed'"
    for statement in (
        f"CREATE TABLE {table} (id INT) USING delta TBLPROPERTIES ({feed} = 'true')",
        f"INSERT INTO {table} VALUES (1)",
        f"ALTER TABLE {table} SET TBLPROPERTIES ({feed} = 'false')",
        f"INSERT INTO {table} VALUES (2)",
        f"ALTER TABLE {table} SET TBLPROPERTIES ({feed} = 'true')",
        f"INSERT INTO {table} VALUES (3)",
        f"ALTER TABLE {table} UNSET TBLPROPERTIES ({feed})",
    ):
        spark.sql(statement)
    (expected,) = built_in()["change-data-feed-disabled"].delta_errors
    assert refusal_of_feed(spark, path, 0, 1) is None
    assert refusal_of_feed(spark, path, 4, 5) is None
    for first, last in ((0, 2), (0, 5), (3, 4), (4, 6)):
        assert refusal_of_feed(spark, path, first, last) == expected, (first, last)
