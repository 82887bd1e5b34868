"""The engine as the tests of plans need it."""

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
    """Statements are taken as they are written, and each commit is one file: half of the time."""
    before = {key: spark.conf.get(key, None) for key in SETTINGS}
    for key, value in SETTINGS.items():
        spark.conf.set(key, value)
    yield spark
    for key, old in before.items():
        spark.conf.unset(key) if old is None else spark.conf.set(key, old)
