"""The casts that the ways out name, for each pair of types, as Spark has them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

import pytest

from schemalint.delta.casts import has_cast
from schemalint.delta.type_text import parse_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES: Final = (
    *("boolean", "tinyint", "bigint", "double", "decimal(10,2)", "string", "varchar(3)", "binary"),
    *("date", "timestamp", "timestamp_ntz", "variant", "array<int>", "array<boolean>", "array<date>"),
    *("map<string, int>", "map<string, date>", "map<int, int>"),
    *("struct<a: int>", "struct<b: bigint>", "struct<a: date>", "struct<a: int, b: int>"),
)
BEFORE: Final = tuple(type_ for type_ in TYPES if type_ != "varchar(3)")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("string", "struct<a: int>", False),
        ("map<string, int>", "struct<a: int>", False),
        ("boolean", "date", False),
        ("struct<a: int>", "string", True),
        ("int", "string", True),
        ("array<boolean>", "array<date>", False),
    ],
)
def test_pairs_of_which_reports_offered_a_cast(old: str, new: str, *, expected: bool) -> None:
    assert has_cast(parse_type(old), parse_type(new)) == expected


@pytest.mark.spark
def test_spark_has_the_casts_of_the_table_and_no_others(spark: SparkSession) -> None:
    from pyspark.errors import AnalysisException  # noqa: PLC0415 (only with Spark)

    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    different: list[str] = []
    for old, new in product(BEFORE, TYPES):
        query = f"SELECT CAST(c AS {new}) FROM (SELECT CAST(NULL AS {old}) AS c)"
        try:
            is_there = bool(spark.sql(query).schema)
        except AnalysisException:
            is_there = False
        if is_there != has_cast(parse_type(old), parse_type(new)):
            different.append(f"{old} to {new}: {is_there}")
    assert different == []
