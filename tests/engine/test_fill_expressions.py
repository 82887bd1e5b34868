"""What the engine makes of texts and windows that no expression of a `backfill` may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.fill_expressions import fill_fault

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Days, so that a test of midnight sees one or the next.
OF_NOW = [
    "cast('now' as date)",
    "try_cast('today UTC' as timestamp)",
    "try_to_timestamp('now')",
    "date_add('today', 0)",
    "timestamp 'yesterday' + interval 1 day",
    "cast('no' r'w' as date)",
    r"cast('n\u006fw' as date)",
]


@pytest.mark.spark
@pytest.mark.each_time
def test_spark_makes_the_time_of_the_run_of_a_literal_but_not_of_a_value(spark: SparkSession) -> None:
    days = ", ".join(f"datediff({text}, current_date()) IN (-1, 0, 1)" for text in OF_NOW)
    of_row = "try_cast(code as timestamp)"
    row = spark.sql(f"SELECT {days}, {of_row} IS NULL FROM (VALUES ('now'), ('now')) AS t(code)").first()
    assert row is not None
    assert all(row)
    assert all(fill_fault(text) for text in OF_NOW)
    assert fill_fault(of_row) is None


@pytest.mark.spark
def test_spark_has_no_window_of_a_function_that_fills(spark: SparkSession) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    text = "upper(code) OVER ()"
    with pytest.raises(PySparkException, match="UNSUPPORTED_EXPR_FOR_WINDOW"):
        spark.sql(f"SELECT {text} FROM (VALUES ('a')) AS t(code)").collect()
    assert fill_fault(text) is not None
