"""The work of plans, live comparisons and audits grows with the width of a table, not with its square."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from schemalint import contract as contracts
from schemalint.base.values import replace
from schemalint.delta.datatype import map_fields
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata
from schemalint.model.column_tracking import track_columns
from schemalint.model.declaration import created_state
from schemalint.planner import PlanOptions, plan_table
from support.effective import counting
from support.judging import judge_live, judge_table, live_case
from support.operations import assert_linear
from support.rule_judging import built_in
from support.wide import CHANGES

if TYPE_CHECKING:
    from schemalint.model.contract import Contract
    from schemalint.model.finding import Finding
    from schemalint.model.table_plan import TablePlan
    from schemalint.plugin import Rule

NUMBER = 24
WITH_LIVE_TABLES = (
    "widened, enabled",
    "renamed",
    "all names new",
    "all dropped, listed",
    "comments",
    "struct text",
    "properties",
    "constraints",
    "features",
)
NO_CONTRACT = {"new table", "removed table", "types unknown"}
COMPARED = [name for name in CHANGES if name not in NO_CONTRACT]


def rules() -> tuple[Rule, ...]:
    """Return the built-in rules, which are loaded once."""
    return tuple(built_in().values())


def declared(change: str, number: int) -> tuple[Contract, Contract]:
    """Return the contracts before and after a change of so many columns."""
    before, after = (contracts.read("a.yml", text(number)).contracts[0] for text in CHANGES[change])
    return before, after


def created(contract: Contract) -> LiveTable:
    """Return the table that Delta creates from a contract, with column mapping."""
    numbers, state = count(1), created_state(contract.state)
    columns = map_fields(
        state.columns,
        lambda _path, field: replace(field, column_id=(number := next(numbers)), physical_name=f"c-{number}"),
    )
    mapped = replace(state, columns=columns).with_property("delta.columnMapping.mode", "name")
    features = contract.created_features | {"columnMapping"}
    return LiveTable("file:/lake/orders", 0, Protocol(3, 7, frozenset(), features), Metadata("id", mapped))


def compared(change: str, number: int) -> tuple[Finding, ...]:
    before, after = declared(change, number)
    return judge_live(live_case(after, created(before), base=before), rules())


def applied(change: str, number: int) -> tuple[Finding, ...]:
    before, after = declared(change, number)
    return judge_live(live_case(after, created(after), base=before, applied=before), rules())


def drifted(change: str, number: int) -> tuple[Finding, ...]:
    before, after = declared(change, number)
    return judge_live(live_case(after, created(before), base=after), rules())


def audited(change: str, number: int) -> tuple[Finding, ...]:
    table = created(declared(change, number)[1])
    return judge_table(table, rules())


def planned(change: str, number: int) -> TablePlan:
    before, after = declared(change, number)
    table = created(before)
    tracking = track_columns(table.state.columns, [before.state, after.state])
    return plan_table(counting(after), table, table.uri, (), PlanOptions(tracking, reorder=True))


@pytest.mark.wide
@pytest.mark.parametrize("change", WITH_LIVE_TABLES)
def test_twice_the_columns_take_about_twice_the_calls_with_a_live_table(change: str) -> None:
    for judged in (compared, applied, drifted, audited):
        assert_linear(lambda number, judged=judged: judged(change, number), NUMBER)  # type: ignore[misc]


@pytest.mark.wide
@pytest.mark.parametrize("change", COMPARED)
def test_a_plan_of_twice_the_columns_takes_about_twice_the_calls(change: str) -> None:
    assert_linear(lambda number: planned(change, number), NUMBER)
