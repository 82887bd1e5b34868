"""Delta refuses each constraint of which NC027 says that no row with a null satisfies it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_types import refusal
from schemalint import contract as contracts
from schemalint.delta.conditions import refused_nulls
from support.rule_cases import load_cases

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_delta_refuses_what_is_reported_of_a_table_with_a_row(spark: SparkSession, tmp_path: Path) -> None:
    (case,) = (case for case in load_cases() if case.id == "constraint-refuses-new-nulls/every-condition")
    (contract,) = contracts.read("orders.yaml", case.texts["after"]).contracts
    table = f"delta.`{tmp_path}`"
    spark.sql(f"CREATE TABLE {table} (id INT, s STRUCT<x: INT>) USING delta")
    spark.sql(f"INSERT INTO {table} VALUES (1, named_struct('x', 1))")
    spark.sql(f"ALTER TABLE {table} ADD COLUMNS (s.y INT, n INT, b BOOLEAN, t STRUCT<z: STRING>)")
    reported = {name: text or "" for name, text in contract.state.constraints.items() if name != "old"}
    assert {name for name, text in reported.items() if refused_nulls(text)} == reported.keys()
    refusals = {
        name: refusal(lambda: spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT c CHECK ({text})"))  # noqa: B023 (it runs at once)
        for name, text in reported.items()
    }
    assert refusals == dict.fromkeys(reported, "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION")
