"""Delta Lake on Apache Spark, as the package delta-spark has it, or a platform without that package.

With the package, Spark fetches the jars of its version, as for every user of
``configure_spark_with_delta_pip``. A platform has Delta and its settings in ``spark-defaults.conf``.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import metadata
from typing import Any

from pyspark.sql import SparkSession

try:
    from delta import configure_spark_with_delta_pip
except ImportError:
    configure_spark_with_delta_pip = None

_SETTINGS = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}


def version() -> str:
    """Return the version of delta-spark, of the package or of the jar."""
    with suppress(metadata.PackageNotFoundError):
        return metadata.version("delta-spark")
    # The class of a Scala package object: its name is a keyword of Java.
    return str(getattr(_spark()._jvm.io.delta, "package").VERSION())  # noqa: B009, SLF001 (no Python API)


@cache
def _spark() -> Any:  # noqa: ANN401 (Spark Connect has another class)
    builder = SparkSession.builder.appName("probe")
    if configure_spark_with_delta_pip is None:
        return builder.getOrCreate()
    builder = builder.master("local[1]")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    return configure_spark_with_delta_pip(builder).getOrCreate()


def _load(path: str) -> list[dict[str, Any]]:
    return [row.asDict() for row in _spark().read.format("delta").load(path).collect()]


READ_PATHS = {"": _load}
