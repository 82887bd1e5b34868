"""What a widening, or permission for it, does to readers and writers: TW010, TW011."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

AUTOMATIC = "spark.databricks.delta.typeWidening.allowAutomaticWidening"


def append(spark: SparkSession, table: Path, query: str) -> str:
    """Append with mergeSchema; return the type of the column afterwards, or ``refused``."""
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    rows = spark.sql(query).write.format("delta").mode("append").option("mergeSchema", "true")
    try:
        rows.save(str(table))
    except PySparkException as error:
        if "DELTA_FAILED_TO_MERGE_FIELDS" not in str(error):
            raise
        return "refused"
    return str(dict(spark.table(f"delta.`{table}`").dtypes)["a"])


@pytest.mark.spark
@pytest.mark.each_time
def test_writers_widen_by_themselves_once_the_property_is_on(spark: SparkSession, tmp_path: Path) -> None:
    for enabled, outcome in (("false", "refused"), ("true", "double")):
        table = tmp_path / enabled
        spark.sql(
            f"CREATE TABLE delta.`{table}` (a INT) USING delta "
            f"TBLPROPERTIES ('delta.enableTypeWidening' = '{enabled}')"
        )
        spark.sql(f"INSERT INTO delta.`{table}` VALUES (1)")
        spark.conf.set(AUTOMATIC, "NEVER")
        try:
            assert append(spark, table, "SELECT CAST(2.5 AS DOUBLE) AS a") == "refused"
        finally:
            spark.conf.unset(AUTOMATIC)
        assert append(spark, table, "SELECT CAST(2.5 AS DOUBLE) AS a") == outcome


@pytest.mark.spark
def test_char_loses_its_padding_when_it_becomes_varchar_or_string(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = f"delta.`{tmp_path / 'table'}`"
    spark.sql(f"CREATE TABLE {table} (a CHAR(3), b CHAR(3)) USING delta")
    spark.sql(f"INSERT INTO {table} VALUES ('', '')")
    for change, lengths in (("", [3, 3]), ("a TYPE VARCHAR(5)", [0, 3]), ("b TYPE STRING", [0, 0])):
        if change:
            spark.sql(f"ALTER TABLE {table} ALTER COLUMN {change}")
        assert list(spark.sql(f"SELECT length(a), length(b) FROM {table}").collect()[0]) == lengths
