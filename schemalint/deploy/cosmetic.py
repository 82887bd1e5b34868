"""Hold back steps that only change comments or the order of columns, where they would stop a stream."""

from __future__ import annotations

from typing import Final

from schemalint.config import Cosmetic
from schemalint.delta.change import CommentChanged, DescriptionChanged, FieldMoved
from schemalint.delta.streams import stops_tracked_streams
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract
from schemalint.model.plan import TablePlan
from schemalint.values import replace

_COSMETIC: Final = (CommentChanged, DescriptionChanged, FieldMoved)


def with_cosmetic_steps_waiting(plan: TablePlan, contract: Contract, cosmetic: Cosmetic) -> TablePlan:
    """Return the plan whose steps wait for the next change, if all are cosmetic and stop a tracked stream.

    The marker waits too: the table is not as declared yet.
    """
    if cosmetic == "now" or plan.live is None or not any(map(_is_tracked, contract.consumers)):
        return plan
    changes = [change for step in plan.steps for change in step.changes]
    is_cosmetic = all(isinstance(change, _COSMETIC) for change in changes) and not plan.adds_features
    if is_cosmetic and any(map(stops_tracked_streams, changes)):
        return replace(plan, steps=(), writes_marker=False, waiting=plan.steps)
    return plan


def _is_tracked(consumer: Consumer) -> bool:
    return consumer.stream is not None and consumer.stream.schema_tracking_location is not None
