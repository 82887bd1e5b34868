"""Whose credentials a request has: those of settings are a group, which the environment does not complete."""

from __future__ import annotations

import pytest

from schemalint.base.credentials import has_credentials
from schemalint.base.errors import LiveError
from schemalint.project.config import Target
from schemalint.project.config.trust import TrustedTarget, resolve_storage
from schemalint.tables.storage import read_table
from support.servers import ACCOUNT_KEY, refusing_server

DENIED = "<Error><Code>AccessDenied</Code></Error>"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIAOFTHEENVIRONMENT",
    "AWS_SECRET_ACCESS_KEY": "secret-of-the-environment",
    "AWS_SESSION_TOKEN": "token-of-the-environment",
    "AWS_SKIP_SIGNATURE": "true",
    "AZURE_STORAGE_ACCOUNT_KEY": ACCOUNT_KEY,
    "AZURE_CLIENT_ID": "client",
    "AZURE_CLIENT_SECRET": "secret",
    "AZURE_TENANT_ID": "tenant",
}
OWN_KEYS = {"access_key_id": "AKIAOWN", "secret_access_key": "own-secret"}


@pytest.mark.parametrize(
    ("uri", "settings", "sent", "not_sent"),
    [
        ("s3://lake/t", OWN_KEYS, ["AKIAOWN"], ["security-token"]),
        ("s3://lake/t", {**OWN_KEYS, "session_token": "own-token"}, ["AKIAOWN", "own-token"], []),
        ("s3://lake/t", {**OWN_KEYS, "skip_signature": "true"}, ["GET"], ["AKIA", "security-token"]),
        ("az://lake/t", {"sas_token": "sv=1&sig=own"}, ["sig=own"], ["authorization"]),
        ("az://lake/t", {"account_key": ACCOUNT_KEY}, ["authorization: SharedKey"], ["sig="]),
        ("gs://lake/t", {"bearer_token": "own-token"}, ["authorization: Bearer own-token"], []),
    ],
)
def test_credentials_of_settings_are_not_mixed_with_the_environment_s(
    monkeypatch: pytest.MonkeyPatch, uri: str, settings: dict[str, str], sent: list[str], not_sent: list[str]
) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    seen: list[str] = []
    with refusing_server(403, DENIED, seen=seen) as endpoint:
        storage = {"endpoint": endpoint, "allow_http": "true", **settings}
        if uri.startswith("az"):
            storage["account_name"] = "account"
        with pytest.raises(LiveError, match="is denied"):
            read_table(uri, storage=storage)
    (request,) = seen
    assert [text for text in sent if text not in request] == []
    assert [text for text in [*not_sent, "of-the-environment"] if text in request] == []


def test_a_denial_names_the_settings_whose_credentials_were_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "AKIAOWN")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAOFTHEENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    keys = {"access_key_id": "${KEY}", "secret_access_key": "${KEY}"}
    for settings, origin, remedy in (
        (keys, "the settings of targets.prod.storage", "Check the credentials in targets.prod.storage."),
        ({}, "the credentials of the environment", "or from targets.prod.storage"),
    ):
        with refusing_server(403, DENIED) as endpoint:
            storage = {"endpoint": endpoint, "allow_http": "true", **settings}
            target = TrustedTarget(Target("prod", storage=storage))
            with pytest.raises(LiveError) as caught:
                read_table("s3://lake/t", storage=resolve_storage(target))
        expected = f"access to bucket lake is denied with {origin} (the store says AccessDenied)"
        assert caught.value.message == f"s3://lake/t: {expected}"
        assert remedy in caught.value.help


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("access_key_id", True),
        ("AWS_SECRET_ACCESS_KEY", True),
        ("aws_session_token", True),
        ("azure_storage_sas_token", True),
        ("azure_storage_account_key", True),
        ("azure_client_secret", True),
        ("google_service_account", True),
        ("google_bearer_token", True),
        ("anonymous", True),
        ("use_azure_cli", True),
        ("role_arn", True),
        ("region", False),
        ("AWS_ENDPOINT_URL", False),
        ("account_name", False),
        ("timeout", False),
        ("proxy_url", False),
        ("sse_kms_key_id", False),
        ("root_certificate", False),
    ],
)
def test_settings_that_choose_credentials_are_known(name: str, *, expected: bool) -> None:
    assert has_credentials({name: "x"}) == expected
