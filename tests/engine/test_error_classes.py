"""`explain` knows the error classes of the released jars, and finds them in what the engine raises."""

from __future__ import annotations

import json
import re
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from schemalint.report.explain import advice_by_class, explain
from schemalint.review.rulebook import load_rules

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

# Words in the names of Spark's classes about schemas; the other 1200 are about something else.
ABOUT_SCHEMAS = re.compile(
    "COLUMN|FIELD|SCHEMA|CONSTRAINT|DEFAULT|IDENTITY|GENERATED|PARTITION|DATA_?TYPE|NULLABLE|NOT_NULL|"
    "(?<!BROAD)CAST|PROPERTY|TABLE_CHANGE|CLUSTER|DECIMAL|CHAR_OR_VARCHAR"
)
JAVA_EXCEPTION = re.compile("[A-Z][A-Za-z]+Exception")
_DELTA = "error/delta-error-classes.json"
_SPARK = "error/error-conditions.json"


@pytest.mark.spark
@pytest.mark.each_time
def test_every_error_class_of_delta_and_those_of_spark_about_schemas_have_a_row(spark: SparkSession) -> None:
    delta, engine = _released(spark, _DELTA), _released(spark, _SPARK)
    rows = {name.partition(".")[0] for name in advice_by_class() if not JAVA_EXCEPTION.fullmatch(name)}
    assert delta - rows == set()
    assert {name for name in engine if ABOUT_SCHEMAS.search(name)} - rows == set()
    assert rows - delta - engine == set()


ERRORS = """\
DELTA_UNSUPPORTED_RENAME_COLUMN: ALTER TABLE {plain} RENAME COLUMN id TO x
DELTA_UNSUPPORTED_DROP_COLUMN: ALTER TABLE {plain} DROP COLUMN id
DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP: ALTER TABLE {plain} ALTER COLUMN id TYPE string
NOT_SUPPORTED_CHANGE_COLUMN: ALTER TABLE {full} ALTER COLUMN s TYPE int
DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES: ALTER TABLE {plain} ADD COLUMNS (`a b` int)
DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE: ALTER TABLE {plain} DROP FEATURE nope
DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT: ALTER TABLE {plain} DROP FEATURE deletionVectors
DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE: ALTER TABLE {full} DROP FEATURE appendOnly
DELTA_CANNOT_DROP_CHECK_CONSTRAINT_FEATURE: ALTER TABLE {full} DROP FEATURE checkConstraints
WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED: ALTER TABLE {full} ALTER COLUMN name SET DEFAULT 'x'
DELTA_NOT_NULL_CONSTRAINT_VIOLATED: INSERT INTO {plain} VALUES (NULL, 'a')
DELTA_EXCEED_CHAR_VARCHAR_LIMIT: INSERT INTO {plain} VALUES (1, 'abcd')
DELTA_METADATA_MISMATCH: INSERT INTO {plain} VALUES (1, 'a', 2)
CAST_OVERFLOW_IN_TABLE_INSERT: INSERT INTO {full} (id, i, part) VALUES (1, 99999999999, 1)
DELTA_VIOLATE_CONSTRAINT_WITH_VALUES: INSERT INTO {full} (id, i, part) VALUES (1, 0, 1)
DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED: INSERT INTO {full} (id, idn, part) VALUES (1, 0, 1)
DELTA_CANNOT_MODIFY_APPEND_ONLY: DELETE FROM {plain} WHERE id = 1
DELTA_OPERATION_NOT_ALLOWED: ALTER TABLE {full} ADD COLUMNS (n int NOT NULL)
DELTA_UNSUPPORTED_DATA_TYPES: ALTER TABLE {full} ADD COLUMNS (n interval year)
FIELD_ALREADY_EXISTS: ALTER TABLE {full} ADD COLUMNS (ID int)
INVALID_FIELD_NAME: ALTER TABLE {full} ADD COLUMNS (name.x int)
DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN: ALTER TABLE {full} DROP COLUMN part
DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE: ALTER TABLE {full} DROP COLUMN i
DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE: ALTER TABLE {full} RENAME COLUMN id TO id2
DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA: ALTER TABLE {full} DROP COLUMN s.x
UNRESOLVED_COLUMN.WITH_SUGGESTION: ALTER TABLE {full} DROP COLUMN nope
DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED: ALTER TABLE {full} CLUSTER BY (id)
DELTA_CONSTRAINT_ALREADY_EXISTS: ALTER TABLE {full} ADD CONSTRAINT c CHECK (i > 1)
DELTA_NON_BOOLEAN_CHECK_CONSTRAINT: ALTER TABLE {full} ADD CONSTRAINT d CHECK (i + 1)
PARSE_SYNTAX_ERROR: ALTER TABLE {full} ADD CONSTRAINT d CHECK (i > )
DELTA_CONSTRAINT_DOES_NOT_EXIST: ALTER TABLE {full} DROP CONSTRAINT nope
DELTA_UNKNOWN_CONFIGURATION: ALTER TABLE {full} SET TBLPROPERTIES ('delta.nope' = '1')
DELTA_INVALID_INTERVAL: ALTER TABLE {full} SET TBLPROPERTIES ('delta.logRetentionDuration' = 'soon')
DELTA_UNSUPPORTED_FEATURE_STATUS: ALTER TABLE {full} SET TBLPROPERTIES ('delta.feature.typeWidening' = 'yes')
UNSUPPORTED_TABLE_CHANGE: ALTER TABLE {full} SET TBLPROPERTIES ('delta.minReaderVersion' = '9')
DELTA_ADD_CONSTRAINTS: ALTER TABLE {full} SET TBLPROPERTIES ('delta.constraints.x' = 'i > 1')
TABLE_OR_VIEW_ALREADY_EXISTS: CREATE TABLE {plain} (id int) USING delta
ALL_PARTITION_COLUMNS_NOT_ALLOWED: CREATE TABLE {new} (a int) USING delta PARTITIONED BY (a)
INVALID_PARTITION_COLUMN_DATA_TYPE: CREATE TABLE {new} (a int, b array<int>) USING delta PARTITIONED BY (b)
DELTA_NESTED_NOT_NULL_CONSTRAINT: CREATE TABLE {new} (a array<struct<b: int NOT NULL>>) USING delta
COLUMN_ALREADY_EXISTS: CREATE TABLE {new} (a int, A int) USING delta
DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION: CREATE TABLE {new} (a decimal(39,1)) USING delta
DELTA_CANNOT_RESTORE_TABLE_VERSION: RESTORE TABLE {plain} TO VERSION AS OF 99
DELTA_VERSION_NOT_FOUND: SELECT * FROM {plain} VERSION AS OF 99
PATH_NOT_FOUND: SELECT * FROM {new}
"""
"""A good sample of the errors that a statement can provoke."""


@pytest.mark.spark
def test_errors_that_the_engine_raises_are_explained(spark: SparkSession, tmp_path: Path) -> None:
    names = {name: f"delta.`{tmp_path}/{name}`" for name in ("plain", "full", "new")}
    plain = "CREATE TABLE {plain} (id bigint NOT NULL, v varchar(3)) USING delta TBLPROPERTIES ({})"
    spark.sql(plain.format("'delta.appendOnly' = 'true'", **names))
    full = (
        "CREATE TABLE {full} (id bigint, name string, i int, s struct<x: int>, part int,"
        " g bigint GENERATED ALWAYS AS (id + 1), idn bigint GENERATED ALWAYS AS IDENTITY) USING delta"
        " PARTITIONED BY (part) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    spark.sql(full.format(**names))
    spark.sql("ALTER TABLE {full} ADD CONSTRAINT c CHECK (i > 0)".format(**names))
    expected = {line.partition(": ")[2]: line.partition(": ")[0] for line in ERRORS.splitlines()}
    explained = {
        statement: _explained(spark.sql, statement.format(**names), wanted=error)
        for statement, error in expected.items()
    }
    assert explained == expected


@pytest.mark.spark
def test_errors_of_writes_and_streams_are_explained(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "table")
    table = f"delta.`{path}`"
    spark.sql(
        f"CREATE TABLE {table} (a int, b int) USING delta TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 2)")

    def append(query: str, **options: str) -> None:
        spark.sql(query).write.format("delta").mode("append").options(**options).save(path)

    def stream() -> None:
        query = (
            spark.readStream.format("delta")
            .load(path)
            .writeStream.format("noop")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

    def explained(action: Callable[[], object], wanted: str) -> bool:
        return _explained(action, wanted=wanted) == wanted

    assert explained(lambda: append("SELECT 1 AS a, 2 AS c"), "DELTA_METADATA_MISMATCH")
    array = "SELECT array(1) AS a, 2 AS c"
    assert explained(lambda: append(array, mergeSchema="true"), "DELTA_FAILED_TO_MERGE_FIELDS")
    old = spark.read.format("delta").load(path)
    stream()
    spark.sql(f"ALTER TABLE {table} DROP COLUMN b")
    assert explained(old.collect, "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS")
    assert explained(stream, "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG")


def _explained(action: Callable[..., object], *arguments: str, wanted: str) -> str:
    """Run something that fails; return the wanted error if `explain` finds it, else all that it finds."""
    try:
        action(*arguments)
    except Exception as error:  # noqa: BLE001 (pyspark raises many kinds)
        trace = "".join(traceback.format_exception(error)) + str(getattr(error, "_stackTrace", ""))
        found = [named.name for named in explain(trace, load_rules()).errors if named.advice is not None]
        return wanted if wanted in found else " ".join(found)
    return "no error"


def _released(spark: SparkSession, resource: str) -> set[str]:
    """Return the error classes that a jar of the session defines."""
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001
    stream = jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader().getResourceAsStream(resource)
    return set(json.loads(bytes(stream.readAllBytes())))
