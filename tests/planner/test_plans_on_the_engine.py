"""Spark carries out the plans of the histories of `test_plan_properties` on real tables.

`make engine` tries 200 histories; `make test` tries the pairs of `test_pairs_on_the_engine` instead.
"""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from schemalint.delta.datatype import Struct, field_at, walk_fields
from schemalint.delta.path import Path as ColumnPath
from schemalint.delta.path import lowercased
from schemalint.delta.table import LiveTable
from schemalint.model.column_tracking import track_columns
from schemalint.planner import PlanOptions, pending_changes, plan_table
from support.effective import counting
from support.history_strategies import TableHistory, paths_by_identity, table_histories
from support.logs import read_live

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

PLANS = int(os.environ.get("SCHEMALINT_ENGINE_PLANS", "40"))
SEED = 20261121


@pytest.mark.spark
@pytest.mark.engine
def test_engine_carries_out_every_plan(session: SparkSession, tmp_path: Path) -> None:
    numbers = count()

    @seed(SEED)
    @settings(
        max_examples=PLANS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(table_histories())
    def check(history: TableHistory) -> None:
        number = next(numbers)
        assert_is_carried_out(session, history, str(tmp_path / str(number)), reorder=number % 2 == 1)

    check()


def assert_is_carried_out(
    spark: SparkSession, history: TableHistory, location: str, *, reorder: bool
) -> None:
    """Assert that the log holds the declaration, with the expected commits, and no column is mixed up."""
    for step in plan_table(counting(history.made), None, location).steps:
        spark.sql(step.sql)
    before = _read(location)
    states = [revision.state for revision in history.revisions]
    options = PlanOptions(track_columns(before.state.columns, states), reorder=reorder)
    plan = plan_table(counting(history.contract), before, location, options=options)
    assume(not plan.refusals)
    for step in plan.steps:
        spark.sql(step.sql)
    after = _read(location)
    assert pending_changes(counting(history.contract), after.state, PlanOptions(reorder=reorder)) == ()
    assert after.version == before.version + sum(step.commits for step in plan.steps)
    physical_names = _physical_names(after.state.columns)
    declared = paths_by_identity(history.contract.state.columns)
    for identity, path in paths_by_identity(history.live.state.columns).items():
        field = field_at(before.state.columns, path)
        if field is not None and identity in declared:
            assert physical_names[lowercased(declared[identity])] == (field.physical_name or field.name)


def _physical_names(columns: Struct) -> dict[ColumnPath, str]:
    """Return the physical names; a column created without column mapping has its first name."""
    return {lowercased(path): field.physical_name or field.name for path, field in walk_fields(columns)}


def _read(location: str) -> LiveTable:
    table = read_live(location)
    assert table is not None
    return table
