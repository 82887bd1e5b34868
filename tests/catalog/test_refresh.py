"""Stale entries of a catalog: `refresh` sends what the log says, and only where the entry contradicts it."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemalint.base.errors import LiveError
from schemalint.delta.datatype import LONG, STRING, Array, Field, Struct
from schemalint.delta.table import LiveTable
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables import catalog
from support.judging import judge_table
from support.logs import metadata, protocol, write_log
from support.rule_judging import built_in
from support.unity_server import Table, UnityServer

LOGGED = (Field("id", LONG, comment="the key"), Field("tags", Array(STRING, contains_null=True)))
PROPERTIES = {"delta.appendOnly": "true", "team": "sales"}
PATH = "/delta/v1/catalogs/main/schemas/sales/tables/orders"


@pytest.fixture
def entry(server: UnityServer, tmp_path: Path) -> Table:
    """An entry that equals the log of its table, in a server that may be written to."""
    path = write_log(tmp_path / "t", [[protocol(), metadata(*LOGGED, properties=PROPERTIES)]])
    server.may_update = True
    server.tables["main.sales.orders"] = Table(path.as_uri(), Struct(LOGGED), dict(PROPERTIES))
    return server.tables["main.sales.orders"]


def _refresh(target: TrustedTarget) -> LiveTable:
    """Refresh the entry, and read the table again."""
    catalog.open_catalog(target).refresh(catalog.read("sales.orders", target))
    return catalog.read("sales.orders", target)


def _writes(server: UnityServer) -> list[str]:
    return [line for line in server.request_lines if not line.startswith("GET ")]


def _findings(table: LiveTable) -> list[str]:
    return [finding.message for finding in judge_table(table, [built_in()["catalog-disagrees"]])]


def test_an_entry_that_contradicts_the_log_gets_the_log_s_columns_and_properties(
    server: UnityServer, target: TrustedTarget, entry: Table
) -> None:
    entry.columns = Struct((Field("id", STRING),))
    entry.properties = {"delta.appendOnly": "false", "delta.enableChangeDataFeed": "true", "owner": "me"}
    assert len(_findings(catalog.read("sales.orders", target))) == 2
    table = _refresh(target)
    assert _findings(table) == []
    assert entry.columns == Struct(LOGGED)
    assert entry.properties == {"delta.appendOnly": "true", "owner": "me"}
    assert _writes(server) == [f"POST {PATH}"]
    assert server.requests[-1].method == "GET"


def test_a_comment_in_the_log_reaches_the_entry(target: TrustedTarget, entry: Table) -> None:
    entry.columns = Struct((Field("id", LONG, comment="old"), LOGGED[1]))
    _refresh(target)
    assert entry.columns == Struct(LOGGED)


def test_a_renamed_partition_column_is_sent_with_the_columns(
    server: UnityServer, target: TrustedTarget, tmp_path: Path
) -> None:
    log = [[protocol(), metadata(*LOGGED, partitioned_by=["id"])]]
    entry = Table(write_log(tmp_path / "t", log).as_uri(), Struct((Field("key", LONG), LOGGED[1])))
    entry.partitions = ["key"]
    server.may_update, server.tables["main.sales.orders"] = True, entry
    _refresh(target)
    assert (entry.columns, entry.partitions) == (Struct(LOGGED), ["id"])


@pytest.mark.parametrize("columns", [Struct(LOGGED), Struct()], ids=["equal", "none registered"])
def test_an_entry_that_contradicts_nothing_is_not_written(
    server: UnityServer, target: TrustedTarget, entry: Table, columns: Struct
) -> None:
    entry.columns = columns
    _refresh(target)
    assert _writes(server) == []


def test_the_entry_of_a_managed_table_is_left_to_its_commits(
    server: UnityServer, target: TrustedTarget, entry: Table
) -> None:
    entry.properties["delta.feature.catalogManaged"] = "supported"
    entry.columns = Struct((Field("id", STRING),))
    entry.latest = 0
    table = _refresh(target)
    assert _writes(server) == []
    (finding,) = judge_table(table, [built_in()["catalog-disagrees"]])
    assert "tell whoever runs the catalog" in finding.help


def test_a_server_without_the_request_is_not_asked(
    server: UnityServer, target: TrustedTarget, entry: Table
) -> None:
    server.has_delta_api = False
    entry.columns = Struct((Field("id", STRING),))
    (message,) = _findings(_refresh(target))
    assert "the columns in the catalog differ from the log" in message
    assert _writes(server) == []


def test_a_refusal_of_the_catalog_is_an_error(
    server: UnityServer, target: TrustedTarget, entry: Table
) -> None:
    entry.columns = Struct((Field("id", STRING),))
    table = catalog.read("sales.orders", target)
    refused: tuple[int, dict[str, str], bytes] = (
        403,
        {},
        b'{"error": {"type": "PermissionDeniedException", "message": "no MODIFY"}}',
    )
    server.fault = lambda path: refused if path == PATH else None
    with pytest.raises(LiveError, match="no MODIFY"):
        catalog.open_catalog(target).refresh(table)
