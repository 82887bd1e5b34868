"""Hold back steps that only change comments or the order of columns, where they would stop a stream."""

from __future__ import annotations

from schemalint.base.values import replace
from schemalint.model.contract import Contract
from schemalint.model.plan import TablePlan
from schemalint.planner import only_stops_streams
from schemalint.project.config import Cosmetic


def with_cosmetic_steps_waiting(plan: TablePlan, contract: Contract, cosmetic: Cosmetic) -> TablePlan:
    """Return the plan whose steps wait for the next change, if all are cosmetic and stop a tracked stream.

    The marker waits too: the table is not as declared yet.
    """
    if cosmetic == "now" or not only_stops_streams(plan, contract.consumers):
        return plan
    return replace(plan, steps=(), writes_marker=False, waiting=plan.steps)
