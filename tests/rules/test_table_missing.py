"""No texts of contracts can say that a table is missing: the facts are made by hand."""

from __future__ import annotations

import pytest

from schemalint.delta.table import TableState
from schemalint.lint.judge import Judge, git_context
from schemalint.model.contract import Contract
from schemalint.model.fact import LiveTableMissing, LiveTableReplaced
from schemalint.model.finding import Severity
from support.rule_judging import built_in

ORDERS = Contract("sales.orders", TableState())
PLACE = "file:/lake/sales/orders"


@pytest.mark.parametrize(
    ("fact", "severity", "message"),
    [
        pytest.param(
            LiveTableMissing(PLACE),
            Severity.INFO,
            f"there is no table at {PLACE} yet: it is to be created",
            id="new contract",
        ),
        pytest.param(
            LiveTableMissing(PLACE, "the base has it at file:/lake/orders"),
            Severity.ERROR,
            f"there is no Delta table at {PLACE}: the base has it at file:/lake/orders",
            id="contract moved without its table",
        ),
        pytest.param(
            LiveTableReplaced("1-2-3", "4-5-6"),
            Severity.ERROR,
            "the table was recreated since it was applied to: its id is 4-5-6, and was 1-2-3",
            id="dropped and made again",
        ),
    ],
)
def test_table_missing(fact: LiveTableMissing | LiveTableReplaced, severity: Severity, message: str) -> None:
    """Only a table that should be there is an error."""
    judge = Judge((built_in()["table-missing"],))
    (found,) = judge(fact, git_context(ORDERS, ORDERS), ("live",))
    assert (found.code, found.severity, found.message) == ("DR003", severity, message)
