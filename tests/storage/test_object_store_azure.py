"""Tables in Azure Storage, emulated by Azurite, which checks every signature."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from obstore.store import AzureStore

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import find_tables, read_table
from support.logs import metadata, protocol, write_log
from support.servers import ACCOUNT, ACCOUNT_KEY, azure_server, send_put, upload

WRITTEN = Path(__file__).parents[1] / "delta_log/logs"
WRONG_KEY = base64.b64encode(b"x" * 64).decode()


@pytest.fixture(scope="module")
def azurite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an account with the containers ``lake`` and ``open``, which is public."""
    with azure_server(tmp_path_factory.mktemp("azurite")) as address:
        create_container(address, "lake")
        create_container(address, "open", access="container")
        yield address


@pytest.fixture
def storage(azurite: str) -> dict[str, str]:
    return {"endpoint": azurite, "allow_http": "true", "account_key": ACCOUNT_KEY, "account_name": ACCOUNT}


def create_container(address: str, name: str, access: str = "") -> None:
    """Create a container with a hand-signed request, because obstore cannot.

    See "Authorize with Shared Key" in the reference of Azure Storage's REST API.
    """
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
    if access:
        headers["x-ms-blob-public-access"] = access
    lines = "".join(f"{key}:{headers[key]}\n" for key in sorted(headers))
    path = f"{urlsplit(address).path}/{name}"
    text = "PUT" + "\n" * 12 + f"{lines}/{ACCOUNT}{path}\nrestype:container"
    digest = hmac.new(base64.b64decode(ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
    send_put(f"{address}/{name}?restype=container", headers)


def put_table(storage: dict[str, str], folder: Path, prefix: str, container: str = "lake") -> None:
    upload(AzureStore(container, config=storage), folder, prefix)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "address",
    [
        "az://lake/{}",
        "abfs://lake/{}",
        f"abfss://lake@{ACCOUNT}.dfs.core.windows.net/{{}}",
        f"ABFSS://lake@{ACCOUNT}.blob.core.windows.net//{{}}/",
    ],
)
def test_every_form_of_an_address_is_read(storage: dict[str, str], address: str, tmp_path: Path) -> None:
    put_table(storage, write_log(tmp_path / "t", [[protocol(), metadata()]]), "a b/größe%20")
    if ACCOUNT in address:
        del storage["account_name"]
    assert read_table(address.format("a b/größe%20"), storage=storage).version == 0


@pytest.mark.parametrize("name", ["widened", "checkpointed"])
def test_a_table_written_by_spark_equals_its_local_copy(storage: dict[str, str], name: str) -> None:
    put_table(storage, WRITTEN / name, name)
    found, local = read_table(f"az://lake/{name}", storage=storage), read_table(str(WRITTEN / name))
    assert (found.version, found.metadata, found.protocol) == (local.version, local.metadata, local.protocol)
    assert len(found.history.entries) == len(local.history.entries)
    assert f"az://lake/{name}" in find_tables("az://lake", storage)


def test_missing_table_and_missing_container_are_different_errors(storage: dict[str, str]) -> None:
    with pytest.raises(NoTable):
        read_table("az://lake/none", storage=storage)
    with pytest.raises(LiveError, match="there is no container nowhere") as caught:
        read_table("az://nowhere/t", storage=storage)
    assert not isinstance(caught.value, NoTable)


@pytest.mark.parametrize(
    "credentials",
    [
        {"account_key": WRONG_KEY},
        {"sas_token": "sv=2021-12-02&ss=b&srt=sco&sp=rl&se=2099-01-01&sig=aHVudGVyMg%3D%3D"},
        {"token": "hunter2"},
        {"anonymous": "true"},
        {"account_key": "not base64: hunter2"},
    ],
)
def test_wrong_credentials_are_no_missing_table(storage: dict[str, str], credentials: dict[str, str]) -> None:
    del storage["account_key"]
    with pytest.raises(LiveError) as caught:
        read_table("az://lake/none", storage={**storage, **credentials})
    assert not isinstance(caught.value, NoTable)
    assert not any(value in str(caught.value) for value in credentials.values() if value != "true")


@pytest.mark.wide
def test_anonymous_access_reads_a_public_container(storage: dict[str, str], tmp_path: Path) -> None:
    put_table(storage, write_log(tmp_path / "t", [[protocol(), metadata()]]), "t", "open")
    del storage["account_key"]
    assert read_table("az://open/t", storage={**storage, "anonymous": "true"}).version == 0


def test_an_address_without_an_account_is_an_error() -> None:
    with pytest.raises(LiveError, match="no storage account is named"):
        read_table("az://lake/t")
