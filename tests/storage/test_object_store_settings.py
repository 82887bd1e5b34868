"""A target's storage settings, and table locations below a root in an object store."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from schemalint import contract
from schemalint.base.errors import ConfigError
from schemalint.project import config
from schemalint.project.config.storage_settings import is_public_setting
from schemalint.project.config.trust import TrustedTarget, resolve_storage
from schemalint.tables.catalog.table_location import table_location
from support.project import ORDERS

DOCUMENTED = re.search(
    r"may be written out: (.*?)\. Every other",
    (Path(__file__).parents[2] / "docs/tables.md").read_text(encoding="utf-8"),
    re.DOTALL,
)


def target(*lines: str, root: str = "s3://lake") -> TrustedTarget:
    text = "\n".join([f'targets.prod.root = "{root}"', "[targets.prod.storage]", *lines])
    return TrustedTarget(config.parse("schemalint.toml", text.encode()).targets["prod"])


def test_settings_are_literal_and_secrets_are_variable_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("S", "hunter2")
    prod = target('region = "eu-central-1"', 'AWS_ENDPOINT_URL = "https://x:9000"', 'secret_key = "${S}"')
    assert prod.storage == {
        "region": "eu-central-1",
        "AWS_ENDPOINT_URL": "https://x:9000",
        "secret_key": "${S}",
    }
    resolved = resolve_storage(prod)
    assert resolved == {**prod.storage, "secret_key": "hunter2"}
    assert "hunter2" not in repr(prod)


@pytest.mark.parametrize("environ", [{}, {"S": ""}])
def test_an_unset_variable_is_an_error(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("S", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=r"variable S is not set: targets\.prod\.storage\.token"):
        resolve_storage(target('token = "${S}"'))


@pytest.mark.parametrize(
    "key",
    [
        "secret_access_key",
        "AWS_SECRET_ACCESS_KEY",
        "access_key_id",
        "session_token",
        "sas_token",
        "account_key",
        "azure_storage_account_key",
        "password",
        "client_secret",
        "service_account_key",
        "proxy_url",
        "region_secret",
        "anything",
    ],
)
def test_a_literal_secret_is_refused_and_not_printed(key: str) -> None:
    with pytest.raises(ConfigError, match=f"targets.prod.storage.{key} must be") as caught:
        target(f'{key} = "hunter2"')
    assert "hunter2" not in str(caught.value)
    assert caught.value.location is not None
    assert caught.value.location.line == 3


@pytest.mark.parametrize(
    "address", ["https://me:hunter2@store", "https://a.blob.core.windows.net?sig=hunter2", "${A}hunter2@"]
)
def test_an_endpoint_with_a_secret_is_refused(address: str) -> None:
    with pytest.raises(ConfigError) as caught:
        target(f'endpoint = "{address}"')
    assert "hunter2" not in str(caught.value)


def test_literal_settings_are_documented() -> None:
    assert DOCUMENTED is not None
    keys = re.findall(r"`(\w+)`", DOCUMENTED[1])
    assert len(keys) == 17
    assert [key for key in keys if not is_public_setting(key, "x")] == []


@pytest.mark.parametrize(
    ("root", "location", "expected"),
    [
        ("s3://lake", None, "s3://lake/sales/orders"),
        ("s3://lake/", None, "s3://lake/sales/orders"),
        ("s3://lake//a/./b/", "x/y", "s3://lake/a/b/x/y"),
        ("s3://lake/a%20b", "c%2Fd", "s3://lake/a%20b/c%2Fd"),
        ("s3://lake/a b", "größe/v1.2", "s3://lake/a b/größe/v1.2"),
        ("s3://lake", "s3://lake/orders", "s3://lake/orders"),
        (
            "abfss://c@a.dfs.core.windows.net/root",
            None,
            "abfss://c@a.dfs.core.windows.net/root/sales/orders",
        ),
    ],
)
def test_table_location_joins_the_root_with_the_location_or_name(
    root: str, location: str | None, expected: str
) -> None:
    text = ORDERS + (f'location: "{location}"\n' if location else "")
    (declared,) = contract.read("t.yml", text.encode()).contracts
    assert table_location(declared, target(root=root), Path("/repository")) == expected


@pytest.mark.parametrize(
    "location", ["s3://lakes/orders", "s3://other/orders", "s3a://lakes/orders", "../x", "s3://lake/../other"]
)
def test_a_location_outside_the_root_is_refused(location: str) -> None:
    (declared,) = contract.read("t.yml", f'{ORDERS}location: "{location}"\n'.encode()).contracts
    with pytest.raises(ConfigError):
        table_location(declared, target(), Path("/repository"))


def test_a_location_below_the_root_may_have_the_other_scheme_of_the_store() -> None:
    (declared,) = contract.read("t.yml", f'{ORDERS}location: "s3a://lake/orders"\n'.encode()).contracts
    assert table_location(declared, target(), Path("/repository")) == "s3a://lake/orders"
