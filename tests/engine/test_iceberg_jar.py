"""A table with a copy for Iceberg, without the jar delta-iceberg, which is no part of Delta Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPATIBLE = "'delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV2' = 'true'"
FORMAT = "'delta.universalFormat.enabledFormats' = 'iceberg'"


@pytest.mark.spark
def test_a_table_of_a_catalog_is_not_altered_and_a_new_one_not_written(spark: SparkSession) -> None:
    spark.sql("CREATE SCHEMA iceberg_jar")
    try:
        spark.sql(f"CREATE TABLE iceberg_jar.old (a int) USING delta TBLPROPERTIES ({COMPATIBLE})")
        assert is_refused(spark, f"ALTER TABLE iceberg_jar.old SET TBLPROPERTIES ({FORMAT})")
        spark.sql("INSERT INTO iceberg_jar.old VALUES (1)")
        spark.sql(f"CREATE TABLE iceberg_jar.new (a int) USING delta TBLPROPERTIES ({COMPATIBLE}, {FORMAT})")
        assert is_refused(spark, "INSERT INTO iceberg_jar.new VALUES (1)")
        assert spark.table("iceberg_jar.new").count() == 0
    finally:
        spark.sql("DROP SCHEMA iceberg_jar CASCADE")


def is_refused(spark: SparkSession, statement: str) -> bool:
    """Return whether the engine asks for the jar."""
    try:
        spark.sql(statement)
    except Exception as error:  # noqa: BLE001 (py4j's: the error has no class of its own)
        return "[DELTA_MISSING_ICEBERG_CLASS]" in str(error)
    return False
