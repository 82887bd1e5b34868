"""Which defaults, and which tables, Iceberg compatibility V3 takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint.delta.iceberg_defaults import is_iceberg_literal
from schemalint.delta.type_text import parse_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

V3: Final = "'delta.enableIcebergCompatV3' = 'true'"
DEFAULTS: Final = {
    "INT": ("5", "-5", "1 + 1", "(5)", "NULL", "'5'", "current_timestamp()"),
    "BIGINT": ("5L", "9999999999"),
    "TINYINT": ("5",),
    "SMALLINT": ("5S",),
    "STRING": ("'a'", '"a"', "''", r"'it\'s'", "'a' || 'b'", "r'a'", "NULL", "5", "concat('a', 'b')"),
    "DATE": ("'2020-01-31'", "'2020-1-31'", "DATE'2020-01-31'", "current_date()"),
    "TIMESTAMP": (
        *("'2020-01-01 00:00:00'", "'2020-01-01T00:00:00Z'", "'2020-01-01 00:00:00Z'", "'2020-01-01'"),
        *("TIMESTAMP'2020-01-01 00:00:00'", "current_timestamp()"),
    ),
    "TIMESTAMP_NTZ": ("'2020-01-01 00:00:00'", "TIMESTAMP_NTZ'2020-01-01 00:00:00'"),
    "BOOLEAN": ("true", "NULL"),
    "DOUBLE": ("1.5", "1e3", "1.5D"),
    "FLOAT": ("1.5F",),
    "DECIMAL(5,2)": ("1.5", "1.5BD", "1"),
    "BINARY": ("X'ab'", "'ab'"),
    "ARRAY<INT>": ("array(1)",),
}


def answer(spark: SparkSession, *statements: str) -> str:
    """Run statements on a new table, and return the first error, or nothing."""
    spark.sql("DROP TABLE IF EXISTS iceberg_defaults")
    try:
        for statement in statements:
            spark.sql(statement.replace("TABLE t", "TABLE iceberg_defaults"))
    except Exception as error:  # noqa: BLE001 (Delta's own has no class of Spark)
        return str(error)
    return ""


@pytest.mark.spark
def test_delta_takes_the_defaults_that_are_read_as_values(spark: SparkSession) -> None:
    features = f"{V3}, 'delta.feature.allowColumnDefaults' = 'supported'"
    for type_, defaults in DEFAULTS.items():
        for default in defaults:
            create = f"CREATE TABLE t (id INT, a {type_} DEFAULT {default}) USING delta"
            error = answer(spark, f"{create} TBLPROPERTIES ({features})")
            assert error == "" or "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_DATA_TYPE" in error, default
            assert (error == "") == is_iceberg_literal(default, parse_type(type_)), (type_, default)


@pytest.mark.spark
def test_row_tracking_is_off_before_a_table_gets_v3(spark: SparkSession) -> None:
    tracked = "'delta.columnMapping.mode' = 'name', 'delta.enableRowTracking' = 'true'"
    create = f"CREATE TABLE t (id INT) USING delta TBLPROPERTIES ({tracked})"
    alter = f"ALTER TABLE t SET TBLPROPERTIES ({V3})"
    assert "Please disable RowTracking first" in answer(spark, create, alter)
    unset = "ALTER TABLE t UNSET TBLPROPERTIES ('delta.enableRowTracking')"
    assert answer(spark, create, unset, alter) == ""
    assert answer(spark, create.replace("'true')", f"'true', {V3})")) == ""
