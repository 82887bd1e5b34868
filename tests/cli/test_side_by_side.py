"""Tables in a store are worked on side by side: a real server holds requests until several are in flight."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest

if TYPE_CHECKING:
    from support.project import Project

NUMBER = 4
TABLES = [f"s.t{index}" for index in range(NUMBER)]
EMPTY = b'<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>'
MISSING = b'<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>'


@dataclass
class EmptyStore:
    """A bucket without files, whose first answer about each log, and about each folder, waits for others.

    Attributes:
        together: How many requests are answered at once.
        seconds: How long the first of them waits for the others.
        address: Where it listens.
        failed: Whether requests waited in vain: they came one after the other.
    """

    together: int
    seconds: float
    address: str = ""
    failed: bool = False
    _seen: set[tuple[str, bool]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._barriers = {
            kind: threading.Barrier(self.together, timeout=self.seconds) for kind in (True, False)
        }

    def hold(self, path: str) -> None:
        table = re.search(r"s/t\d+", unquote(path))
        if table is None:
            return
        key = (table[0], "_delta_log" in path)
        with self._lock:
            is_first = key not in self._seen
            self._seen.add(key)
        try:
            if is_first:
                self._barriers[key[1]].wait()
        except threading.BrokenBarrierError:
            self.failed = True


@contextmanager
def empty_store(together: int, seconds: float = 120) -> Iterator[EmptyStore]:
    """Start the server."""
    store = EmptyStore(together, seconds)

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            store.hold(self.path)
            is_listing = "list-type=2" in self.path
            self.send_response(200 if is_listing else 404)
            self.send_header("Content-Length", str(len(EMPTY if is_listing else MISSING)))
            self.end_headers()
            self.wfile.write(EMPTY if is_listing else MISSING)

        def do_HEAD(self) -> None:
            store.hold(self.path)
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        store.address = f"http://127.0.0.1:{server.server_port}"
        yield store
        server.shutdown()


def declare(project: Project, store: EmptyStore) -> None:
    for table in TABLES:
        project.declare(
            f"schemalint: 1\ntable: {table}\ncolumns: [{{name: id, type: int}}]\n", f"{table}.yml"
        )
    storage = f'endpoint = "{store.address}", allow_http = "true", region = "x"'
    keys = 'access_key_id = "${KEY}", secret_access_key = "${KEY}"'
    settings = f'root = "s3://lake"\nstorage = {{ {storage}, {keys} }}\n'
    project.repo.write("schemalint.toml", f"[targets.dev]\n{settings}")
    project.repo.commit()


COMMANDS = {
    "plan": (0, ["plan"]),
    "check": (0, ["check", "--live", "--all", "--against", "none", "--output-format", "concise"]),
    "pull": (2, ["pull", *TABLES]),
    "audit": (2, ["audit", "--target", "dev", *TABLES]),
}


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY", "a-key")


@pytest.mark.parametrize("command", COMMANDS)
def test_requests_for_all_tables_are_in_flight_together(project: Project, command: str) -> None:
    status, arguments = COMMANDS[command]
    with empty_store(NUMBER) as store:
        declare(project, store)
        run = project.run(*arguments, "--jobs", str(NUMBER))
    assert not store.failed, run.err
    assert run.status == status, run.err + run.out
    named = re.findall(r"s/(t\d)|\b(?:s\.)(t\d)", run.out + run.err)
    assert list(dict.fromkeys(first or second for first, second in named)) == ["t0", "t1", "t2", "t3"]


def test_jobs_bound_the_tables_that_are_in_flight(project: Project) -> None:
    """The answers wait for one table more than may be read, in vain."""
    with empty_store(3, seconds=0.5) as store:
        declare(project, store)
        run = project.run("plan", "--jobs", "2")
    assert store.failed
    assert run.status == 0, run.err
