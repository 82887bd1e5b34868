"""Connections to a store that fail: each is told as what it is, with the file, after few attempts."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import read_table
from schemalint.tables.storage.kinds.object_store import failures, store_client
from support.hostile_servers import answers, hostile_server, http_answer
from support.project import ORDERS, Project
from support.repo import Repo

COMMIT = f"{0:020}.json"
LISTING = (
    f"<ListBucketResult><Name>lake</Name><Contents><Key>t/_delta_log/{COMMIT}</Key>"
    "<Size>900</Size><LastModified>2026-11-01T10:00:00Z</LastModified></Contents></ListBucketResult>"
)
CODE = "<Error><Code>{}</Code></Error>"
KEYS = {"access_key_id": "AKIA", "secret_access_key": "s", "allow_http": "true"}


def _lists(then: bytes | None) -> Callable[[str], bytes | None]:
    """Answer listings, and the request for the commit with something else."""
    return lambda line: http_answer(200, LISTING) if "list-type=2" in line else then


@pytest.mark.parametrize(
    ("respond", "file", "message"),
    [
        (lambda _line: None, "", "the connection to the store broke off"),
        (lambda _line: b"", "", "the connection to the store broke off"),
        (lambda _line: http_answer(200, LISTING[:80], 500), "", "the connection to the store broke off"),
        (_lists(None), f"/_delta_log/{COMMIT}", "the connection to the store broke off"),
        (
            _lists(http_answer(200, '{"a"', 900)),
            f"/_delta_log/{COMMIT}",
            "an answer broke off, and the store",
        ),
        (
            _lists(http_answer(500, CODE.format("InternalError"))),
            f"/_delta_log/{COMMIT}",
            "the store fails, for repeated requests too (the store says InternalError)",
        ),
        (lambda _line: http_answer(502, "<html>"), "", "requests too (the store says 502)"),
        (
            lambda _line: http_answer(503, CODE.format("SlowDown")),
            "",
            "the store is overloaded, and refuses repeated requests too (the store says SlowDown)",
        ),
        (
            lambda _line: http_answer(429, ""),
            "",
            "the store is overloaded, and refuses repeated requests too",
        ),
    ],
    ids=["reset", "no answer", "cut listing", "reset at a file", "cut file", "500", "502", "503", "429"],
)
def test_a_failed_request_is_told_as_what_it_is(
    respond: Callable[[str], bytes | None], file: str, message: str
) -> None:
    requests: list[str] = []

    def recorded(line: str) -> bytes | None:
        requests.append(line)
        return respond(line)

    with hostile_server(answers(recorded)) as port, pytest.raises(LiveError) as caught:
        read_table("s3://lake/t", storage={**KEYS, "endpoint": f"http://127.0.0.1:{port}"})
    assert not isinstance(caught.value, NoTable)
    assert caught.value.message.startswith(f"s3://lake/t{file}: ")
    assert message in caught.value.message
    assert caught.value.help
    assert max(map(requests.count, requests)) <= 4


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        ("http://127.0.0.1:1", "the store cannot be reached: its host refuses the connection"),
        ("https://store.invalid", "the store cannot be reached: the name of its host is unknown"),
    ],
)
def test_a_store_that_cannot_be_reached_is_told_with_the_reason(endpoint: str, message: str) -> None:
    with pytest.raises(LiveError) as caught:
        read_table("s3://lake/t", storage={**KEYS, "endpoint": endpoint})
    assert caught.value.message == f"s3://lake/t: {message}"


@pytest.fixture
def full() -> Iterator[int]:
    """The port of a server with a full queue: the system drops all further connections."""
    with socket.socket() as server, ExitStack() as clients:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            client = clients.enter_context(socket.socket())
            client.setblocking(False)  # noqa: FBT003 (its only parameter has no name)
            client.connect_ex(server.getsockname())
        yield server.getsockname()[1]


def test_a_store_without_a_connection_is_waited_for_once(full: int, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = {**KEYS, "endpoint": f"http://127.0.0.1:{full}", "connect_timeout": "100 ms"}
    message = "the store cannot be reached: there is no connection within the time limit"
    with pytest.raises(LiveError, match=f"^s3://lake/t: {message}"):
        read_table("s3://lake/t", storage=storage)
    opened: list[str] = []
    monkeypatch.setattr(store_client, "options", lambda *_: opened.append("opened"))
    for number in range(200):
        with pytest.raises(LiveError, match=f"^s3://lake/t{number}: {message}"):
            read_table(f"s3://lake/t{number}", storage=storage)
    assert opened == []
    monkeypatch.undo()
    denied = answers(lambda _line: http_answer(403, CODE.format("AccessDenied")))
    with hostile_server(denied) as port, pytest.raises(LiveError, match="is denied"):
        read_table("s3://lake/t", storage={**KEYS, "endpoint": f"http://127.0.0.1:{port}"})


def test_a_store_that_answers_again_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(failures.StoreUnreachable), failures.watched("s3 another"):
        raise failures.StoreUnreachable("s3://lake/t", "no connection", help="")
    with pytest.raises(failures.StoreUnreachable, match="s3://lake/u: no connection"):
        failures.require_reachable("s3 another", "s3://lake/u")
    with failures.watched("s3 another"):
        pass
    failures.require_reachable("s3 another", "s3://lake/u")
    monkeypatch.setattr(failures, "SECONDS", 0.0)
    with pytest.raises(failures.StoreUnreachable), failures.watched("s3 another"):
        raise failures.StoreUnreachable("s3://lake/t", "no connection", help="")
    failures.require_reachable("s3 another", "s3://lake/u")


@pytest.mark.parametrize("name", ["root_certificate", "proxy_ca_certificate"])
def test_a_setting_that_the_client_ignores_is_refused(name: str) -> None:
    with pytest.raises(LiveError, match=f"{name} is no setting that the client obeys") as caught:
        read_table("s3://lake/t", storage={**KEYS, name: "x"})
    assert "SSL_CERT_FILE" in caught.value.help


def test_commands_end_with_2_and_tell_the_failed_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = Repo(tmp_path / "repository")
    for name, value in {**repo.env, "KEY": "AKIA-0123456789"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(repo.path)
    project = Project(repo, capsys)
    project.declare(ORDERS)
    with hostile_server(answers(lambda _line: None)) as port:
        settings = f'endpoint = "http://127.0.0.1:{port}"\nallow_http = "true"\naccess_key_id = "${{KEY}}"\n'
        target = f'[targets.prod]\nroot = "s3://lake"\n[targets.prod.storage]\n{settings}'
        repo.write("schemalint.toml", f'{target}secret_access_key = "${{KEY}}"\n')
        repo.commit()
        for command in (["check", "--live", "--all"], ["plan"], ["show", "s3://lake/t", "--target", "prod"]):
            run = project.run(*command)
            assert run.status == 2
            assert re.search(r"s3://lake/\S+: the connection to the store broke off", run.out + run.err)
            assert "Traceback" not in run.out + run.err
