"""The effects of a plan on the declared consumers of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemalint.model.stream_report import StreamReport, stream_reports
from schemalint.planner import planned_commits

if TYPE_CHECKING:
    from schemalint.model.contract import Contract
    from schemalint.model.plan import TablePlan


def planned_streams(plan: TablePlan, contract: Contract) -> Iterator[StreamReport]:
    """Yield the effect of a plan on each declared stream of its table; none if it changes nothing."""
    if plan.steps and plan.live is not None and any(consumer.stream for consumer in contract.consumers):
        yield from stream_reports(plan.table, contract.consumers, planned_commits(plan))
