"""Plan the ordered statements that bring a live table to its declaration."""

from __future__ import annotations

from schemalint.planner.fills.steps import with_size
from schemalint.planner.pending_changes import PlanOptions, pending_changes
from schemalint.planner.remaining_steps import (
    Remaining,
    columns_missing_noted_names,
    completed_steps,
    concurrent_changes,
    remaining_steps,
    with_column_ids_of,
    without_unplanned_features,
)
from schemalint.planner.simulate import describe_change, deviations, simulate
from schemalint.planner.stream_commits import only_stops_streams, planned_commits
from schemalint.planner.table_planner import after_interrupted_run, plan_table, refused_by_rules

__all__ = [
    "PlanOptions",
    "Remaining",
    "after_interrupted_run",
    "columns_missing_noted_names",
    "completed_steps",
    "concurrent_changes",
    "describe_change",
    "deviations",
    "only_stops_streams",
    "pending_changes",
    "plan_table",
    "planned_commits",
    "refused_by_rules",
    "remaining_steps",
    "simulate",
    "with_column_ids_of",
    "with_size",
    "without_unplanned_features",
]
