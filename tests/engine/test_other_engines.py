"""Delta Spark refuses to set the properties of other engines, and removes any property: TP008."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.engine import DELTA_SPARK
from schemalint.delta.properties import PROPERTIES

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

OTHERS = sorted(key for key, row in PROPERTIES.items() if row.engine != DELTA_SPARK)


@pytest.mark.spark
def test_properties_of_other_engines_are_unknown_to_delta_spark(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    table = f"delta.`{tmp_path / 'table'}`"
    spark.sql(f"CREATE TABLE {table} (id INT) USING delta")
    assert OTHERS
    for key in OTHERS:
        with pytest.raises(PySparkException, match="DELTA_UNKNOWN_CONFIGURATION"):
            spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('{key}' = 'true', 'team' = 'sales')")
        spark.sql(f"ALTER TABLE {table} UNSET TBLPROPERTIES ('{key}')")
    assert "team" not in {row["key"] for row in spark.sql(f"SHOW TBLPROPERTIES {table}").collect()}
    with pytest.raises(PySparkException, match="DELTA_UNKNOWN_CONFIGURATION"):
        spark.sql(
            f"CREATE TABLE delta.`{tmp_path / 'new'}` (id INT) USING delta "
            f"TBLPROPERTIES ('{OTHERS[0]}' = 'true')"
        )
