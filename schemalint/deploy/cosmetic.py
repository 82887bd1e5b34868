"""Hold back steps that only change comments or the order of columns, where they would stop a stream."""

from __future__ import annotations

from typing import Final

from schemalint.config import Cosmetic
from schemalint.delta.change import CommentChanged, DescriptionChanged, FieldMoved
from schemalint.delta.streams import StreamVerdict, effect_on_stream
from schemalint.model.contract import Contract
from schemalint.model.plan import TablePlan
from schemalint.model.stream_report import is_tracked
from schemalint.planner import planned_commits
from schemalint.values import replace

_COSMETIC: Final = (CommentChanged, DescriptionChanged, FieldMoved)


def with_cosmetic_steps_waiting(plan: TablePlan, contract: Contract, cosmetic: Cosmetic) -> TablePlan:
    """Return the plan whose steps wait for the next change, if all are cosmetic and stop a tracked stream.

    The marker waits too: the table is not as declared yet.
    """
    if cosmetic == "now" or plan.live is None or not any(map(is_tracked, contract.consumers)):
        return plan
    changes = [change for step in plan.steps for change in step.changes]
    if plan.adds_features or not all(isinstance(change, _COSMETIC) for change in changes):
        return plan
    effect = effect_on_stream(planned_commits(plan), tracked=True, running=True)
    if effect.verdict is StreamVerdict.CONTINUES:
        return plan
    return replace(plan, steps=(), writes_marker=False, waiting=plan.steps)
