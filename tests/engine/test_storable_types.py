"""Spark confirms which types Delta cannot store, and when it loses the length of a char or varchar."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_logs import ACCEPTED, _outcome, log_text
from schemalint import contract
from schemalint.delta.change import FieldAdded
from schemalint.delta.datatype import STRING, Atomic, Field, Identity, Struct, Varchar, type_at
from schemalint.delta.diff import diff
from schemalint.delta.lengths import shifted_structs
from schemalint.delta.table import TableState
from schemalint.delta.type_text import parse_type, print_type
from schemalint.delta.widening import is_container, refusal
from schemalint.model.contract import Contract
from schemalint.planner.refusals import refused_changes
from schemalint.review.rulebook import load_rules
from schemalint.tables.storage import read_table
from support.effective import counting
from support.judging import judge_pair, judge_table
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


@pytest.mark.each_time("interval", "geometry(4326)")
@pytest.mark.parametrize("type_", TYPES)
def test_check_agrees_with_the_engine_on_new_columns(spark: SparkSession, tmp_path: Path, type_: str) -> None:
    text = f'schemalint: 1\ntable: a.b\ncolumns: [{{name: a, type: int}}, {{name: x, type: "{type_}"}}]\n'
    (declared,) = contract.read("c.yml", text).contracts
    reported = {finding.delta_error for finding in judge_pair(None, declared, load_rules())} - {None}
    assert reported == _refusal(spark, f"CREATE TABLE delta.`{tmp_path}/t` (a INT, x {type_}) USING delta")


def test_delta_computes_only_top_level_columns(spark: SparkSession, tmp_path: Path) -> None:
    fields = (
        Field("x", Atomic("boolean"), generated="id IS NULL"),
        Field("n", Atomic("long"), identity=Identity(5, 10)),
    )
    columns = (Field("id", Atomic("integer")), Field("s", Struct(fields)))
    write_log(tmp_path / "t", [[protocol(), metadata(*columns)]])
    spark.sql(f"INSERT INTO delta.`{tmp_path}/t` SELECT 1, named_struct('x', true, 'n', 7L)")
    assert spark.sql(f"SELECT s.x, s.n FROM delta.`{tmp_path}/t`").collect() == [(True, 7)]
    create = (
        f"CREATE TABLE delta.`{tmp_path}/new` (id INT, s STRUCT<x: BOOLEAN GENERATED ALWAYS AS (id IS NULL)>)"
    )
    assert _refusal(spark, f"{create} USING delta") == {"PARSE_SYNTAX_ERROR"}


@pytest.mark.parametrize("column", ["v VOID NOT NULL", "s STRUCT<a: INT, v: VOID NOT NULL>"])
def test_no_row_has_a_void_column_that_is_not_null(spark: SparkSession, tmp_path: Path, column: str) -> None:
    name = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {name} (id INT, {column}) USING delta")
    assert _outcome(spark, f"INSERT INTO {name} SELECT 1, NULL") == "DELTA_MISSING_NOT_NULL_COLUMN_VALUE"


@pytest.mark.each_time("struct<x: int>")
@pytest.mark.parametrize("old", ["void", "int", "string", "char(3)", "struct<x: int>", "array<int>"])
def test_spark_s_errors_for_a_column_that_becomes_another_kind_of_type(
    spark: SparkSession, tmp_path: Path, old: str
) -> None:
    name = f"delta.`{tmp_path}/t`"
    spark.sql(
        f"CREATE TABLE {name} (a INT, x {old}, s STRUCT<x: {old}, y: INT>) USING delta "
        "TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
    )
    kinds = ("interval", "interval day", "time(6)", "geometry(4326)", "geography(4326)")
    containers = ("struct<x: int, y: int>", "array<string>", "map<int, int>")
    for new in (*kinds, "string collate UNICODE_CI", *containers):
        old_type, new_type = parse_type(old), parse_type(new)
        if type(old_type) is type(new_type) and is_container(old_type):
            continue
        for nested in (False, True):
            column = "s.x" if nested else "x"
            answer = _refusal(spark, f"ALTER TABLE {name} ALTER COLUMN {column} TYPE {new}")
            assert answer == {refusal(old_type, new_type, nested=nested)}, (column, new)


NAMES = (
    "a", "_", "1a", "1_0", "select", "not", "1e", "1ll", "12", "1d", "1E5bd", "1e1f", "1l",
    "é", "1é", "名前", "a-b", "a-b-é", "a--b", "a-1", "-a", "a b", "a.b", "a`b", "a$b", "Ⅷ", "٣", "😀",
)  # fmt: skip


def test_check_knows_the_names_that_spark_cannot_read_beside_lengths(
    spark: SparkSession, tmp_path: Path
) -> None:
    rules = load_rules()
    for number, name in enumerate(NAMES):
        type_ = Struct((Field("s", Struct((Field(name, Atomic("integer")),))), Field("x", Varchar(3))))
        state = TableState(Struct((Field("c", type_),)), properties={"delta.columnMapping.mode": "name"})
        found = {finding.delta_error for finding in judge_pair(None, Contract("t", state), rules)} - {None}
        assert found == _refusal(
            spark,
            f"CREATE TABLE delta.`{tmp_path}/{number}` (c {print_type(type_)}) USING delta "
            "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')",
        ), name


def test_spark_cannot_read_a_table_with_such_a_name_and_a_length(spark: SparkSession, tmp_path: Path) -> None:
    name, error = f"delta.`{tmp_path}/t`", {"INVALID_IDENTIFIER"}
    spark.sql(f"CREATE TABLE {name} (a INT) USING delta")
    assert _refusal(spark, f"ALTER TABLE {name} ADD COLUMNS (c STRUCT<`x-y`: VARCHAR(3)>)") == set()
    assert _refusal(spark, f"SELECT * FROM {name}") == error
    assert _refusal(spark, f"INSERT INTO {name} (a) VALUES (1)") == error
    table = read_table(f"{tmp_path}/t")
    assert {finding.code for finding in judge_table(table, load_rules())} == {"TW013"}


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
    assert bool(list(refused_changes(intended, before, counting(Contract("t", after)), None))) is not kept


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


_DIFFERENT = "a: VARCHAR(2), b: INT, c: VARCHAR(4), last: INT"
_EQUAL = "a: VARCHAR(2), b: VARCHAR(2), c: INT"


SHIFTS = (
    (_DIFFERENT, "ADD COLUMNS (s.n INT)", "'a', 1, 'abcd', 2, 3"),
    (_DIFFERENT, "ADD COLUMNS (s.n INT FIRST)", "12345, 'a', 12345, 'abcd', 2"),
    (_DIFFERENT, "DROP COLUMN s.last", "'a', 1, 'abcd'"),
    (_DIFFERENT, "DROP COLUMN s.b", "'a', 'abcd', 12345"),
    (_DIFFERENT, "DROP COLUMNS (s.c, s.last)", "'a', 1"),
    (_DIFFERENT, "ALTER COLUMN s.c FIRST", "'abcd', 'a', 1, 2"),
    (_DIFFERENT, "ALTER COLUMN s.b AFTER c", "'a', 'abcd', 12345, 2"),
    (_DIFFERENT, "ALTER COLUMN s.last AFTER b", "'a', 1, 12345, 'abcd'"),
    (_DIFFERENT, "ALTER COLUMN s.b FIRST", "12345, 'a', 'abcd', 2"),
    (_EQUAL, "ALTER COLUMN s.b FIRST", "'ab', 'ab', 12345"),
    (_EQUAL, "ALTER COLUMN s.c AFTER a", "'ab', 12345, 'ab'"),
    (_EQUAL, "DROP COLUMN s.a", "'ab', 12345"),
)


@pytest.mark.each_time("ADD COLUMNS (s.n INT FIRST)")
@pytest.mark.parametrize(
    ("fields", "action", "row"),
    [
        pytest.param(*shift, id=shift[1], marks=() if number % 3 == 1 else pytest.mark.engine)
        for number, shift in enumerate(SHIFTS)
    ],
)
def test_spark_finds_lengths_by_position(
    spark: SparkSession, tmp_path: Path, fields: str, action: str, row: str
) -> None:
    name, location = f"delta.`{tmp_path}/t`", f"{tmp_path}/t"
    spark.sql(
        f"CREATE TABLE {name} (s STRUCT<{fields}>) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    before = read_table(location).state
    spark.sql(f"ALTER TABLE {name} {action}")
    after = read_table(location).state
    old, new = (type_at(state.columns, ("s",)) for state in (before, after))
    assert isinstance(old, Struct)
    assert isinstance(new, Struct)
    intended = Struct((Field("s", Struct(tuple(old.get(field.name) or field for field in new.fields))),))
    added = [change for change in diff(before, after) if isinstance(change, FieldAdded)]
    shifts = bool(shifted_structs(before.columns, intended, added))
    assert shifts is (_outcome(spark, f"INSERT INTO {name} SELECT struct({row})") != ACCEPTED)


def test_a_renamed_field_keeps_its_length(spark: SparkSession, tmp_path: Path) -> None:
    name, location = f"delta.`{tmp_path}/t`", f"{tmp_path}/t"
    spark.sql(
        f"CREATE TABLE {name} (s STRUCT<a: VARCHAR(2), b: STRING>) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    for old, new in (("a", "between"), ("b", "a"), ("between", "b")):
        spark.sql(f"ALTER TABLE {name} RENAME COLUMN s.{old} TO {new}")
    columns = read_table(location).state.columns
    assert (type_at(columns, ("s", "b")), type_at(columns, ("s", "a"))) == (Varchar(2), STRING)
    assert _outcome(spark, f"INSERT INTO {name} SELECT struct('ab', 'abc')") == ACCEPTED
    assert _outcome(spark, f"INSERT INTO {name} SELECT struct('abc', 'abc')") != ACCEPTED


def test_moving_fields_shifts_the_length_of_one_that_was_added_before(
    spark: SparkSession, tmp_path: Path
) -> None:
    name = f"delta.`{tmp_path}/t`"
    spark.sql(f"CREATE TABLE {name} (s STRUCT<x: INT, y: INT>) USING delta")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (s.added VARCHAR(3))")
    assert _outcome(spark, f"INSERT INTO {name} SELECT struct(1, 2, 'abcd')") != ACCEPTED
    spark.sql(f"ALTER TABLE {name} ALTER COLUMN s.x AFTER added")
    assert _outcome(spark, f"INSERT INTO {name} SELECT struct(2, 'abcd', 1)") == ACCEPTED
