"""A live table and its declaration -> the ordered statements between them."""

from __future__ import annotations

from schemalint.planner.plan import Wish, pending, plan_table
from schemalint.planner.simulate import moved, simulate

__all__ = ["Wish", "moved", "pending", "plan_table", "simulate"]
