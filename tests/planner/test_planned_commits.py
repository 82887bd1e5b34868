"""The commits that a plan expects are those that Delta writes, on tables with data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.stream_history import commits_since
from schemalint.delta.streams import effect_on_stream
from schemalint.model.column_tracking import track_columns
from schemalint.planner import PlanOptions, plan_table, planned_commits
from support.effective import counting
from support.logs import read_live
from support.sampling import some_of_each

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

HEAD: Final = "schemalint: 1\ntable: sales.orders\ncolumns:\n"
A: Final = "  - {name: a, type: int}\n"
B: Final = "  - {name: b, type: int}\n"
MAPPED: Final = "properties: {delta.columnMapping.mode: name}\n"
WIDENING: Final = "properties: {delta.enableTypeWidening: true}\n"
ROW_IDS: Final = "properties: {delta.enableRowTracking: true}\n"

PLANS: Final = {
    "rename and unmap": (
        HEAD + A + B + MAPPED,
        HEAD + A + "  - {name: z, type: int, renamed_from: b}\n" + MAPPED.replace("name}", "none}"),
    ),
    "unmap by dropping the feature": (HEAD + A + MAPPED, HEAD + A + "drop_features: [columnMapping]\n"),
    "row tracking": (HEAD + A, HEAD + A + ROW_IDS),
    "no row tracking": (HEAD + A + ROW_IDS, HEAD + A + "drop_features: [rowTracking]\n"),
    "widen and drop the feature": (
        HEAD + A + WIDENING,
        HEAD + A.replace("int}", "bigint}") + "drop_features: [typeWidening]\n",
    ),
    "default": (
        HEAD + A,
        HEAD + A.replace("int}", 'int, default: "1"}') + "features: [allowColumnDefaults]\n",
    ),
}


@pytest.mark.spark
@pytest.mark.each_time
def test_streams_meet_the_commits_that_the_plan_expects(spark: SparkSession, tmp_path: Path) -> None:
    for number, (name, (before, after)) in enumerate(some_of_each(PLANS.items(), lambda _: None, 3)):
        location = str(tmp_path / str(number))
        (old,), (new,) = (contracts.read("c.yml", text).contracts for text in (before, after))
        for step in plan_table(counting(old), None, location).steps:
            spark.sql(step.sql)
        spark.sql(f"INSERT INTO delta.`{location}` (a) VALUES (1)")
        live = read_live(location)
        assert live is not None
        tracking = track_columns(live.state.columns, [old.state, new.state])
        plan = plan_table(counting(new), live, location, options=PlanOptions(tracking))
        assert plan.steps, (name, plan.refusals)
        for step in plan.steps:
            spark.sql(step.sql)
        after_all = read_live(location)
        assert after_all is not None
        found = commits_since(after_all, live.version)
        assert found is not None
        planned = planned_commits(replace(plan, writes_marker=False))
        for tracked, running in ((True, True), (False, True), (False, False)):
            foreseen, effect = (
                effect_on_stream(commits, tracked=tracked, running=running) for commits in (planned, found)
            )
            assert foreseen == effect, (name, tracked, running)
