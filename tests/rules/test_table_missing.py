"""Missing tables, which no YAML case can express: the tests build the facts."""

from __future__ import annotations

import pytest

from schemalint.base.values import replace
from schemalint.delta.table import TableState
from schemalint.judge.case import git_context
from schemalint.judge.rule_judge import AskedRules
from schemalint.model.contract import Contract
from schemalint.model.fact import LiveTableMissing, RootWithoutTables
from schemalint.model.finding import Severity
from support.effective import counting
from support.rule_judging import built_in

ORDERS = Contract("sales.orders", TableState())
LOCATION = "file:/lake/sales/orders"


@pytest.mark.parametrize(
    ("fact", "severity", "message"),
    [
        pytest.param(
            LiveTableMissing(LOCATION),
            Severity.INFO,
            f"there is no table at {LOCATION} yet: `apply` creates it",
            id="new contract",
        ),
        pytest.param(
            LiveTableMissing(LOCATION, "the base has it at file:/lake/orders"),
            Severity.ERROR,
            f"there is no Delta table at {LOCATION}: the base has it at file:/lake/orders",
            id="contract moved without its table",
        ),
    ],
)
def test_missing_table_has_the_expected_severity_and_message(
    fact: LiveTableMissing, severity: Severity, message: str
) -> None:
    """A missing table is an error only if it should exist."""
    judge = AskedRules((built_in()["table-missing"],))
    (finding,) = judge(fact, git_context(counting(ORDERS), counting(ORDERS)), ("live",))
    assert (finding.code, finding.severity, finding.message) == ("DR003", severity, message)


def test_a_missing_table_of_another_tool_is_that_tool_s_to_create() -> None:
    contract = replace(ORDERS, managed_by="dbt")
    judge = AskedRules((built_in()["table-missing"],))
    (finding,) = judge(LiveTableMissing(LOCATION), git_context(None, counting(contract)), ("live",))
    assert finding.message == f"there is no table at {LOCATION} yet: dbt creates it"


def test_a_root_without_tables_is_named_in_a_warning() -> None:
    judge = AskedRules((built_in()["root-without-tables"],))
    (finding,) = judge(RootWithoutTables("s3://lake/tabels"), git_context(None, counting(ORDERS)), ("live",))
    assert (finding.code, finding.severity) == ("DR010", Severity.WARNING)
    assert "s3://lake/tabels" in finding.message
