"""What RD010 says: a schema tracking location brings a stream past a rename, even if it comes later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.streams import Blocking

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

EVOLVED = "DELTA_STREAMING_METADATA_EVOLUTION"
UNTRACKED = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
BLOCKED = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"


def failure(
    spark: SparkSession, table: Path, checkpoint: Path, *, tracked: bool, allowed: bool = False
) -> str:
    """Run a stream to the end of the table; return the error class if it fails, else nothing."""
    from pyspark.errors import StreamingQueryException  # noqa: PLC0415 (only with Spark)

    reader = spark.readStream.format("delta")
    if tracked:
        reader = reader.option("schemaTrackingLocation", str(checkpoint))
    if allowed:
        reader = reader.option(Blocking.RENAME.option, "always")
    sink = reader.load(str(table)).writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    try:
        sink.trigger(availableNow=True).start().awaitTermination(120)
    except StreamingQueryException as error:
        return next(name for name in (EVOLVED, UNTRACKED, BLOCKED) if name in str(error))
    return ""


@pytest.mark.spark
def test_a_tracking_location_brings_a_stream_past_a_rename(spark: SparkSession, tmp_path: Path) -> None:
    path, before, after = tmp_path / "table", tmp_path / "before", tmp_path / "after"
    table = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {table} USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name') "
        "AS SELECT 1 AS id, 'x' AS cust"
    )
    for checkpoint in (before, after):
        assert failure(spark, path, checkpoint, tracked=False) == ""
    assert failure(spark, path, before, tracked=True) == ""
    spark.sql(f"ALTER TABLE {table} RENAME COLUMN cust TO customer")
    spark.sql(f"INSERT INTO {table} VALUES (2, 'y')")

    assert failure(spark, path, before, tracked=True) == EVOLVED
    assert failure(spark, path, before, tracked=True) == BLOCKED
    assert failure(spark, path, before, tracked=True, allowed=True) == ""

    assert failure(spark, path, after, tracked=False) == UNTRACKED
    starts = [failure(spark, path, after, tracked=True) for _ in range(3)]
    assert starts == [EVOLVED, EVOLVED, BLOCKED]
    assert failure(spark, path, after, tracked=True, allowed=True) == ""
