"""Types that Delta does not store, and lengths that it loses: the engine is asked for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint import contract
from schemalint.delta.datatype import STRING, Varchar, type_at
from schemalint.delta.diff import diff
from schemalint.lint.judge import judge_pair
from schemalint.lint.rulebook import load_rules
from schemalint.model.contract import Contract
from schemalint.planner.limits import refused_changes
from schemalint.storage import read_table

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TYPES = (
    "time(6)",
    "interval",
    "interval day to second",
    "interval year to month",
    "array<interval day>",
    "geometry(4326)",
    "geography(4326)",
    "string collate UNICODE_CI",
    "struct<a: string collate UTF8_LCASE>",
    "string collate UTF8_BINARY",
    "variant",
    "map<string,array<binary>>",
)


@pytest.mark.parametrize("type_", TYPES)
def test_verdict_is_the_engine_s(spark: SparkSession, tmp_path: Path, type_: str) -> None:
    text = f'schemalint: 1\ntable: a.b\ncolumns: [{{name: a, type: int}}, {{name: x, type: "{type_}"}}]\n'
    (declared,) = contract.read("c.yml", text).contracts
    named = {one.delta_error for one in judge_pair(None, declared, load_rules())} - {None}
    assert named == _refusal(spark, f"CREATE TABLE delta.`{tmp_path}/t` (a INT, x {type_}) USING delta")


def _refusal(spark: SparkSession, statement: str) -> set[str | None]:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only where the engine is there)

    try:
        spark.sql(statement).collect()
    except PySparkException as error:
        return {error.getCondition()}
    return set()


@pytest.mark.parametrize(
    ("action", "kept"),
    [
        ("ADD COLUMNS (s.q INT)", True),
        ("ADD COLUMNS (s.q STRING)", True),
        ("ALTER COLUMN s.b TYPE BIGINT", True),
        ("ADD COLUMNS (s.q VARCHAR(5))", False),
        ("ADD COLUMNS (s.q STRUCT<z: CHAR(2)>)", False),
    ],
)
def test_lengths_are_lost_only_by_a_new_field_with_a_length(
    spark: SparkSession, tmp_path: Path, action: str, *, kept: bool
) -> None:
    spark.sql(
        f"CREATE TABLE delta.`{tmp_path}/t` (s STRUCT<a: VARCHAR(3), b: INT>) USING delta "
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    )
    before = read_table(f"{tmp_path}/t").state
    spark.sql(f"ALTER TABLE delta.`{tmp_path}/t` {action}")
    after = read_table(f"{tmp_path}/t").state
    assert type_at(after.columns, ("s", "a")) == (Varchar(3) if kept else STRING)
    meant = [one for one in diff(before, after) if one.path != ("s", "a")]  # type: ignore[union-attr]
    assert bool(list(refused_changes(meant, before, Contract("t", after), None))) is not kept
