"""The approval stands in the configuration: no text of a contract shows it."""

from __future__ import annotations

from schemalint.delta.table import TableState
from schemalint.lint.judge import Judge, git_context
from schemalint.model.contract import Contract
from schemalint.model.fact import TableRetired
from schemalint.model.finding import Severity
from support.rule_judging import built_in


def test_approved_removal_is_a_notice_with_its_reason() -> None:
    """Whoever reads the report still sees that the contract is gone."""
    orders = Contract("sales.orders", TableState())
    judge = Judge((built_in()["table-removed"],))
    (found,) = judge(TableRetired(orders, "replaced by orders_v2"), git_context(orders, orders), ("git",))
    assert found.severity == Severity.INFO
    assert found.message == "the contract is gone, as approved: replaced by orders_v2"
