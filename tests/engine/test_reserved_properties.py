"""Spark refuses the reserved property keys of TP007, and only in their exact spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.properties import RESERVED

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

REFUSED = "UNSUPPORTED_FEATURE.SET_TABLE_PROPERTY"


def refusal(spark: SparkSession, statement: str) -> str | None:
    """Run a statement, and return the error class if the engine refuses it."""
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    try:
        spark.sql(statement)
    except PySparkException as error:
        return str(error.getCondition())
    return None


@pytest.mark.spark
def test_reserved_keys_are_refused_only_in_their_exact_spelling(spark: SparkSession, tmp_path: Path) -> None:
    table = f"delta.`{tmp_path / 'table'}`"
    spark.sql(f"CREATE TABLE {table} (id INT) USING delta")
    for key in sorted(RESERVED):
        expected = None if key == "comment" else REFUSED
        assert refusal(spark, f"ALTER TABLE {table} SET TBLPROPERTIES ('{key}' = 'x')") == expected, key
        assert refusal(spark, f"ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}')") == expected, key
        assert refusal(spark, f"ALTER TABLE {table} SET TBLPROPERTIES ('{key.title()}' = 'x')") is None, key
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('comment' = 'it says')")
    (detail,) = spark.sql(f"DESCRIBE DETAIL {table}").collect()
    assert detail["description"] == "it says"
    assert "comment" not in detail["properties"]
