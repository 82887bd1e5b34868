"""A catalog to ask, and a target that has it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from schemalint.catalog import _opened
from schemalint.config import Target
from support.unity_server import UnityServer, serving


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[UnityServer]:
    """It must be asked as described, and only for reading."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    _opened.cache_clear()  # another server may have had the same port
    with serving(UnityServer()) as state:
        yield state
    assert state.problems == []
    for one in state.requests:
        if one.method != "GET":
            assert (one.method, one.path) == ("POST", "/temporary-table-credentials")
        if "credentials" in one.path:
            assert "READ" in {one.query.get("operation"), (one.body or {}).get("operation")}


@pytest.fixture
def target(server: UnityServer, monkeypatch: pytest.MonkeyPatch) -> Target:
    """Of catalog ``main``, opened by the right token."""
    monkeypatch.setenv("UC_TOKEN", "secret-token")
    return Target("prod", catalog="main", catalog_uri=server.uri, catalog_token="${UC_TOKEN}")  # noqa: S106


@pytest.fixture(params=["delta", "classic"])
def each_api(server: UnityServer, request: pytest.FixtureRequest) -> None:
    """The same by the Delta API, and where there is none."""
    server.has_delta_api = request.param == "delta"
