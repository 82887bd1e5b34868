"""Spark accepts a manifest beside column mapping, then fails every write after its commit: TP003 says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from support.judging import judge_pair
from support.rule_judging import built_in

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

MANIFEST = {"delta.compatibility.symlinkFormatManifest.enabled": "true"}
REFUSED = "DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING"


def create(spark: SparkSession, table: str, properties: dict[str, str]) -> None:
    listed = ", ".join(f"'{key}' = '{value}'" for key, value in properties.items())
    spark.sql(f"CREATE TABLE {table} (id INT) USING delta TBLPROPERTIES ({listed})")


def verdict(properties: dict[str, str]) -> list[str | None]:
    listed = ", ".join(f"{key}: '{value}'" for key, value in properties.items())
    text = f"schemalint: 1\ntable: a.b\ncolumns: [{{name: id, type: int}}]\nproperties: {{{listed}}}\n"
    (declared,) = contracts.read("c.yaml", text).contracts
    return [finding.delta_error for finding in judge_pair(None, declared, [built_in()["property-conflict"]])]


@pytest.mark.spark
def test_every_write_with_a_manifest_and_column_mapping_fails_after_its_commit(
    spark: SparkSession, tmp_path: Path
) -> None:
    from pyspark.errors import PySparkException  # noqa: PLC0415 (only with Spark)

    for mode in ("name", "id"):
        properties, table = {**MANIFEST, "delta.columnMapping.mode": mode}, f"delta.`{tmp_path / mode}`"
        create(spark, table, properties)
        for attempt in (1, 2):
            with pytest.raises(PySparkException, match=REFUSED):
                spark.sql(f"INSERT INTO {table} VALUES (1)")
            assert spark.table(table).count() == attempt, "the failed statement wrote its row"
        spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('team' = 'sales')")
        assert verdict(properties) == [REFUSED]


@pytest.mark.spark
def test_manifest_agrees_with_other_features(spark: SparkSession, tmp_path: Path) -> None:
    table = f"delta.`{tmp_path / 'table'}`"
    properties = {
        **MANIFEST,
        "delta.columnMapping.mode": "none",
        "delta.enableChangeDataFeed": "true",
        "delta.enableInCommitTimestamps": "true",
        "delta.enableRowTracking": "true",
        "delta.enableTypeWidening": "true",
    }
    create(spark, table, properties)
    spark.sql(f"INSERT INTO {table} VALUES (1)")
    assert spark.table(table).count() == 1
    assert verdict(properties) == []
