"""Casts that give another value without an error are those that the guard refuses, asked one of each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from pyspark.errors import PySparkException

from schemalint.delta.type_text import parse_type
from schemalint.delta.write_types import loses_in_silence, rounds

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VALUES: Final = [
    ("int", "boolean", "5"),
    ("double", "int", "1.7D"),
    ("float", "bigint", "float(1.7)"),
    ("timestamp", "bigint", "timestamp'2020-01-01 00:00:00.5'"),
    ("decimal(3,2)", "int", "1.75"),
    ("double", "decimal(10,1)", "1.26D"),
    ("decimal(3,2)", "decimal(10,1)", "1.26"),
    ("timestamp", "date", "timestamp'2020-01-01 10:00:00'"),
    ("timestamp_ntz", "date", "timestamp_ntz'2020-01-01 10:00:00'"),
    ("double", "float", "0.1D"),
    ("bigint", "double", "9007199254740993"),
    ("bigint", "float", "9007199254740993"),
    ("int", "float", "16777217"),
    ("decimal(16,0)", "double", "9007199254740993BD"),
    ("decimal(8,0)", "float", "16777217BD"),
    ("bigint", "int", "3000000000"),
    ("string", "int", "'x'"),
    ("decimal(11,0)", "int", "99999999999BD"),
]
"""A source and a target type, with a value that the target cannot hold."""


@pytest.mark.spark
@pytest.mark.parametrize(("source", "target", "value"), VALUES)
def test_spark_loses_in_silence_what_the_guard_says(
    spark: SparkSession, source: str, target: str, value: str
) -> None:
    (kind,) = spark.sql(f"SELECT {value} AS v").schema
    assert parse_type(kind.dataType.simpleString()) == parse_type(source)
    try:
        ((kept,),) = spark.sql(f"SELECT CAST(CAST({value} AS {target}) AS {source}) = {value}").collect()
        is_silent = not kept
    except PySparkException:
        is_silent = False
    types = parse_type(source), parse_type(target)
    assert (loses_in_silence(*types) or rounds(*types)) is is_silent
