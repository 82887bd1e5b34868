"""When Spark refuses the column names that the change data feed reserves: CM008 and the planner follow it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

FEED = "SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
EXISTS, ADDED = "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS", "RESERVED_CDC_COLUMNS_ON_WRITE"


def refusal(spark: SparkSession, statement: str) -> str | None:
    """Run a statement; return which of the two refusals it meets."""
    try:
        spark.sql(statement)
    except Exception as error:
        found = [name for name in (EXISTS, ADDED) if name in str(error)]
        if not found:
            raise
        return found[0]
    return None


@pytest.mark.spark
@pytest.mark.each_time
def test_feed_and_reserved_names_refuse_each_other_until_the_column_is_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = f"delta.`{tmp_path / 'table'}`"
    spark.sql(
        f"CREATE TABLE {table} (id INT, _commit_version BIGINT, _change_type STRING) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    assert refusal(spark, f"INSERT INTO {table} VALUES (1, 1, 'x')") is None
    assert refusal(spark, f"ALTER TABLE {table} {FEED}") == EXISTS
    assert refusal(spark, f"ALTER TABLE {table} DROP COLUMN _change_type") is None
    assert refusal(spark, f"ALTER TABLE {table} RENAME COLUMN _commit_version TO version") is None
    assert refusal(spark, f"ALTER TABLE {table} {FEED}") is None
    assert refusal(spark, f"ALTER TABLE {table} ADD COLUMN _commit_timestamp STRING") == ADDED
    assert refusal(spark, f"ALTER TABLE {table} RENAME COLUMN version TO _commit_version") == ADDED
    assert refusal(spark, f"ALTER TABLE {table} ADD COLUMN _CHANGE_TYPE STRING") is None
    assert refusal(spark, f"ALTER TABLE {table} ADD COLUMN s STRUCT<_change_type: STRING>") is None


@pytest.mark.spark
def test_table_of_another_writer_with_both_is_written_but_not_altered(
    spark: SparkSession, tmp_path: Path
) -> None:
    table, log = f"delta.`{tmp_path / 'table'}`", tmp_path / "table/_delta_log"
    log.mkdir(parents=True)
    fields = [
        {
            "name": name,
            "type": "string",
            "nullable": True,
            "metadata": {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": name},
        }
        for number, name in enumerate(("id", "_change_type"), 1)
    ]
    metadata = {
        "id": "00000000-0000-4000-8000-000000000000",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": [],
        "configuration": {
            "delta.enableChangeDataFeed": "true",
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": "2",
        },
    }
    actions = [{"protocol": {"minReaderVersion": 2, "minWriterVersion": 5}}, {"metaData": metadata}]
    (log / f"{0:020}.json").write_text("".join(json.dumps(action) + "\n" for action in actions))
    assert refusal(spark, f"INSERT INTO {table} VALUES ('1', 'x')") is None
    assert refusal(spark, f"UPDATE {table} SET id = '2'") is None
    assert refusal(spark, f"ALTER TABLE {table} SET TBLPROPERTIES ('team' = 'sales')") == ADDED
    assert refusal(spark, f"ALTER TABLE {table} ADD COLUMN b INT") == ADDED
    assert refusal(spark, f"ALTER TABLE {table} RENAME COLUMN _change_type TO kind") is None
    assert refusal(spark, f"ALTER TABLE {table} ADD COLUMN b INT") is None
