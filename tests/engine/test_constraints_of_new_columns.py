"""Delta refuses the constraints and the rows of which NC027 and NC028 say so: null is no true."""

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
def test_delta_refuses_what_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    (case,) = (case for case in load_cases() if case.id == "constraint-refuses-new-nulls/every-condition")
    (contract,) = contracts.read("orders.yaml", case.texts["after"]).contracts
    reported = {name: text or "" for name, text in contract.state.constraints.items() if name != "old"}
    assert {name for name, text in reported.items() if refused_nulls(text)} == reported.keys()
    table, columns = (
        f"delta.`{tmp_path}`",
        "id INT, s STRUCT<x: INT, y: INT>, n INT, b BOOLEAN, t STRUCT<z: STRING>",
    )
    spark.sql(f"CREATE TABLE {table} ({columns}) USING delta")
    row = f"INSERT INTO {table} (id, s) VALUES (1, named_struct('x', 1, 'y', NULL))"
    rows = {}
    for name in list(reported)[::3]:  # an empty table takes each
        spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT c CHECK ({reported[name]})")
        rows[name] = refusal(lambda: spark.sql(row))
        spark.sql(f"ALTER TABLE {table} DROP CONSTRAINT c")
    assert rows == dict.fromkeys(rows, "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES")
    spark.sql(row)
    refusals = {
        name: refusal(lambda: spark.sql(f"ALTER TABLE {table} ADD CONSTRAINT c CHECK ({text})"))  # noqa: B023 (it runs at once)
        for name, text in reported.items()
    }
    assert refusals == dict.fromkeys(reported, "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION")
