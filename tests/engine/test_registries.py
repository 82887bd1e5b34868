"""The rows of properties and features are those that Delta registers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from schemalint.delta.engine import DELTA_SPARK
from schemalint.delta.feature import FEATURES
from schemalint.delta.properties import PROPERTIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# Delta writes these keys for row tracking, but registers none of them.
UNREGISTERED = {
    "delta.rowTracking.materializedRowCommitVersionColumnName",
    "delta.rowTracking.materializedRowIdColumnName",
}


@pytest.mark.spark
@pytest.mark.each_time
def test_every_registered_property_has_a_row(spark: SparkSession) -> None:
    registered = {entry.key() for entry in _values(_delta(spark).DeltaConfigs.getAllConfigs())}
    of_spark = {key for key, row in PROPERTIES.items() if row.engine == DELTA_SPARK}
    assert of_spark == registered | UNREGISTERED


@pytest.mark.spark
@pytest.mark.each_time
def test_every_registered_feature_has_a_row(spark: SparkSession) -> None:
    registered = {entry.name() for entry in _values(_delta(spark).TableFeature.allSupportedFeaturesMap())}
    assert {row.name for row in FEATURES.values() if row.in_spark} == registered


def _delta(spark: SparkSession) -> Any:  # noqa: ANN401 (a package of the JVM)
    return spark.sparkContext._jvm.org.apache.spark.sql.delta  # noqa: SLF001


def _values(scala_map: Any) -> Iterator[Any]:  # noqa: ANN401 (an object of the JVM)
    values = scala_map.valuesIterator()
    while values.hasNext():
        yield values.next()
