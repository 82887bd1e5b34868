"""Approved removal of a table: the configuration approves it, so no YAML case can show it."""

from __future__ import annotations

from schemalint.delta.table import TableState
from schemalint.lint.context import git_context
from schemalint.lint.judge import Judge
from schemalint.model.contract import Contract
from schemalint.model.fact import TableRetired
from schemalint.model.finding import Severity
from support.rule_judging import built_in


def test_approved_removal_is_a_notice_with_its_reason() -> None:
    """The report still shows that the contract was removed."""
    orders = Contract("sales.orders", TableState())
    judge = Judge((built_in()["table-removed"],))
    (finding,) = judge(TableRetired(orders, "replaced by orders_v2"), git_context(orders, orders), ("git",))
    assert finding.severity == Severity.INFO
    assert finding.message == "the contract was removed, as approved: replaced by orders_v2"
