"""The effects of a step that its change alone tells."""

from __future__ import annotations

import pytest

from schemalint.base.values import replace
from schemalint.delta.change import PropertyChanged
from schemalint.delta.datatype import INTEGER, UNMANAGED, Struct
from schemalint.delta.table import TableState
from schemalint.model.impact import risks
from schemalint.model.table_plan import Cost, Fill, Step, StepKind, TablePlan, TableRewrite

FEED = "delta.enableChangeDataFeed"


@pytest.mark.parametrize(
    ("key", "old", "new", "is_risk"),
    [
        (FEED, "true", "false", True),
        (FEED, "TRUE", None, True),
        (FEED, "true", "TRUE", False),
        (FEED, "false", None, False),
        (FEED, UNMANAGED, "false", False),
        ("delta.appendOnly", "true", "false", False),
    ],
)
def test_feed_that_is_turned_off_is_a_risk(key: str, old: str, new: str | None, *, is_risk: bool) -> None:
    step = Step(StepKind.SET_PROPERTIES, "", (PropertyChanged(key, old, new),), ())
    created = TablePlan("sales.orders", "/lake", "")
    altered = replace(created, live=TableState())
    assert any("change data feed" in risk for risk in risks(step, altered)) is is_risk
    assert not any("change data feed" in risk for risk in risks(step, created))


FILL = Fill(("number",), INTEGER, ("code",), "cast(code as int)")
VECTORS = {"delta.enableDeletionVectors": "true"}


@pytest.mark.parametrize(
    ("state", "size", "cost"),
    [
        (TableState(), 1_500, "up to 1,500 bytes 5 times, and rewrites up to 1,500 bytes"),
        (TableState(), None, "an unknown number of bytes at least 5 times, and rewrites at most as many"),
        (TableState(), 0, "up to 0 bytes 5 times, and rewrites up to 0 bytes"),
        (TableState(properties=VECTORS), 1, "up to 1 bytes 5 times, and rewrites up to 1 bytes"),
        (
            TableState(properties=VECTORS),
            (8 << 30) + 1,
            "up to 8,589,934,593 bytes 8 times, and rewrites up to 8,589,934,593 bytes",
        ),
        (
            TableState(properties=VECTORS, partitioned_by=("day",)),
            (8 << 30) + 1,
            "up to 8,589,934,593 bytes 5 times, and rewrites up to 8,589,934,593 bytes",
        ),
    ],
)
def test_a_fill_says_how_often_it_reads_how_many_bytes(
    state: TableState, size: int | None, cost: str
) -> None:
    plan = TablePlan("sales.orders", "/lake", "", live=state, size=size)
    assert f"each run reads {cost}" in risks(Step(StepKind.FILL, "", (), (), fills=(FILL,)), plan)


def test_the_drop_of_sources_counts_the_rows_of_each() -> None:
    plan = TablePlan("sales.orders", "/lake", "", live=TableState(), size=7)
    one, two = (Step(StepKind.DROP_COLUMNS, "", (), (), fills=(FILL,) * number) for number in (1, 2))
    assert "counts the rows before it drops: reads up to 7 bytes once" in risks(one, plan)
    assert "counts the rows before it drops: reads up to 7 bytes 2 times" in risks(two, plan)
    assert not any("bytes" in risk for risk in risks(replace(one, fills=()), plan))


def test_without_a_session_a_rewrite_says_what_only_its_proof_knows() -> None:
    plan = TablePlan("sales.orders", "/lake", "", live=TableState(), size=7)
    step = Step(StepKind.REWRITE, "", (), (), cost=Cost.REWRITE, rewrite=TableRewrite(Struct(), Struct()))
    (unknown,) = (risk for risk in risks(step, plan) if "plan --prove" in risk)
    assert unknown.startswith("a value that does not convert, or a row that Delta refuses, ends it")
