"""A live table and its declaration -> the ordered statements between them."""

from __future__ import annotations

from schemalint.planner.plan import PlanOptions, pending, plan_table
from schemalint.planner.progress import (
    concurrent_changes,
    known_features,
    steps_behind,
    with_column_ids_of,
    wrongly_noted,
)
from schemalint.planner.simulate import describe_change, deviations, simulate

__all__ = [
    "PlanOptions",
    "concurrent_changes",
    "describe_change",
    "deviations",
    "known_features",
    "pending",
    "plan_table",
    "simulate",
    "steps_behind",
    "with_column_ids_of",
    "wrongly_noted",
]
