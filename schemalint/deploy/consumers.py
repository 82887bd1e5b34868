"""The effects of a plan on the declared consumers of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from schemalint.model.stream_report import StreamReport, stream_report
from schemalint.planner import planned_commits

if TYPE_CHECKING:
    from schemalint.model.contract import Contract
    from schemalint.model.plan import TablePlan


def planned_streams(plan: TablePlan, contract: Contract) -> Iterator[StreamReport]:
    """Yield the effect of a plan on each declared stream of its table; none if it changes nothing."""
    streams = [consumer for consumer in contract.consumers if consumer.stream is not None]
    if not plan.steps or plan.live is None or not streams:
        return
    commits = planned_commits(plan)
    for consumer in streams:
        yield stream_report(plan.table, consumer, commits)
