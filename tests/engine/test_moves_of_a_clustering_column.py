"""A clustering column that is moved behind those with statistics: why `plan --reorder` refuses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED, _outcome

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_no_move_follows_the_one_that_takes_the_statistics(spark: SparkSession, tmp_path: Path) -> None:
    table = f"delta.`{tmp_path}/t`"
    count = "'delta.dataSkippingNumIndexedCols'"
    spark.sql(
        f"CREATE TABLE {table} (a INT, b INT, c INT) USING delta CLUSTER BY (a) TBLPROPERTIES ({count} = '2')"
    )
    away, back = (f"ALTER TABLE {table} ALTER COLUMN a {where}" for where in ("AFTER c", "FIRST"))
    assert _outcome(spark, away) == ACCEPTED
    assert _outcome(spark, back) == "DELTA_CLUSTERING_COLUMN_MISSING_STATS"
    assert _outcome(spark, f"ALTER TABLE {table} SET TBLPROPERTIES ({count} = '3')") == ACCEPTED
    assert _outcome(spark, back) == ACCEPTED
