"""Delta Lake on Apache Spark, as the package delta-spark has it.

Spark fetches the jars of that version, as for every user of ``configure_spark_with_delta_pip``.
"""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Any

from pyspark.sql import SparkSession

from delta import configure_spark_with_delta_pip


def version() -> str:
    """Return the version of delta-spark."""
    return metadata.version("delta-spark")


@cache
def _spark() -> Any:  # noqa: ANN401 (Spark Connect has another class)
    builder = SparkSession.builder.master("local[1]").appName("schemalint probe")
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    return configure_spark_with_delta_pip(builder).getOrCreate()


def _load(path: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in _spark().read.format("delta").load(path).collect()]


READ_PATHS = {"": _load}
