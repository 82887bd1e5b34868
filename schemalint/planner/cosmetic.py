"""Steps that only change comments or the order of columns, which can wait where they would stop a stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemalint.delta.change import CommentChanged, DescriptionChanged, FieldMoved
from schemalint.delta.streams import StreamVerdict, effect_on_stream
from schemalint.model.consumer import Consumer
from schemalint.model.plan import TablePlan
from schemalint.model.stream_report import is_tracked
from schemalint.planner.stream_commits import planned_commits

_COSMETIC: Final = (CommentChanged, DescriptionChanged, FieldMoved)


def only_stops_streams(plan: TablePlan, consumers: Iterable[Consumer]) -> bool:
    """Return whether all steps of a live table are cosmetic, and they stop one of its tracked streams."""
    if plan.live is None or not any(map(is_tracked, consumers)):
        return False
    changes = [change for step in plan.steps for change in step.changes]
    if plan.adds_features or not all(isinstance(change, _COSMETIC) for change in changes):
        return False
    effect = effect_on_stream(planned_commits(plan), tracked=True, running=True)
    return effect.verdict is not StreamVerdict.CONTINUES
