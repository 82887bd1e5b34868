"""The guard in each batch of a real stream: 100 batches, or as many as `SCHEMALINT_GUARD_BATCHES` says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.guard import guard
from support.guard_tables import packed, table_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

BATCHES: Final = int(os.environ.get("SCHEMALINT_GUARD_BATCHES", "100"))
CHANGED: Final = BATCHES // 2
"""The batch before which somebody adds a column to the table."""

EVERY: Final = 10
"""Each tenth batch is written, so that the version of the table changes too."""


def test_files_become_batches_in_their_order(tmp_path: Path) -> None:
    assert [path.read_text() for path in sorted(_files(tmp_path), key=lambda path: path.stat().st_mtime)] == [
        str(number) for number in range(BATCHES)
    ]


@pytest.mark.spark
def test_each_batch_of_a_stream_is_judged_by_the_table_as_it_is_then(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = table_at(tmp_path / "orders")
    spark.sql("CREATE DATABASE IF NOT EXISTS sales")
    spark.sql(f"CREATE TABLE sales.orders USING delta LOCATION '{path}'")
    source = tmp_path / "source"
    source.mkdir()
    assert len(list(_files(source))) == BATCHES
    contracts = packed(path, columns=True)
    seen: list[tuple[str, int | None, bool]] = []

    def write(batch: DataFrame, number: int) -> None:
        if number == CHANGED:
            batch.sparkSession.sql("ALTER TABLE sales.orders ADD COLUMNS (x INT)")
        data = batch.selectExpr("CAST(value AS BIGINT) AS id", "2 AS c", "'a' AS s")
        result = guard(data, "sales.orders", contracts=contracts, unknown="refuse")
        lacks_column = any((each.code, each.path) == ("WR004", "x") for each in result.findings)
        seen.append((result.outcome, result.version, lacks_column))
        if number % EVERY == 0:
            data.write.format("delta").mode("append").saveAsTable("sales.orders")

    files = spark.readStream.format("text").option("maxFilesPerTrigger", 1).load(str(source))
    query = files.writeStream.foreachBatch(write).option("checkpointLocation", str(tmp_path / "checkpoint"))
    try:
        query.trigger(availableNow=True).start().awaitTermination()
        written = sorted(row.id for row in spark.table("sales.orders").select("id").collect())
    finally:
        spark.sql("DROP TABLE sales.orders")
    assert seen == list(_expected())
    assert written == list(range(0, BATCHES, EVERY))


def _files(folder: Path) -> Iterator[Path]:
    for number in range(BATCHES):
        path = folder / f"{number:05}.txt"
        path.write_text(str(number))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        yield path


def _expected() -> Iterator[tuple[str, int, bool]]:
    version = 0
    for number in range(BATCHES):
        version += number == CHANGED
        yield "allowed", version, number >= CHANGED
        version += number % EVERY == 0
