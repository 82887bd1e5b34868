"""Tables by name in an object store, opened with credentials that the catalog vends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from obstore import put
from obstore.store import S3Store

from schemalint.base.errors import LiveError
from schemalint.base.values import replace
from schemalint.delta.datatype import LONG, Field
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables import catalog
from schemalint.tables.delta_log.store import NoTable
from support.logs import metadata, protocol, write_log
from support.servers import s3_server
from support.unity_server import Table, UnityServer

LOCATION = "s3://lakeofthecatalog/orders"
BY_DELTA_API = {"s3.access-key-id": "AKIAHANDEDOUT", "s3.secret-access-key": "s", "s3.session-token": "t"}
BY_CLASSIC_API = {
    "aws_temp_credentials": {"access_key_id": "AKIAHANDEDOUT", "secret_access_key": "s", "session_token": "t"}
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as address:
        with urlopen(Request(f"{address}/lakeofthecatalog", method="PUT")):  # noqa: S310 (our own server)
            pass
        yield address


@pytest.fixture
def in_s3(target: TrustedTarget, endpoint: str) -> TrustedTarget:
    """A target that has the settings of the store but no credentials."""
    return replace(target, storage={"endpoint": endpoint, "region": "us-east-1", "allow_http": "true"})


@pytest.fixture
def uploaded(endpoint: str, tmp_path: Path) -> None:
    """Upload the table ``orders``."""
    store = S3Store(
        "lakeofthecatalog",
        config={
            "endpoint": endpoint,
            "region": "us-east-1",
            "access_key_id": "a",
            "secret_access_key": "b",
        },
        client_options={"allow_http": True},
    )
    table = write_log(tmp_path / "t", [[protocol(), metadata(Field("id", LONG))]])
    for file in (table / "_delta_log").iterdir():
        put(store, f"orders/_delta_log/{file.name}", file.read_bytes())


@pytest.mark.usefixtures("uploaded", "each_api")
def test_table_is_opened_with_the_catalog_s_credentials(server: UnityServer, in_s3: TrustedTarget) -> None:
    credentials = BY_DELTA_API if server.has_delta_api else BY_CLASSIC_API
    server.tables["main.sales.orders"] = Table(LOCATION, credentials=credentials)
    live = catalog.read("sales.orders", in_s3)
    assert (live.uri, live.version) == (LOCATION, 0)
    assert [field.name for field in live.state.columns.fields] == ["id"]


def test_registered_table_without_a_log_is_an_error_and_not_missing(
    server: UnityServer, in_s3: TrustedTarget
) -> None:
    server.tables["main.sales.orders"] = Table(f"{LOCATION}-gone", credentials=BY_DELTA_API)
    with pytest.raises(LiveError, match="no Delta table is there") as caught:
        catalog.read("sales.orders", in_s3)
    assert not isinstance(caught.value, NoTable)
