"""Spark refuses invalid values of properties with the error classes that `value_refusal` names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from schemalint.delta.requests import value_refusal

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

INVALID = {
    "delta.isolationLevel": ("", "x", " WriteSerializable", "WriteSerializable", "SNAPSHOTISOLATION"),
    "delta.logRetentionDuration": ("", "x", "20", "1 monthly", "1 month", "interval 2 YEARS 1 day", "-1 day"),
    "delta.checkpointInterval": ("x", "0"),
}


@pytest.mark.spark
@pytest.mark.each_time
def test_invalid_values_are_refused_with_the_error_class_that_check_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # noqa: PLC0415 (only with Spark)
    from pyspark.errors import PySparkException  # noqa: PLC0415 (as above)

    table = f"delta.`{tmp_path / 'table'}`"
    spark.sql(f"CREATE TABLE {table} (id INT) USING delta")
    for key, values in INVALID.items():
        for value in values:
            with pytest.raises((Py4JJavaError, PySparkException)) as refused:
                spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{key}' = '{value}')")
            error_class = re.search(r"\[([A-Z_]+)\]", str(refused.value))
            assert error_class is not None, (key, value)
            assert error_class.group(1) == value_refusal(key, value), (key, value)
