"""DR006 on what no contract can express: the catalog's id of a table."""

from __future__ import annotations

import pytest

from schemalint.delta.datatype import LONG, Field, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import CatalogTable, LiveTable, Metadata, TableState
from schemalint.lint.table import judge_table
from support.rule_judging import built_in

ID = "io.unitycatalog.tableId"
COLUMNS = Struct((Field("id", LONG),))


@pytest.mark.parametrize(
    ("in_log", "in_catalog", "said"),
    [
        ({ID: "u-1"}, "u-1", []),
        ({ID: "u-1"}, "u-2", ["the catalog knows the table as u-2, and the log belongs to u-1"]),
        ({}, "u-2", []),
        ({ID: "u-1"}, None, []),
    ],
    ids=["the same", "another", "not managed by the catalog", "catalog without ids"],
)
def test_id_of_a_managed_table(in_log: dict[str, str], in_catalog: str | None, said: list[str]) -> None:
    state = TableState(COLUMNS, properties=in_log)
    kept = CatalogTable("main.sales.orders", "uc", "file:/t", table_id=in_catalog)
    table = LiveTable("/t", 0, Protocol(1, 2), Metadata("delta-id", state), catalog=kept)
    found = judge_table(table, [built_in()["catalog-disagrees"]])
    assert [one.message for one in found] == said
