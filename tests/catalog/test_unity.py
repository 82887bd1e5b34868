"""Tables by name through Unity Catalog, by both of its APIs, from a server that answers as described."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from schemalint import catalog
from schemalint.catalog.kinds.unity import UnityCatalog, open_catalog
from schemalint.catalog.kinds.unity.http import Client
from schemalint.config import Target
from schemalint.delta.datatype import LONG, STRING, Array, Decimal, Field, Map, Struct
from schemalint.delta_log.store import NoTable
from schemalint.errors import ConfigError, LiveError
from schemalint.values import replace
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


def storage_of(target: Target) -> dict[str, str]:
    """What opens the place of the table ``sales.orders``."""
    asked = catalog.open_catalog(target)
    return dict(catalog.storage_for(asked, catalog.find("sales.orders", target), target))


@both_apis
def test_table_is_found_with_what_the_catalog_keeps(
    server: UnityServer, target: Target, orders: Table
) -> None:
    table = catalog.find("sales.orders", target)
    assert table.location == orders.location
    assert table.name == "main.sales.orders"
    assert table.catalog == urlsplit(server.uri).netloc
    assert table.columns is not None
    assert [one.name for one in table.columns.fields] == ["id", "amount", "lines", "tags"]
    assert [one.type for one in table.columns.fields] == [one.type for one in COLUMNS.fields]
    assert table.properties == {"team": "sales"}
    assert table.table_id == orders.table_id
    assert any(one.startswith("GET /delta/v1/catalogs/") for one in server.asked) == server.has_delta_api


@both_apis
@pytest.mark.usefixtures("orders")
def test_table_is_read_where_the_catalog_says(server: UnityServer, target: Target, log: Path) -> None:
    live = catalog.read("sales.orders", target)
    assert (live.uri, live.version) == (str(log), 0)
    assert live.catalog == catalog.find("sales.orders", target)
    assert not [one for one in server.asked if "credentials" in one], "a local place needs none"


@pytest.mark.usefixtures("orders")
def test_full_name_in_the_targets_catalog_is_the_same_table(target: Target) -> None:
    assert catalog.find("MAIN.sales.orders", target).name == "main.sales.orders"
    assert catalog.full_name("`main`.sales.orders", target) == "main.sales.orders"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dev.sales.orders", "catalog dev"),
        ("orders", "schema.table"),
        ("a.b.c.d", "schema.table"),
        ("a..b", "no name"),
    ],
)
def test_name_that_is_none_of_the_targets_catalog_is_refused(target: Target, name: str, said: str) -> None:
    with pytest.raises(ConfigError) as raised:
        catalog.find(name, target)
    assert said in str(raised.value)


@both_apis
def test_missing_table_is_to_be_created(target: Target) -> None:
    with pytest.raises(NoTable, match=r"no table main\.sales\.orders"):
        catalog.read("sales.orders", target)


@both_apis
@pytest.mark.parametrize(
    ("schemas", "missing"), [({"main.other"}, "no schema main.sales"), ({"dev.sales"}, "no catalog main")]
)
def test_missing_schema_or_catalog_is_an_error(
    server: UnityServer, target: Target, schemas: set[str], missing: str
) -> None:
    server.schemas = schemas
    with pytest.raises(LiveError, match=missing) as raised:
        catalog.read("sales.orders", target)
    assert not isinstance(raised.value, NoTable)


def test_404_of_some_other_server_does_not_mean_that_the_table_is_missing(
    server: UnityServer, target: Target
) -> None:
    server.fault = lambda _path: (404, {}, b"<html>not here</html>")
    with pytest.raises(LiveError, match="404") as raised:
        catalog.read("sales.orders", target)
    assert not isinstance(raised.value, NoTable)
    assert "catalog_uri" in raised.value.help


@pytest.mark.usefixtures("orders")
def test_registered_table_without_a_log_is_not_to_be_created(target: Target) -> None:
    with pytest.raises(LiveError, match="no Delta table is there") as raised:
        catalog.read("sales.orders", target)
    assert not isinstance(raised.value, NoTable)


def test_table_of_another_format_is_no_table_to_read(
    server: UnityServer, target: Target, orders: Table
) -> None:
    orders.format = "PARQUET"
    with pytest.raises(LiveError, match="no Delta table, but PARQUET"):
        catalog.read("sales.orders", target)
    assert "GET /tables/main.sales.orders" in server.asked, "the Delta API sends its clients there"


def test_columns_that_make_no_sense_are_none(target: Target, orders: Table) -> None:
    orders.columns = Struct()
    assert catalog.find("sales.orders", target).columns is None


@both_apis
def test_list_of_tables_comes_page_by_page(server: UnityServer, target: Target) -> None:
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


def test_list_that_goes_round_in_circles_ends(server: UnityServer, target: Target) -> None:
    server.fault = lambda path: (
        (200, {}, b'{"tables": [], "next_page_token": "x"}') if path == "/tables" else None
    )
    with pytest.raises(LiveError, match="in circles"):
        list(catalog.tables("sales.*", target))


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
def test_credentials_of_the_longest_prefix_open_the_store(
    target: Target, orders: Table, config: dict[str, str], expected: dict[str, str]
) -> None:
    orders.location, orders.credentials = "s3://bucket/lake/orders", config
    assert storage_of(target) == expected


def test_credentials_of_the_target_are_for_catalogs_that_hand_out_none(
    target: Target, orders: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_KEY", "own")
    own = replace(target, storage={"access_key_id": "${OWN_KEY}", "region": "eu-west-1"})
    orders.location, orders.credentials = "s3://bucket/lake/orders", {"s3.access-key-id": "handed"}
    assert storage_of(own) == {
        "region": "eu-west-1",
        "aws_access_key_id": "handed",
    }
    orders.location, orders.prefix = "s3://other/lake/orders", "s3://third"
    assert storage_of(own) == {"region": "eu-west-1", "access_key_id": "own"}


def test_credentials_of_another_folder_are_none(target: Target, orders: Table) -> None:
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
def test_credentials_of_the_classic_api_open_the_store(
    server: UnityServer,
    target: Target,
    orders: Table,
    credentials: dict[str, dict[str, str]],
    expected: dict[str, str],
) -> None:
    server.has_delta_api = False
    orders.location, orders.credentials = "s3://bucket/lake/orders", credentials
    assert storage_of(target) == expected
    assert server.requests[-1].body == {"table_id": orders.table_id, "operation": "READ"}


def test_address_without_a_path_is_completed() -> None:
    assert open_catalog("https://host", None).client.base == f"https://host{BASE}"
    assert open_catalog("https://host/uc/", None).client.base == "https://host/uc"


@pytest.mark.parametrize("uri", ["https://me:pass@host", "https://host/?token=x", "https:///path"])
def test_address_with_a_secret_is_refused_without_being_told(uri: str) -> None:
    with pytest.raises(ConfigError) as raised:
        open_catalog(uri, None)
    assert "pass@" not in str(raised.value)


def test_target_must_say_where_its_catalog_is(target: Target) -> None:
    with pytest.raises(ConfigError, match="does not say where catalog main answers"):
        catalog.find("a.b", Target("prod", catalog="main"))
    with pytest.raises(ConfigError, match="no catalog"):
        catalog.find("a.b", Target("prod", catalog_uri=target.catalog_uri))
    with pytest.raises(ConfigError, match="no address of a catalog"):
        catalog.find("a.b", Target("prod", catalog="main", catalog_uri="hive:x"))


@pytest.mark.parametrize(
    ("value", "said"), [("", "is not set"), ("two words", "cannot be a token"), ("ü", "cannot be")]
)
def test_token_that_cannot_be_one_is_refused_without_being_told(
    target: Target, monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("UC_TOKEN", value)
    with pytest.raises(ConfigError, match=said) as raised:
        catalog.find("a.b", target)
    assert not value or value not in str(raised.value)


def test_name_that_unity_catalog_cannot_hold_is_refused(target: Target) -> None:
    with pytest.raises(LiveError, match="no dots"):
        catalog.find("sales.`a.b`", target)


@pytest.mark.usefixtures("orders")
def test_catalog_without_a_token_is_asked_without_one(server: UnityServer) -> None:
    server.token = None
    UnityCatalog(Client(server.uri)).find(("main", "sales", "orders"))
    assert {one.authorization for one in server.requests} == {None}
