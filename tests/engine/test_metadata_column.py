"""Columns with the names of those that Spark and Delta add themselves: what CM008 says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from engine.record_logs import ACCEPTED, _outcome
from schemalint.delta.column_names import INTERNAL_COLUMNS

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

READ = "SELECT * FROM {t}"
DELETE = "DELETE FROM {t} WHERE id = 1"
MERGE = "MERGE INTO {t} t USING (SELECT 2 AS i) s ON t.id = s.i WHEN MATCHED THEN UPDATE SET t.id = 60"
AMBIGUOUS: Final = "AMBIGUOUS_REFERENCE"
MISSING: Final = "MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_APPEAR_IN_OPERATION"
FAILED: Final = "another error"

# Which of reading, DELETE and MERGE fail, by name, type and whether deletion vectors are on.
OUTCOMES: Final = {
    ("_metadata", "STRING", True): (ACCEPTED, AMBIGUOUS, AMBIGUOUS),
    ("_metadata", "STRING", False): (ACCEPTED, ACCEPTED, ACCEPTED),
    ("_METADATA", "STRING", True): (ACCEPTED, AMBIGUOUS, AMBIGUOUS),
    ("other", "STRING", True): (ACCEPTED, ACCEPTED, ACCEPTED),
    ("_tmp_metadata_row_index", "STRING", False): (FAILED, FAILED, FAILED),
    ("_TMP_metadata_row_index", "STRING", True): (ACCEPTED, FAILED, FAILED),
    ("__delta_internal_is_row_deleted", "STRING", False): (FAILED, FAILED, FAILED),
    ("deletionVectorId", "STRING", True): (ACCEPTED, AMBIGUOUS, AMBIGUOUS),
    ("deletionVectorId", "STRING", False): (ACCEPTED, ACCEPTED, ACCEPTED),
    ("_source_row_present_", "STRING", False): (ACCEPTED, ACCEPTED, AMBIGUOUS),
    ("_target_row_present_", "STRING", False): (ACCEPTED, ACCEPTED, MISSING),
    ("_row_dropped_", "STRING", False): (ACCEPTED, ACCEPTED, AMBIGUOUS),
    ("__delta_internal_row_index", "STRING", True): (ACCEPTED, ACCEPTED, ACCEPTED),
}
ASKED_EACH_TIME: Final = {("_metadata", True), ("other", True), ("_source_row_present_", False)}


def test_each_name_of_the_table_is_asked() -> None:
    assert {*INTERNAL_COLUMNS} <= {name.lower() for name, _type, _vectors in OUTCOMES}


@pytest.mark.spark
@pytest.mark.parametrize(
    "column",
    [
        pytest.param(each, marks=() if (each[0], each[2]) in ASKED_EACH_TIME else pytest.mark.engine)
        for each in OUTCOMES
    ],
)
def test_what_fails_beside_a_column_of_the_name(
    spark: SparkSession, tmp_path: Path, column: tuple[str, str, bool]
) -> None:
    name, type_, vectors = column
    table = make(spark, tmp_path, name, type_, vectors=vectors)
    outcomes = [_outcome(spark, statement.replace("{t}", table)) for statement in (READ, DELETE, MERGE)]
    named = (ACCEPTED, AMBIGUOUS, MISSING)
    assert tuple(each if each in named else FAILED for each in outcomes) == OUTCOMES[column]


@pytest.mark.spark
def test_of_one_name_positions_are_read_in_place_of_values(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path, "_tmp_metadata_row_index", "BIGINT", vectors=False)
    rows = spark.sql(f"SELECT * FROM {table} ORDER BY id").collect()
    assert [tuple(row) for row in rows] == [(id_, id_) for id_ in range(4)]  # not (id, 10 * id)


def make(spark: SparkSession, folder: Path, name: str, type_: str, *, vectors: bool) -> str:
    """Create a table with a file of four rows; return it for statements."""
    table = f"delta.`{folder}/t`"
    properties = f"'delta.enableDeletionVectors' = '{str(vectors).lower()}'"
    spark.sql(f"CREATE TABLE {table} (id INT, {name} {type_}) USING delta TBLPROPERTIES ({properties})")
    rows = f"SELECT /*+ COALESCE(1) */ CAST(id AS INT), CAST(10 * id AS {type_}) FROM range(4)"
    spark.sql(f"INSERT INTO {table} {rows}")
    return table
