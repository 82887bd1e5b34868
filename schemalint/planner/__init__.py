"""A live table and its declaration -> the ordered statements between them."""

from __future__ import annotations

from schemalint.planner.plan import Wish, pending, plan_table
from schemalint.planner.progress import (
    known_features,
    meanwhile,
    steps_behind,
    with_numbers_of,
    wrongly_noted,
)
from schemalint.planner.simulate import moved, said, simulate

__all__ = [
    "Wish",
    "known_features",
    "meanwhile",
    "moved",
    "pending",
    "plan_table",
    "said",
    "simulate",
    "steps_behind",
    "with_numbers_of",
    "wrongly_noted",
]
