"""DR006 on the catalog's table id, which no contract can express."""

from __future__ import annotations

import pytest

from schemalint.delta.datatype import LONG, Field, Struct
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import CatalogTable, LiveTable, Metadata, TableState
from support.judging import judge_table
from support.rule_judging import built_in

ID = "io.unitycatalog.tableId"
COLUMNS = Struct((Field("id", LONG),))


@pytest.mark.parametrize(
    ("in_log", "in_catalog", "messages"),
    [
        ({ID: "u-1"}, "u-1", []),
        ({ID: "u-1"}, "u-2", ["the table id is u-2 in the catalog, but u-1 in the log"]),
        ({}, "u-2", []),
        ({ID: "u-1"}, None, []),
    ],
    ids=["the same", "another", "not managed by the catalog", "catalog without ids"],
)
def test_different_table_ids_in_catalog_and_log_are_a_finding(
    in_log: dict[str, str], in_catalog: str | None, messages: list[str]
) -> None:
    state = TableState(COLUMNS, properties=in_log)
    catalog_table = CatalogTable("main.sales.orders", "uc", "file:/t", table_id=in_catalog)
    table = LiveTable("/t", 0, Protocol(1, 2), Metadata("delta-id", state), catalog=catalog_table)
    findings = judge_table(table, [built_in()["catalog-disagrees"]])
    assert [finding.message for finding in findings] == messages
