"""``--require-streams``: a table waits until its declared streams have read its version."""

from __future__ import annotations

import pytest

from schemalint.delta.stream_progress import StreamPosition, StreamProgress
from schemalint.delta.table import TableState
from schemalint.deploy.consumer_streams import without_unread_streams
from schemalint.model.consumer import Consumer, Stream
from schemalint.model.contract import Contract
from schemalint.model.table_plan import RefusalKind, Step, StepKind, TablePlan

STEP = Step(StepKind.SET_PROPERTIES, "", (), ())
PLAN = TablePlan("a.b", "/lake/a/b", "h", version=7, live=TableState(), steps=(STEP,))


def _reasons(plan: TablePlan, progress: StreamProgress | None) -> list[str]:
    consumer = Consumer("silver", stream=Stream("/c", progress=progress))
    checked = without_unread_streams(plan, Contract("a.b", TableState(), consumers=(consumer,)))
    assert bool(checked.steps) is bool(plan.steps and not checked.refusals)
    assert {refusal.kind for refusal in checked.refusals} <= {RefusalKind.STREAMS}
    return [refusal.reason for refusal in checked.refusals]


@pytest.mark.parametrize(
    ("progress", "reason"),
    [
        (StreamProgress(StreamPosition("t", 8)), None),
        (StreamProgress(StreamPosition("t", 9)), None),
        (StreamProgress(StreamPosition("t", 7)), "it has read version 6, and lags 1 behind"),
        (StreamProgress(StreamPosition("t", 3)), "it has read version 2, and lags 5 behind"),
        (StreamProgress(), "it has read nothing yet"),
        (StreamProgress(unknown="no such folder"), "unknown what stream silver has read: no such folder"),
        (None, "its files were not read"),
    ],
)
def test_a_table_waits_for_a_stream_that_lags(progress: StreamProgress | None, reason: str | None) -> None:
    found = _reasons(PLAN, progress)
    assert len(found) == (reason is not None)
    assert all(str(reason) in text for text in found)


def test_a_table_without_statements_waits_for_no_stream() -> None:
    assert _reasons(TablePlan("a.b", "/lake/a/b", "h", version=7, live=TableState()), StreamProgress()) == []
    assert RefusalKind.STREAMS.exit_status == 4
