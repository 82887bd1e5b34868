"""What a new column does to the statements of writers that do not know it; `plan` says so as a risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.spark.statements import StatementError, run

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MERGE = "MERGE INTO {table} t USING old s ON t.id = s.id WHEN MATCHED THEN UPDATE SET {set}"
FAIL = {
    "INSERT INTO {table} SELECT id, a FROM old": "DELTA_INSERT_COLUMN_ARITY_MISMATCH",
    "INSERT INTO {table} VALUES (3, 'z')": "DELTA_INSERT_COLUMN_ARITY_MISMATCH",
    MERGE.replace("{set}", "*"): "DELTA_MERGE_UNRESOLVED_EXPRESSION",
    "MERGE INTO {table} t USING old s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *": (
        "DELTA_MERGE_UNRESOLVED_EXPRESSION"
    ),
}
GO_ON = (
    "INSERT INTO {table} (id, a) SELECT id, a FROM old WHERE id = 3",
    "INSERT INTO {table} BY NAME SELECT id, a FROM old WHERE id = 3",
    MERGE.replace("{set}", "a = s.a"),
)


def test_writers_that_name_no_columns_fail_and_those_that_name_them_go_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = f"delta.`{tmp_path}`"
    spark.sql(f"CREATE TABLE {table} (id int, a string) USING delta")
    spark.sql(f"INSERT INTO {table} VALUES (1, 'x')")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (b int)")
    spark.sql(f"UPDATE {table} SET b = 7")
    spark.sql("CREATE OR REPLACE TEMP VIEW old AS SELECT 1 AS id, 'new' AS a UNION ALL SELECT 3, 'z'")
    for statement, condition in FAIL.items():
        with pytest.raises(StatementError, match=condition):
            run(spark, statement.format(table=table))
    for statement in GO_ON:
        run(spark, statement.format(table=table))
    spark.table("old").where("id = 3").write.format("delta").mode("append").save(str(tmp_path))
    rows = sorted(tuple(row) for row in spark.sql(f"SELECT id, a, coalesce(b, 0) FROM {table}").collect())
    assert rows == [(1, "new", 7), (3, "z", 0), (3, "z", 0), (3, "z", 0)]
