"""A server that is silent, slow without end or resets connections: each ends a request, told as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import LiveError
from schemalint.spark.connect_server import silence_of
from schemalint.tables.catalog.kinds.unity.http import Client
from schemalint.tables.storage import read_table
from support.hostile_servers import drips, hostile_server, resets, stays_silent

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    Behaviour = Callable[[socket.socket], None]

PATIENCE = 60  # seconds, for a server that answers at once
# How long to wait for each byte, and what is told. A whole answer has twice as long; on a busy machine either
# may end the request first.
CATALOG = [
    (resets, PATIENCE, "the connection to the catalog broke off: ConnectionResetError"),
    (stays_silent, 0.2, r"the catalog did not answer within 0\.[24] seconds"),
    (drips, 0.2, r"the catalog did not answer within 0\.[24] seconds"),
]
STORE = [
    (resets, PATIENCE, "the connection to the store broke off"),
    (stays_silent, 1, "the store does not answer in time"),
]
CONNECT = [
    (resets, PATIENCE, "it resets the connection"),
    (stays_silent, 0.2, "it accepts the connection, and stays silent"),
    (drips, PATIENCE, "what answers there is no Spark Connect server"),
]


@pytest.mark.parametrize(("behave", "seconds", "message"), CATALOG)
def test_catalog(behave: Behaviour, seconds: float, message: str) -> None:
    with hostile_server(behave) as port, pytest.raises(LiveError, match=message):
        Client(f"http://127.0.0.1:{port}", timeout=seconds, wait=lambda _seconds: None).get(("catalogs",))


@pytest.mark.parametrize(("behave", "seconds", "message"), STORE)
def test_object_store(monkeypatch: pytest.MonkeyPatch, behave: Behaviour, seconds: int, message: str) -> None:
    monkeypatch.setattr("schemalint.base.limits.STORE_RETRIES", 0)
    storage = {"region": "x", "allow_http": "true", "access_key_id": "a", "secret_access_key": "b"}
    with hostile_server(behave) as port, pytest.raises(LiveError, match=message):
        read_table(
            "s3://bucket/t",
            storage={**storage, "endpoint": f"http://127.0.0.1:{port}", "timeout": f"{seconds} seconds"},
        )


@pytest.mark.parametrize(("behave", "seconds", "message"), CONNECT)
def test_spark_connect(
    monkeypatch: pytest.MonkeyPatch, behave: Behaviour, seconds: float, message: str
) -> None:
    monkeypatch.setattr("schemalint.spark.connect_server._ATTEMPT_SECONDS", seconds)
    with hostile_server(behave) as port:
        assert silence_of(f"sc://127.0.0.1:{port}") == message


def test_spark_connect_without_a_server() -> None:
    assert silence_of("sc://127.0.0.1:1") == "Connection refused"
