"""The same histories as in `test_plan_properties`, on real tables: what is planned is what Delta does.

Forty of them; ``SCHEMALINT_ENGINE_PLANS=200`` asks for so many (`make engine`).
"""

from __future__ import annotations

import os
from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, assume, given, seed, settings

from schemalint.catalog.target_tables import read_live
from schemalint.delta.datatype import Struct, field_at, walk_fields
from schemalint.delta.path import Path as ColumnPath
from schemalint.delta.path import lowercased
from schemalint.delta.table import LiveTable
from schemalint.model.column_tracking import track_columns
from schemalint.planner import PlanOptions, pending, plan_table
from support.history_strategies import World, identities, worlds

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

PLANS = int(os.environ.get("SCHEMALINT_ENGINE_PLANS", "40"))
SEED = 20261121


@pytest.mark.spark
def test_engine_does_what_is_planned(session: SparkSession, tmp_path: Path) -> None:
    numbers = count()

    @seed(SEED)
    @settings(
        max_examples=PLANS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(worlds())
    def check(world: World) -> None:
        place = str(tmp_path / str(next(numbers)))
        assert_is_carried_out(session, world, place)

    check()


def assert_is_carried_out(spark: SparkSession, world: World, place: str) -> None:
    """The log holds what is declared, every column is who it was, and a second plan is empty."""
    for step in plan_table(world.made, None, place).steps:
        spark.sql(step.sql)
    before = _read(place)
    states = [one.state for one in world.revisions]
    options = PlanOptions(track_columns(before.state.columns, states))
    plan = plan_table(world.contract, before, place, options=options)
    assume(not plan.refusals)
    for step in plan.steps:
        spark.sql(step.sql)
    after = _read(place)
    assert pending(world.contract, after.state) == ()
    assert after.version == before.version + sum(step.commits for step in plan.steps)
    here = _physical(after.state.columns)
    declared = identities(world.contract.state.columns)
    for who, path in identities(world.live.state.columns).items():
        known = field_at(before.state.columns, path)
        if known is not None and who in declared:
            assert here[lowercased(declared[who])] == (known.physical_name or known.name)


def _physical(columns: Struct) -> dict[ColumnPath, str]:
    """Without column mapping that is the name itself, and stays it when mapping comes on."""
    return {lowercased(path): field.physical_name or field.name for path, field in walk_fields(columns)}


def _read(place: str) -> LiveTable:
    table = read_live(place)
    assert table is not None
    return table
