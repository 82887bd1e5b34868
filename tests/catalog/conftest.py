"""A Unity Catalog server, and a target that uses it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schemalint.project.config import Target
from schemalint.project.config.trust import TrustedTarget
from schemalint.tables.catalog import _opened
from support.unity_server import UnityServer, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[UnityServer]:
    """A server; all requests must match the API descriptions and only read, unless it lets them stage."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    _opened.cache_clear()  # an earlier server may have had the same port
    with serving(UnityServer()) as state:
        yield state
    assert state.problems == []
    for request in state.requests:
        may_write = (state.may_stage and request.path.endswith("/staging-tables")) or state.may_update
        if request.method != "GET" and not may_write:
            assert (request.method, request.path) == ("POST", "/temporary-table-credentials")
        if "credentials" in request.path:
            assert "READ" in {request.query.get("operation"), (request.body or {}).get("operation")}


@pytest.fixture
def target(server: UnityServer, monkeypatch: pytest.MonkeyPatch) -> TrustedTarget:
    """A target with catalog ``main`` and a valid token."""
    monkeypatch.setenv("UC_TOKEN", "secret-token")
    return TrustedTarget(Target("prod", catalog="main", catalog_uri=server.uri, catalog_token="${UC_TOKEN}"))  # noqa: S106


@pytest.fixture(params=["delta", "classic"])
def each_api(server: UnityServer, request: pytest.FixtureRequest) -> None:
    """Run the test with the Delta API and, without it, with the classic API."""
    server.has_delta_api = request.param == "delta"
