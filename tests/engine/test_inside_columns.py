"""Spark cannot change the nullability of elements and values, and loses lengths when another one is added."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.delta.datatype import INTEGER, Array, Map, Struct, Varchar, type_at
from schemalint.tables.storage import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

LOOSENED = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"
TIGHTENED = "_LEGACY_ERROR_TEMP_2330"


def refusal(spark: SparkSession, statement: str) -> str | None:
    """Run a statement, and return the error class if the engine refuses it."""
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    try:
        spark.sql(statement)
    except PySparkException as error:
        return str(error.getCondition())
    return None


def columns(location: Path) -> Struct:
    table = read_table(str(location))
    assert table is not None
    return table.state.columns


@pytest.mark.spark
def test_no_statement_changes_the_nullability_of_elements_and_values(
    spark: SparkSession, tmp_path: Path
) -> None:
    from delta.tables import DeltaTable  # noqa: PLC0415 (only with Spark)
    from pyspark.sql import types  # noqa: PLC0415

    array, map_ = types.ArrayType, types.MapType
    schema = types.StructType(
        [
            types.StructField("a", array(types.IntegerType(), containsNull=False)),
            types.StructField("m", map_(types.StringType(), types.IntegerType(), valueContainsNull=False)),
            types.StructField("n", array(types.IntegerType())),
            types.StructField("k", map_(types.StringType(), types.IntegerType())),
        ]
    )
    DeltaTable.create(spark).location(str(tmp_path / "t")).addColumns(schema).execute()
    before = columns(tmp_path / "t")
    assert type_at(before, ("a",)) == Array(INTEGER, contains_null=False)
    table = f"delta.`{tmp_path / 't'}`"
    for path in ("a.element", "m.value"):
        assert refusal(spark, f"ALTER TABLE {table} ALTER COLUMN {path} DROP NOT NULL") == LOOSENED
    for path in ("n.element", "k.value"):
        assert refusal(spark, f"ALTER TABLE {table} ALTER COLUMN {path} SET NOT NULL") == TIGHTENED
    replacement = "a ARRAY<INT>, m MAP<STRING, INT>, n ARRAY<INT>, k MAP<STRING, INT>"
    assert refusal(spark, f"ALTER TABLE {table} REPLACE COLUMNS ({replacement})") is None
    assert columns(tmp_path / "t") == before
    assert isinstance(type_at(before, ("m",)), Map)
    for type_ in ("ARRAY<INT NOT NULL>", "MAP<STRING, INT NOT NULL>"):
        created = refusal(spark, f"CREATE TABLE delta.`{tmp_path / 'new'}` (a {type_}) USING delta")
        added = refusal(spark, f"ALTER TABLE {table} ADD COLUMNS (z {type_})")
        assert (created, added) == ("PARSE_SYNTAX_ERROR", "PARSE_SYNTAX_ERROR")


@pytest.mark.spark
@pytest.mark.each_time
def test_new_length_inside_a_column_replaces_the_others(spark: SparkSession, tmp_path: Path) -> None:
    table = f"delta.`{tmp_path / 't'}`"
    spark.sql(f"CREATE TABLE {table} (s STRUCT<x: VARCHAR(3), y: INT>) USING delta")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (s.w STRING)")
    assert type_at(columns(tmp_path / "t"), ("s", "x")) == Varchar(3)
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (s.z VARCHAR(5))")
    after = columns(tmp_path / "t")
    assert type_at(after, ("s", "z")) == Varchar(5)
    assert type_at(after, ("s", "x")) != Varchar(3)
