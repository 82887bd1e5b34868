"""A column with the name of the metadata that Spark adds to each file: what CM008 warns of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED, _outcome

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "vectors", "outcome"),
    [
        ("_metadata", "true", "AMBIGUOUS_REFERENCE"),
        ("_METADATA", "true", "AMBIGUOUS_REFERENCE"),
        ("_metadata", "false", ACCEPTED),
        ("other", "true", ACCEPTED),
    ],
)
def test_rows_cannot_be_deleted_with_deletion_vectors(
    spark: SparkSession, tmp_path: Path, name: str, vectors: str, outcome: str
) -> None:
    table = f"delta.`{tmp_path}/t`"
    properties = f"'delta.enableDeletionVectors' = '{vectors}', 'delta.enableRowTracking' = 'true'"
    spark.sql(f"CREATE TABLE {table} (id INT, {name} STRING) USING delta TBLPROPERTIES ({properties})")
    spark.sql(f"INSERT INTO {table} SELECT /*+ COALESCE(1) */ id, CAST(id AS STRING) FROM range(4)")
    assert _outcome(spark, f"DELETE FROM {table} WHERE id = 1") == outcome
