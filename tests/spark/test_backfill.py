"""Columns that are filled from others, over several merges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.deploy.outcome import Outcome

if TYPE_CHECKING:
    from support.lakehouse import Lakehouse

pytestmark = pytest.mark.spark

OLD = "{name: id, type: int}, {name: amount_text, type: string}"
FILLED = 'name: amount, type: "decimal(12,2)"'
BACKFILL = 'backfill: {from: amount_text, with: "cast(amount_text as decimal(12,2))"'
MAPPED = "delta.columnMapping.mode: name"


def contract(columns: str, more: str = "", properties: str = MAPPED) -> str:
    """Return a contract of ``sales.orders``."""
    return f"schemalint: 1\ntable: sales.orders\ncolumns: [{columns}]\nproperties: {{{properties}}}\n{more}"


@pytest.fixture
def orders(lakehouse: Lakehouse) -> Lakehouse:
    """Return a lakehouse with an old column that has a text, a null and what is no number."""
    lakehouse.declare(contract(OLD))
    lakehouse.apply()
    lakehouse.insert("(1, '1.50'), (2, NULL), (3, 'n/a')")
    return lakehouse


def declare_expanded(lakehouse: Lakehouse, tail: str = "}") -> None:
    """Declare the new column, with `tail` as the end of its `backfill`."""
    lakehouse.declare(contract(f"{OLD}, {{{FILLED}, {BACKFILL}{tail}}}"))


def declare_contracted(lakehouse: Lakehouse, tail: str = "}") -> None:
    """Declare that the old column goes."""
    columns = f"{{name: id, type: int}}, {{{FILLED}, {BACKFILL}{tail}}}"
    lakehouse.declare(contract(columns, "dropped: [amount_text]\n"))


def amounts(lakehouse: Lakehouse) -> dict[object, str]:
    """Return the new values by id."""
    return {row["id"]: str(row["amount"]) for row in lakehouse.rows()}


def test_fill_waits_for_its_approval_and_the_column_is_added(orders: Lakehouse) -> None:
    declare_expanded(orders)
    applied = orders.apply()
    assert applied.outcome is Outcome.FILLING
    assert [done.step.kind.name for done in applied.done] == ["ADD_COLUMNS"]
    filled = orders.apply(allow=["data"])
    assert filled.outcome is Outcome.APPLIED
    assert "1 rows filled" in filled.done[0].note
    assert "1 do not convert" in filled.done[0].note
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "None"}


def test_rows_that_do_not_convert_keep_the_old_column(orders: Lakehouse) -> None:
    declare_contracted(orders)
    applied = orders.apply(allow=["data", "destructive"])
    assert applied.outcome is Outcome.FAILED
    assert "1 of amount_text" in str(applied.error)
    assert "amount_text" in orders.table().state.columns.names
    declare_contracted(orders, ", unfilled: keep_null}")
    assert orders.apply(allow=["data", "destructive"]).outcome is Outcome.APPLIED
    assert amounts(orders) == {1: "1.50", 2: "None", 3: "None"}
