"""Which credentials open a table of a catalog: the target's, the catalog's or the environment's."""

from __future__ import annotations

from typing import Any

import pytest

from schemalint.base.errors import LiveError
from schemalint.base.values import replace
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables import catalog
from schemalint.tables.delta_log.store import NoTable
from support.servers import refusing_server
from support.unity_server import Table, UnityServer

DENIED = "<Error><Code>{}</Code></Error>"
BY_CATALOG: dict[bool, dict[str, Any]] = {
    True: {"s3.access-key-id": "AKIACATALOG", "s3.secret-access-key": "s", "s3.session-token": "t"},
    False: {"aws_temp_credentials": {"access_key_id": "AKIACATALOG", "secret_access_key": "s"}},
}
OWN = {"access_key_id": "${OWN_KEY}", "secret_access_key": "${OWN_KEY}"}
NO_USE_SCHEMA = (
    b'{"error_code": "PERMISSION_DENIED", "message": "no EXTERNAL USE SCHEMA",'
    b'"error": {"type": "PermissionDeniedException", "message": "no EXTERNAL USE SCHEMA", "code": 403}}'
)


@pytest.fixture(autouse=True)
def _environment(each_api: None, server: UnityServer, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setenv("OWN_KEY", "AKIAOWN-0123456789")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "e")
    server.tables["main.sales.orders"] = Table(
        "s3://lake/orders", credentials=BY_CATALOG[server.has_delta_api]
    )


def _refuse_credentials(server: UnityServer, status: int) -> None:
    server.fault = lambda path: (status, {}, NO_USE_SCHEMA) if "credentials" in path else None


def _read(
    target: TrustedTarget, store: dict[str, str], code: str = "AccessDenied"
) -> tuple[LiveError, list[str]]:
    """Read the table from a store that denies everything; return the error and the requests to the store."""
    seen: list[str] = []
    with refusing_server(403, DENIED.format(code), seen=seen) as endpoint:
        storage = {**store, "endpoint": endpoint, "allow_http": "true"}
        with pytest.raises(LiveError) as caught:
            catalog.read("sales.orders", replace(target, storage=storage))
    assert not isinstance(caught.value, NoTable)
    assert "AKIA" not in str(caught.value)
    return caught.value, seen


def test_the_catalog_s_credentials_open_a_table_and_the_block_s_other_settings_count(
    target: TrustedTarget,
) -> None:
    error, (request, *_) = _read(target, {"region": "eu-west-1"})
    assert "AKIACATALOG" in request
    assert "eu-west-1" in request
    assert (
        "access to bucket lake is denied with the credentials that the catalog gave (the store says Access"
        in error.message
    )
    assert "Credentials in targets.prod.storage are used instead of the catalog's." in error.help


def test_expired_credentials_of_the_catalog_are_told_as_its_own(target: TrustedTarget) -> None:
    error, _ = _read(target, {"region": "eu-west-1"}, "ExpiredToken")
    assert (
        "with the credentials that the catalog gave is denied: the credentials have expired" in error.message
    )


def test_credentials_in_the_target_win_and_the_catalog_is_not_asked(
    server: UnityServer, target: TrustedTarget
) -> None:
    error, (request, *_) = _read(target, OWN)
    assert "AKIAOWN" in request
    assert not [line for line in server.request_lines if "credentials" in line]
    assert "is denied with the settings of targets.prod.storage" in error.message


def test_unsigned_requests_win_too(server: UnityServer, target: TrustedTarget) -> None:
    _, (request, *_) = _read(target, {"anonymous": "true"})
    assert "uthorization" not in request
    assert not [line for line in server.request_lines if "credentials" in line]


@pytest.mark.parametrize("status", [400, 403, 404, 500])
def test_a_target_with_storage_stands_in_for_credentials_that_the_catalog_refuses(
    server: UnityServer, target: TrustedTarget, status: int
) -> None:
    _refuse_credentials(server, status)
    error, (request, *_) = _read(target, {"region": "eu-west-1"})
    assert "AKIAENVIRONMENT" in request
    assert "with the credentials of the environment, since the catalog gives none (" in error.message
    assert "no EXTERNAL USE SCHEMA" in error.message


def test_a_target_without_storage_gets_the_catalog_s_refusal(
    server: UnityServer, target: TrustedTarget
) -> None:
    _refuse_credentials(server, 403)
    with pytest.raises(LiveError, match="the catalog gives no credentials for s3://lake/orders: ") as caught:
        catalog.read("sales.orders", target)
    assert "no EXTERNAL USE SCHEMA" in caught.value.message
    assert "EXTERNAL USE SCHEMA" in caught.value.help
    assert "targets.prod.storage" in caught.value.help


def test_a_catalog_that_answers_without_credentials_leaves_the_environment_s(
    server: UnityServer, target: TrustedTarget
) -> None:
    server.tables["main.sales.orders"].credentials = {}
    error, (request, *_) = _read(target, {"region": "eu-west-1"})
    assert "AKIAENVIRONMENT" in request
    assert "with the credentials of the environment, since the catalog gives none" in error.message
