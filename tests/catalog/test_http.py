"""Faulty catalog servers: every failure is a clear error, and the token never leaks."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from schemalint.base.errors import LiveError
from schemalint.tables.catalog.kinds.unity.http import Client, HttpError
from support.hostile_servers import answers, hostile_server, http_answer
from support.unity_server import UnityServer, serving

TOKEN = "secret-token"  # noqa: S105


@pytest.fixture
def client(server: UnityServer) -> Client:
    return Client(server.uri, TOKEN, wait=lambda _seconds: None)


def test_rejected_token_and_missing_permission_are_different_errors(
    server: UnityServer, client: Client
) -> None:
    with pytest.raises(HttpError, match="the token is missing or not accepted") as refused:
        Client(server.uri, "other").get(("catalogs",))
    assert (refused.value.status, refused.value.reason) == (401, "UNAUTHENTICATED")
    assert "catalog_token" in refused.value.help
    server.fault = lambda _path: (403, {}, b'{"error_code": "PERMISSION_DENIED", "message": "no grant"}')
    with pytest.raises(HttpError, match="the token has no permission: no grant") as forbidden:
        client.get(("catalogs",))
    assert forbidden.value.status == 403
    assert "USE SCHEMA" in forbidden.value.help


def test_token_repeated_by_the_server_is_not_printed(server: UnityServer, client: Client) -> None:
    body = b'{"error_code": "INVALID secret-token", "message": "bad token secret-token\\nfor you"}'
    server.fault = lambda _path: (400, {}, body)
    with pytest.raises(HttpError) as raised:
        client.get(("catalogs",))
    assert TOKEN not in str(raised.value)
    assert "\n" not in str(raised.value)
    assert TOKEN not in repr(client)


def test_redirect_is_not_followed_with_the_token(server: UnityServer, client: Client) -> None:
    with serving(UnityServer()) as other:
        server.fault = lambda _path: (302, {"Location": f"{other.uri}/catalogs"}, b"")
        with pytest.raises(HttpError, match="redirects to") as raised:
            client.get(("catalogs",))
        assert other.requests == []
    assert "own URI" in raised.value.help


@pytest.mark.parametrize(
    "body", [b"<html>", b"[1]", b"", b'{"a":', b"\xff\xfe", b"[" * 100_000], ids=lambda body: repr(body[:6])
)
def test_answer_that_is_not_a_json_object_is_an_error(
    server: UnityServer, client: Client, body: bytes
) -> None:
    server.fault = lambda _path: (200, {}, body)
    with pytest.raises(LiveError, match="not a JSON object"):
        client.get(("catalogs",))


def test_value_of_the_wrong_type_is_an_error(server: UnityServer, client: Client) -> None:
    server.fault = lambda _path: (200, {}, b'{"name": 1, "list": [1], "map": {"a": []}, "flag": true}')
    answer = client.get(("catalogs",))
    for read_value in (
        lambda: answer.optional("name", str),
        lambda: answer.optional("flag", int),
        lambda: answer.inner("name"),
        lambda: answer.objects("list"),
        lambda: answer.texts("list"),
        lambda: answer.pairs("map"),
    ):
        with pytest.raises(LiveError, match="is not"):
            read_value()
    assert answer.optional("no", str) is None
    assert (answer.objects("no"), answer.texts("no"), answer.pairs("no")) == ((), (), {})


def test_too_long_answer_is_an_error(server: UnityServer) -> None:
    server.fault = lambda _path: (200, {}, b'{"a": "' + b"x" * 100_000 + b'"}')
    with pytest.raises(LiveError, match="longer than 1000 bytes"):
        Client(server.uri, TOKEN, most_bytes=1000).get(("catalogs",))


def test_requests_to_a_busy_server_are_repeated_a_few_times(server: UnityServer) -> None:
    waited: list[float] = []
    answers = iter([(503, {"Retry-After": "2"}, b""), (429, {"Retry-After": "9999"}, b"")])
    server.fault = lambda _path: next(answers, None)
    client = Client(server.uri, TOKEN, wait=waited.append)
    assert client.get(("catalogs",)).objects("catalogs")
    assert waited == [2.0, 10.0]
    server.fault = lambda _path: (503, {"Retry-After": "Fri, 20 Nov 2026"}, b"")
    with pytest.raises(HttpError, match="503"):
        client.get(("catalogs",))
    assert waited[2:] == [1.0, 1.0]


# A whole answer has twice the time of one byte; on a busy machine either may end first.
def test_server_that_does_not_answer_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(LiveError, match=r"did not answer within 0\.[12] seconds"):
            Client(uri, timeout=0.1).get(("catalogs",))


def test_server_that_answers_too_slowly_is_an_error() -> None:
    with _dripping() as uri, pytest.raises(LiveError, match=r"did not answer within 0\.[24] seconds"):
        Client(uri, timeout=0.2).get(("catalogs",))


def test_unreachable_server_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(LiveError, match="cannot be reached"):
        Client(f"http://127.0.0.1:{port}").get(("catalogs",))


@pytest.mark.parametrize(
    "respond",
    [lambda _line: None, lambda _line: b"", lambda _line: http_answer(200, '{"a": 1}', 10)],
    ids=["reset", "no answer", "cut body"],
)
def test_a_connection_that_breaks_off_is_told_and_only_reading_is_repeated(
    respond: Callable[[str], bytes | None],
) -> None:
    requests: list[str] = []

    def recorded(line: str) -> bytes | None:
        requests.append(line)
        return respond(line)

    with hostile_server(answers(recorded)) as port:
        client = Client(f"http://127.0.0.1:{port}", wait=lambda _seconds: None)
        told = f"^127.0.0.1:{port}: the connection to the catalog broke off"
        with pytest.raises(LiveError, match=told):
            client.get(("catalogs",))
        with pytest.raises(LiveError, match=told):
            client.post(("catalogs",), {})
    assert [line[:4] for line in requests] == ["GET "] * 3 + ["POST"]


def test_a_failed_answer_is_asked_for_again(server: UnityServer, client: Client) -> None:
    failures = iter([(500, {"X": "1"}, b""), (502, {"X": "2"}, b"")])
    server.fault = lambda _path: next(failures, None)
    assert client.get(("catalogs",)).objects("catalogs")
    server.fault = lambda _path: (500, {}, b"")
    with pytest.raises(HttpError, match="500"):
        client.post(("temporary-table-credentials",), {"operation": "READ"})
    assert [line[:4] for line in server.request_lines] == ["GET "] * 3 + ["POST"]


@pytest.mark.parametrize(
    ("uri", "message"),
    [
        ("http://127.0.0.1:1", "the catalog cannot be reached: its host refuses the connection"),
        ("https://catalog.invalid", "the catalog cannot be reached: the name of its host is unknown"),
    ],
)
def test_a_catalog_that_cannot_be_reached_is_told_with_the_reason(uri: str, message: str) -> None:
    with pytest.raises(LiveError, match=message):
        Client(uri).get(("catalogs",))


def test_path_is_quoted(server: UnityServer, client: Client) -> None:
    with pytest.raises(HttpError):
        client.get(("schemas", "main.a b/../c?d#e"))
    assert server.requests[-1].path == "/schemas/main.a b/../c?d#e"
    server.problems.clear()


@contextmanager
def _dripping() -> Iterator[str]:
    """Start a server that sends single bytes until the connection closes, and yield its address."""
    done = threading.Event()

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while not done.wait(0.01):
                try:
                    connection.sendall(b" ")
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            done.set()
            thread.join()
