"""Locations that look like something else: Spark and schemalint address the same table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.planner.statements import path_table
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

NAMES = ("at@v1", "at@20260101000000000", "q?mark", "a%20b", "h#ash", "p+lus", "curl{x}", "st*r", "tick`t")


@pytest.mark.each_time
def test_a_location_is_taken_literally(spark: SparkSession, tmp_path: Path) -> None:
    for name in NAMES:
        table = f"{tmp_path}/{name}"
        spark.sql(f"CREATE TABLE {path_table(table)} (a INT) USING delta")
        spark.sql(f"ALTER TABLE {path_table(table)} ADD COLUMNS (b INT)")
        live = read_table(table)
        assert (live.uri, live.version) == (table, 1), name
        assert [field.name for field in live.state.columns.fields] == ["a", "b"], name
    assert sorted(folder.name for folder in tmp_path.iterdir()) == sorted(NAMES)


def test_a_version_at_the_end_counts_only_if_nothing_is_there(spark: SparkSession, tmp_path: Path) -> None:
    table, literal = f"{tmp_path}/at", f"{tmp_path}/at@v0"
    spark.sql(f"CREATE TABLE {path_table(table)} (a INT) USING delta")
    spark.sql(f"ALTER TABLE {path_table(literal)} ADD COLUMNS (b INT)")  # alters the table before the @
    assert read_table(table).version == 1
    assert spark.table(path_table(literal)).columns == ["a"]
    spark.sql(f"CREATE TABLE {path_table(literal)} (z INT) USING delta")  # creates, whatever is before the @
    spark.sql(f"ALTER TABLE {path_table(literal)} ADD COLUMNS (y INT)")
    assert [field.name for field in read_table(literal).state.columns.fields] == ["z", "y"]
    assert read_table(table).version == 1
