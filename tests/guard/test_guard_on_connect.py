"""Over Spark Connect the guard and the parser of expressions say what they say in a classic session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.guard_client import answers
from support.guard_tables import table_at

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_a_client_without_a_jvm_says_the_same(spark: SparkSession, connect: str, tmp_path: Path) -> None:
    path = table_at(tmp_path / "orders")
    spark.sql("CREATE DATABASE IF NOT EXISTS sales")
    spark.sql(f"CREATE TABLE sales.orders USING delta LOCATION '{path}'")
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()  # noqa: SLF001
    try:
        classic = answers(spark, path)
        before = scheduler.numTotalJobs()
        process = subprocess.run(
            [sys.executable, "-m", "support.guard_client", connect, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        )
        assert scheduler.numTotalJobs() == before
    finally:
        spark.sql("DROP TABLE sales.orders")
    assert process.returncode == 0, process.stderr
    connected = json.loads(process.stdout)
    assert "Spark does not analyze the data: [UNRESOLVED_COLUMN" in connected.pop("no such column")
    assert connected == classic
    assert len(set(classic.values())) > len(classic) / 2
