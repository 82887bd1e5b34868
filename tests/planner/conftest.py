"""A Spark session for the tests of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

SETTINGS: Final[Mapping[str, str]] = {
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    "spark.sql.variable.substitute": "false",
}


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """Yield a session without variable substitution and without checksum files, which halves the time."""
    before = {key: spark.conf.get(key, None) for key in SETTINGS}
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    yield spark
    for key, old in before.items():
        spark.conf.unset(key) if old is None else spark.conf.set(key, old)
