"""Tables by name through both APIs of Unity Catalog, from a server that follows the API descriptions."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from schemalint.base import limits
from schemalint.base.errors import ConfigError, LiveError
from schemalint.delta.datatype import LONG, STRING, Array, Decimal, Field, Map, Struct
from schemalint.project.config import Target
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables import catalog
from schemalint.tables.catalog.kinds.unity import UnityCatalog, open_catalog
from schemalint.tables.catalog.kinds.unity.http import Client
from schemalint.tables.delta_log.store import NoTable
from support.logs import metadata, protocol, write_log
from support.unity_server import BASE, Table, UnityServer

COLUMNS = Struct(
    (
        Field("id", LONG, nullable=False),
        Field("amount", Decimal(10, 2)),
        Field("lines", Array(Struct((Field("qty", LONG, nullable=True),)), contains_null=True)),
        Field("tags", Map(STRING, STRING, value_contains_null=True)),
    )
)

both_apis = pytest.mark.usefixtures("each_api")


@pytest.fixture
def orders(server: UnityServer, tmp_path: Path) -> Table:
    table = Table(f"file://{tmp_path}/orders", COLUMNS, {"team": "sales"})
    server.tables["main.sales.orders"] = table
    return table


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write_log(tmp_path / "orders", [[protocol(), metadata(Field("id", LONG))]])


def storage_of(target: TrustedTarget) -> dict[str, str]:
    """Return the storage settings for the location of ``sales.orders``."""
    opened_catalog = catalog.open_catalog(target)
    return dict(catalog.storage_for(opened_catalog, catalog.find("sales.orders", target), target))


@both_apis
def test_table_is_found_with_the_catalog_s_metadata(
    server: UnityServer, target: TrustedTarget, orders: Table
) -> None:
    table = catalog.find("sales.orders", target)
    assert table.location == orders.location
    assert table.name == "main.sales.orders"
    assert table.catalog == urlsplit(server.uri).netloc
    assert table.columns is not None
    assert [field.name for field in table.columns.fields] == ["id", "amount", "lines", "tags"]
    assert [field.type for field in table.columns.fields] == [field.type for field in COLUMNS.fields]
    assert table.properties == {"team": "sales"}
    assert table.table_id == orders.table_id
    used_delta_api = any(line.startswith("GET /delta/v1/catalogs/") for line in server.request_lines)
    assert used_delta_api == server.has_delta_api


@both_apis
@pytest.mark.usefixtures("orders")
def test_table_is_read_at_the_location_in_the_catalog(
    server: UnityServer, target: TrustedTarget, log: Path
) -> None:
    live = catalog.read("sales.orders", target)
    assert (live.uri, live.version) == (str(log), 0)
    assert live.catalog == catalog.find("sales.orders", target)
    assert not [line for line in server.request_lines if "credentials" in line], "local tables need none"


@pytest.mark.usefixtures("orders")
def test_full_name_in_the_target_s_catalog_is_the_same_table(target: TrustedTarget) -> None:
    assert catalog.find("MAIN.sales.orders", target).name == "main.sales.orders"
    assert catalog.full_name("`main`.sales.orders", target) == "main.sales.orders"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dev.sales.orders", "catalog dev"),
        ("orders", "schema.table"),
        ("a.b.c.d", "schema.table"),
        ("a..b", "not a valid table name"),
    ],
)
def test_name_outside_the_target_s_catalog_is_refused(target: TrustedTarget, name: str, message: str) -> None:
    with pytest.raises(ConfigError) as raised:
        catalog.find(name, target)
    assert message in str(raised.value)


@both_apis
def test_missing_table_is_reported_as_missing(target: TrustedTarget) -> None:
    with pytest.raises(NoTable, match=r"no table main\.sales\.orders"):
        catalog.read("sales.orders", target)


@both_apis
@pytest.mark.parametrize(
    ("schemas", "missing"), [({"main.other"}, "no schema main.sales"), ({"dev.sales"}, "no catalog main")]
)
def test_missing_schema_or_catalog_is_an_error(
    server: UnityServer, target: TrustedTarget, schemas: set[str], missing: str
) -> None:
    server.schemas = schemas
    with pytest.raises(LiveError, match=missing) as raised:
        catalog.read("sales.orders", target)
    assert not isinstance(raised.value, NoTable)


def test_404_of_another_kind_of_server_is_not_a_missing_table(
    server: UnityServer, target: TrustedTarget
) -> None:
    server.fault = lambda _path: (404, {}, b"<html>not here</html>")
    with pytest.raises(LiveError, match="404") as raised:
        catalog.read("sales.orders", target)
    assert not isinstance(raised.value, NoTable)
    assert "catalog_uri" in raised.value.help


@pytest.mark.usefixtures("orders")
def test_registered_table_without_a_log_is_an_error_and_not_missing(target: TrustedTarget) -> None:
    with pytest.raises(LiveError, match="no Delta table is there") as raised:
        catalog.read("sales.orders", target)
    assert not isinstance(raised.value, NoTable)


def test_table_of_another_format_is_an_error(
    server: UnityServer, target: TrustedTarget, orders: Table
) -> None:
    orders.format = "PARQUET"
    with pytest.raises(LiveError, match="not a Delta table but PARQUET"):
        catalog.read("sales.orders", target)
    assert "GET /tables/main.sales.orders" in server.request_lines, (
        "the Delta API refers its clients to the classic one"
    )


def test_missing_columns_in_the_catalog_are_none(target: TrustedTarget, orders: Table) -> None:
    orders.columns = Struct()
    assert catalog.find("sales.orders", target).columns is None


@both_apis
def test_tables_are_listed_over_several_pages(server: UnityServer, target: TrustedTarget) -> None:
    server.schemas = {"main.sales", "main.stock", "main.hr", "dev.sales"}
    for name in (
        "main.sales.a",
        "main.sales.b",
        "main.sales.c",
        "main.sales.d",
        "main.stock.a",
        "dev.sales.a",
    ):
        server.tables[name] = Table("file:///x")
    server.tables["main.sales.p"] = Table("file:///x", format="PARQUET")
    assert list(catalog.tables("*", target)) == [
        "main.sales.a",
        "main.sales.b",
        "main.sales.c",
        "main.sales.d",
        "main.stock.a",
    ]
    assert list(catalog.tables("S*.A", target)) == ["main.sales.a", "main.stock.a"]
    assert list(catalog.tables("main.stock.*", target)) == ["main.stock.a"]
    assert list(catalog.tables("stock", target)) == ["main.stock.a"]
    assert list(catalog.tables("h?.*", target)) == []


def test_repeated_page_token_is_an_error(server: UnityServer, target: TrustedTarget) -> None:
    server.fault = lambda path: (
        (200, {}, b'{"tables": [], "next_page_token": "x"}') if path == "/tables" else None
    )
    with pytest.raises(LiveError, match="repeats a page"):
        list(catalog.tables("sales.*", target))


def test_list_without_end_is_an_error(
    server: UnityServer, target: TrustedTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_PAGES", 3)
    tokens = count()
    server.fault = lambda path: (
        (200, {}, b'{"tables": [], "next_page_token": "%d"}' % next(tokens)) if path == "/tables" else None
    )
    with pytest.raises(LiveError, match="the list of tables has more than 3 pages"):
        list(catalog.tables("sales.*", target))
    assert next(tokens) == 4


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (
            {
                "s3.access-key-id": "a",
                "s3.secret-access-key": "b",
                "s3.session-token": "c",
                "gcs.oauth-token": None,
            },
            {"aws_access_key_id": "a", "aws_secret_access_key": "b", "aws_session_token": "c"},
        ),
        ({"azure.sas-token": "sig"}, {"azure_storage_sas_token": "sig"}),
        ({"gcs.oauth-token": "t"}, {"google_bearer_token": "t"}),
    ],
)
def test_credentials_of_the_longest_prefix_are_used(
    target: TrustedTarget, orders: Table, config: dict[str, str], expected: dict[str, str]
) -> None:
    orders.location, orders.credentials = "s3://bucket/lake/orders", config
    assert storage_of(target) == expected


def test_credentials_of_another_prefix_are_not_used(target: TrustedTarget, orders: Table) -> None:
    orders.location, orders.prefix = "s3://bucket/lake/orders", "s3://bucket/lake/ord"
    orders.credentials = {"s3.access-key-id": "of another folder"}
    assert storage_of(target) == {"aws_access_key_id": "of the whole bucket"}
    orders.location = "s3://other/lake/orders"
    assert storage_of(target) == {}


@pytest.mark.parametrize(
    ("credentials", "expected"),
    [
        (
            {"aws_temp_credentials": {"access_key_id": "a", "secret_access_key": "b", "session_token": "c"}},
            {"aws_access_key_id": "a", "aws_secret_access_key": "b", "aws_session_token": "c"},
        ),
        ({"azure_user_delegation_sas": {"sas_token": "sig"}}, {"azure_storage_sas_token": "sig"}),
        ({"gcp_oauth_token": {"oauth_token": "t"}}, {"google_bearer_token": "t"}),
        ({}, {}),
    ],
)
def test_credentials_of_the_classic_api_are_used(
    server: UnityServer,
    target: TrustedTarget,
    orders: Table,
    credentials: dict[str, dict[str, str]],
    expected: dict[str, str],
) -> None:
    server.has_delta_api = False
    orders.location, orders.credentials = "s3://bucket/lake/orders", credentials
    assert storage_of(target) == expected
    assert server.requests[-1].body == {"table_id": orders.table_id, "operation": "READ"}


def test_uri_without_a_path_gets_the_default_path() -> None:
    assert open_catalog("https://host", None).client.base == f"https://host{BASE}"
    assert open_catalog("https://host/uc/", None).client.base == "https://host/uc"


@pytest.mark.parametrize("uri", ["https://me:pass@host", "https://host/?token=x", "https:///path"])
def test_uri_with_a_secret_is_refused_without_printing_it(uri: str) -> None:
    with pytest.raises(ConfigError) as raised:
        open_catalog(uri, None)
    assert "pass@" not in str(raised.value)


def test_target_with_an_incomplete_or_unknown_catalog_is_refused(target: TrustedTarget) -> None:
    with pytest.raises(ConfigError, match="has no catalog_uri for catalog main"):
        catalog.find("a.b", TrustedTarget(Target("prod", catalog="main")))
    with pytest.raises(ConfigError, match="no catalog"):
        catalog.find("a.b", TrustedTarget(Target("prod", catalog_uri=target.catalog_uri)))
    with pytest.raises(ConfigError, match="not the URI of a catalog"):
        catalog.find("a.b", TrustedTarget(Target("prod", catalog="main", catalog_uri="hive:x")))


def test_empty_token_is_refused(target: TrustedTarget, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UC_TOKEN", "")
    with pytest.raises(ConfigError, match="is not set"):
        catalog.find("a.b", target)


@pytest.mark.parametrize("value", ["two words", "ü"])
def test_invalid_token_is_refused_without_printing_it(
    target: TrustedTarget, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("UC_TOKEN", value)
    with pytest.raises(ConfigError, match="is not a valid token") as raised:
        catalog.find("a.b", target)
    assert value not in str(raised.value)


def test_name_that_unity_catalog_cannot_hold_is_refused(target: TrustedTarget) -> None:
    with pytest.raises(LiveError, match="must not contain dots"):
        catalog.find("sales.`a.b`", target)


@pytest.mark.usefixtures("orders")
def test_requests_without_a_token_have_no_authorization(server: UnityServer) -> None:
    server.token = None
    UnityCatalog(Client(server.uri)).find(("main", "sales", "orders"))
    assert {request.authorization for request in server.requests} == {None}
