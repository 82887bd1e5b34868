"""A plan file that was killed at any point goes on; ``make record`` does the same for all plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.record_kills import SCHEMA, kill, killed_plans
from support.sampling import left_to

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PLANS = killed_plans()
OF_EACH_CLASS = (
    "ring-with-drop-and-widening",
    "clustering-renamed-and-changed",
    "features-added",
    "managed-by-name",
    "create",
    "row-tracking-dropped",
)


@pytest.mark.parametrize(
    "name",
    left_to(
        pytest.mark.kill,
        {name: name for name in OF_EACH_CLASS},
        except_for=("features-added", "create"),
    ),
)
def test_plan_file_killed_at_any_point_ends_in_the_declared_state_with_every_row(
    name: str, spark: SparkSession, tmp_path: Path
) -> None:
    try:
        kills = kill(PLANS[name], tmp_path / "repository", spark)
    finally:
        spark.sql(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")

    assert kills.statements >= 3
