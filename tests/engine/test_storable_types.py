"""Spark confirms which types Delta cannot store, and when it loses the length of a char or varchar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED, _outcome, log_text
from schemalint import contract
from schemalint.delta.change import FieldAdded
from schemalint.delta.datatype import STRING, Field, Struct, Varchar, type_at
from schemalint.delta.diff import diff
from schemalint.delta.lengths import shifted_structs
from schemalint.lint.judge import judge_pair
from schemalint.lint.rulebook import load_rules
from schemalint.model.contract import Contract
from schemalint.planner.limits import refused_changes
from schemalint.storage import read_table
from support.logs import metadata, protocol, write_log
from support.short_logs import write_short_log

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
def test_check_agrees_with_the_engine_on_new_columns(spark: SparkSession, tmp_path: Path, type_: str) -> None:
    text = f'schemalint: 1\ntable: a.b\ncolumns: [{{name: a, type: int}}, {{name: x, type: "{type_}"}}]\n'
    (declared,) = contract.read("c.yml", text).contracts
    reported = {finding.delta_error for finding in judge_pair(None, declared, load_rules())} - {None}
    assert reported == _refusal(spark, f"CREATE TABLE delta.`{tmp_path}/t` (a INT, x {type_}) USING delta")


def test_only_dropping_a_column_that_delta_cannot_store_alters_the_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_short_log(log_text("type-not-storable/live-collation-with-mapping"), tmp_path / "t")
    table = f"ALTER TABLE delta.`{tmp_path}/t`"
    refused = {"DELTA_UNSUPPORTED_DATA_TYPES"}
    assert _refusal(spark, f"{table} ADD COLUMNS (z INT)") == refused
    assert _refusal(spark, f"{table} RENAME COLUMN d TO e") == refused
    assert _refusal(spark, f"{table} DROP COLUMN d") == set()


def _refusal(spark: SparkSession, statement: str) -> set[str | None]:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

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
def test_only_adding_a_field_with_a_length_loses_the_lengths(
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
    intended = [change for change in diff(before, after) if change.path != ("s", "a")]  # type: ignore[union-attr]
    assert bool(list(refused_changes(intended, before, Contract("t", after), None))) is not kept


def test_spark_takes_lengths_from_columns_and_not_from_fields_inside(
    spark: SparkSession, tmp_path: Path
) -> None:
    key = "__CHAR_VARCHAR_TYPE_STRING"
    inside = Struct((Field("a", STRING, extra=((key, '"varchar(2)"'),)),))
    columns = (Field("s", inside), Field("c", Varchar(2)))
    write_log(tmp_path / "t", [[protocol(), metadata(*columns)]])
    table = read_table(f"{tmp_path}/t")
    assert table is not None
    assert table.state.columns == Struct(columns)
    insert = f"INSERT INTO delta.`{tmp_path}/t` SELECT named_struct('a', 'abc')"
    assert not _refusal(spark, f"{insert}, 'ab'")
    with pytest.raises(Exception, match="DELTA_EXCEED_CHAR_VARCHAR_LIMIT"):
        spark.sql(f"{insert}, 'abc'")


@pytest.mark.parametrize(
    ("action", "row"),
    [
        ("ADD COLUMNS (s.n INT)", "'a', 1, 'abcd', 2, 3"),
        ("ADD COLUMNS (s.n INT FIRST)", "12345, 'a', 12345, 'abcd', 2"),
        ("DROP COLUMN s.last", "'a', 1, 'abcd'"),
        ("DROP COLUMN s.b", "'a', 'abcd', 12345"),
        ("DROP COLUMNS (s.c, s.last)", "'a', 1"),
        ("ALTER COLUMN s.c FIRST", "'abcd', 'a', 1, 2"),
        ("ALTER COLUMN s.b AFTER c", "'a', 'abcd', 12345, 2"),
        ("ALTER COLUMN s.last AFTER b", "'a', 1, 12345, 'abcd'"),
        ("ALTER COLUMN s.b FIRST", "12345, 'a', 'abcd', 2"),
    ],
)
def test_spark_finds_lengths_by_position(spark: SparkSession, tmp_path: Path, action: str, row: str) -> None:
    name, location = f"delta.`{tmp_path}/t`", f"{tmp_path}/t"
    spark.sql(
        f"CREATE TABLE {name} (s STRUCT<a: VARCHAR(2), b: INT, c: VARCHAR(4), last: INT>) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    before = read_table(location).state
    spark.sql(f"ALTER TABLE {name} {action}")
    after = read_table(location).state
    added = [change for change in diff(before, after) if isinstance(change, FieldAdded)]
    shifts = bool(shifted_structs(before.columns, after.columns, added))
    assert shifts is (_outcome(spark, f"INSERT INTO {name} SELECT struct({row})") != ACCEPTED)


def test_moving_fields_shifts_the_length_of_one_that_was_added_before(
    spark: SparkSession, tmp_path: Path
) -> None:
    name = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {name} (s STRUCT<x: INT, y: INT>) USING delta")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (s.added VARCHAR(3))")
    assert _outcome(spark, f"INSERT INTO {name} SELECT struct(1, 2, 'abcd')") != ACCEPTED
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN s.x AFTER added")
    assert _outcome(spark, f"INSERT INTO {name} SELECT struct(2, 'abcd', 1)") == ACCEPTED
