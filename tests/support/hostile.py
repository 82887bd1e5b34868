"""Hostile pull requests: small data, and the workspace into which a job clones one.

A case names files of the base and of the pull request, what the workflow sets, and what must happen. Texts
may contain ``<canary>`` (a file that only a stranger's code makes), ``<server>`` (the address of a server
that records requests), ``<workspace>``, ``<outside>`` (another clone of the same machine), ``<base>`` and
``<head>`` (commits), ``<orders>`` and ``<refused>`` (contracts), ``<catalog>`` and ``<root>`` (targets).
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = Path(__file__).parents[1] / "integration" / "hostile"
SECRET = "s3cr3t-of-the-runner"  # noqa: S105 (made up)

ORDERS = "schemalint: 1\ntable: sales.orders\ncolumns:\n  - {name: order_id, type: int}\n"
REFUSED = ORDERS.replace("type: int", "type: date")
"""What every pull request tries to get through, unless its files say something else."""
CATALOG = """\
[targets.prod]
catalog = "main"
catalog_uri = "http://<server>"
catalog_token = "${GITHUB_TOKEN}"
"""
ROOT = """\
[targets.prod]
root = "<outside>"
"""
"""Targets: a stranger's, and one of the base."""

KEYS = {
    "name",
    "base",
    "head",
    "workflow",
    "inputs",
    "local",
    "submodules",
    "outside",
    "untracked",
    "depth",
    "event",
    "payload",
}
EXPECTED = {"run", "status", "says", "seconds"}


class Case:
    """A case of a file in `FOLDER`; attributes are its keys.

    Attributes:
        name: What is tried.
        base: Files of the base, besides the contract.
        head: Files that the pull request changes: a text, None (removed), or a mapping with the key ``link``,
            ``gitlink``, ``program``, ``hex``, ``repeat`` (a text and a number) or ``lines`` (the same; ``#``
            is the number of the line); the last two with ``before`` and ``after``.
        workflow: Variables that the workflow sets.
        inputs: Inputs of the Action.
        local: Settings of the clone's own configuration.
        submodules: Files of repositories inside of the clone, by folder.
        outside: Files of another clone.
        untracked: Files of the clone that no commit contains.
        depth: The depth of a shallow clone, 0 for a full one.
        event: The name of the event.
        payload: What the event file contains, if not a pull request.
        run: Commands to run in this process in place of the Action, with their exit statuses.
        status: The exit status of the Action.
        says: Texts of the log.
        seconds: The limit of CPU time for a command in this process.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        assert raw.keys() <= KEYS | EXPECTED, f"unknown keys: {raw.keys() - KEYS - EXPECTED}"
        self.name: str = raw["name"]
        self.base: dict[str, Any] = raw.get("base", {})
        self.head: dict[str, Any] = {"contracts/orders.yml": REFUSED} | raw.get("head", {})
        self.workflow: Mapping[str, str] = raw.get("workflow", {})
        self.inputs: Mapping[str, str] = raw.get("inputs", {})
        self.local: Mapping[str, str] = raw.get("local", {})
        self.submodules: Mapping[str, Mapping[str, Any]] = raw.get("submodules", {})
        self.outside: dict[str, Any] = raw.get("outside", {})
        self.untracked: dict[str, str] = raw.get("untracked", {})
        self.depth: int = raw.get("depth", 0)
        self.event: str = raw.get("event", "pull_request")
        self.payload: Any = raw.get("payload")
        self.run: dict[str, int] = raw.get("run", {})
        self.status: int = raw.get("status", 1)
        self.says: list[str] = raw.get("says", ["TW002"] if self.status == 1 and not self.run else [])
        self.seconds: int = raw.get("seconds", 60)


def cases(folder: Path = FOLDER) -> list[Case]:
    """Return all cases, file by file."""
    files = sorted(folder.glob("*.yaml"))
    return [Case(raw) for file in files for raw in yaml.safe_load(file.read_text(encoding="utf-8"))]


INSTALLATION = cases(FOLDER / "installation")
"""What a workspace contains when the Action is installed: all of it at once, because that takes long."""


def write_installation(workspace: Path) -> None:
    """Write the files of all these cases."""
    for case in INSTALLATION:
        for name, text in case.head.items():
            if name != "contracts/orders.yml":
                file = workspace / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text.replace("<canary>", str(canary_of_installation(workspace, case))))


def canary_of_installation(workspace: Path, case: Case) -> Path:
    """Return the file that a case makes if its code runs."""
    return workspace.parent / f"canary of {case.name}"


class Listener:
    """A server that records who asks, with which authorization."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                listener.requests.append(f"{self.command} {self.path} {self.headers.get('Authorization')}")
                self.send_error(404)

            do_POST = do_PUT = do_HEAD = do_CONNECT = do_GET  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Print nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"

    @contextmanager
    def listening(self) -> Iterator[Listener]:
        """Answer requests in a thread."""
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield self
        self._server.shutdown()
        self._server.server_close()


class Attack:
    """A case in folders of its own."""

    def __init__(self, case: Case, folder: Path, server: str) -> None:
        self.case = case
        self.canary = folder / "canary"
        self.workspace = folder / "workspace"
        self._texts = {
            "<canary>": str(self.canary),
            "<server>": server,
            "<workspace>": str(self.workspace),
            "<outside>": str(folder / "outside"),
            "<catalog>": CATALOG.replace("<server>", server),
            "<root>": ROOT.replace("<outside>", str(folder / "outside")),
            "<orders>": ORDERS,
            "<refused>": REFUSED,
        }
        contracts = {"contracts/orders.yml": ORDERS}
        _committed(Repo(folder / "outside"), self.filled(contracts | case.outside))
        origin = Repo(folder / "origin" if case.depth else self.workspace)
        _import_base(origin, self.filled(contracts | case.base))
        self._texts["<base>"] = origin.git("rev-parse", "main")
        _import_head(origin, self.filled(case.head))
        commits = origin.git("rev-parse", "feature", "merged").split()
        self._texts |= dict(zip(("<head>", "<merged>"), commits, strict=True))
        if case.depth:
            clone = Repo(self.workspace)
            clone.git("remote", "add", "origin", origin.path.as_uri())
            clone.git("fetch", "--quiet", f"--depth={case.depth}", "origin", "merged")
        self.repo = Repo(self.workspace)
        self.repo.git("checkout", "--quiet", "--detach", self._texts["<merged>"])
        for key, value in self.filled(case.local).items():
            self.repo.git("config", key, value)
        for inner, files in case.submodules.items():
            (self.workspace / inner).rmdir()
            _committed(Repo(self.workspace / inner), self.filled(files))
        for file, text in self.filled(case.untracked).items():
            self.repo.write(file, text)

    @property
    def event_text(self) -> str:
        """The event file."""
        return json.dumps(self.event)

    @property
    def event(self) -> dict[str, Any]:
        """The content of the event file."""
        pull_request = {
            "base": {"ref": "main", "sha": "<base>", "repo": {"id": 1}},
            "head": {"ref": "feature", "sha": "<head>", "repo": {"id": 2}},
        }
        default = {
            "number": 1,
            "pull_request": pull_request,
            "repository": {"default_branch": "main"},
        }
        event: dict[str, Any] = self.filled(self.case.payload or default)
        return event

    def variables(self, event_file: Path) -> dict[str, str]:
        """The variables of the job, in which a case's command runs."""
        return {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(event_file),
            "GITHUB_WORKSPACE": str(self.workspace),
            **self.workflow,
        }

    @property
    def workflow(self) -> dict[str, str]:
        """The variables of the job."""
        return {
            "GITHUB_EVENT_NAME": self.case.event,
            "GITHUB_TOKEN": SECRET,
            **self.filled(self.case.workflow),
        }

    def filled(self, value: Any) -> Any:  # noqa: ANN401 (as YAML has it)
        """Replace the names in angle brackets."""
        match value:
            case str():
                for name, text in self._texts.items():
                    value = value.replace(name, text)
                return value
            case dict():
                return {self.filled(key): self.filled(item) for key, item in value.items()}
            case list():
                return [self.filled(item) for item in value]
            case _:
                return value


def _committed(repo: Repo, files: Mapping[str, Any]) -> None:
    _import_base(repo, files)
    repo.git("checkout", "--quiet", "main")


_MADE = b"committer Ada <ada@example.com> 1700000000 +0000\ndata 0\n"


def _import_base(repo: Repo, files: Mapping[str, Any]) -> None:
    """Make the branch main; `git fast-import` takes paths that no `git add` takes."""
    made_by_checkout = b"reset refs/remotes/origin/main\nfrom :1\n\n"
    _import(repo, b"commit refs/heads/main\nmark :1\n" + _MADE + _changes(files) + made_by_checkout)


def _import_head(repo: Repo, files: Mapping[str, Any]) -> None:
    """Make the branches feature and merged."""
    main = b"from refs/heads/main^0\n"
    stream = b"commit refs/heads/feature\nmark :2\n" + _MADE + main + _changes(files)
    _import(repo, stream + b"commit refs/heads/merged\n" + _MADE + main + b"merge :2\n" + _changes(files))


def _import(repo: Repo, stream: bytes) -> None:
    repo.git("fast-import", "--quiet", "--force", stdin=stream)


def _changes(files: Mapping[str, Any]) -> bytes:
    return b"".join(_change(os.fsencode(path), content) for path, content in files.items()) + b"\n"


def _change(path: bytes, content: Any) -> bytes:  # noqa: ANN401 (as YAML has it)
    quoted = b'"' + b"".join(b"\\%03o" % byte for byte in path) + b'"'
    mode, data = b"100644", b""
    match content:
        case None:
            return b"D " + quoted + b"\n"
        case str():
            data = content.encode()
        case {"gitlink": str(commit)}:
            return b"M 160000 " + commit.encode() + b" " + quoted + b"\n"
        case {"link": str(target)}:
            mode, data = b"120000", os.fsencode(target)
        case {"program": str(text)}:
            mode, data = b"100755", text.encode()
        case {"hex": str(digits)}:
            data = bytes.fromhex(digits)
        case {"repeat": [str(text), int(times)], **around}:
            data = f"{around.get('before', '')}{text * times}{around.get('after', '')}".encode()
        case {"lines": [str(line), int(times)], **around}:
            lines = "".join(line.replace("#", str(number)) for number in range(times))
            data = f"{around.get('before', '')}{lines}{around.get('after', '')}".encode()
        case _:
            raise AssertionError(f"no such content: {content!r}")
    return b"M " + mode + b" inline " + quoted + b"\ndata " + str(len(data)).encode() + b"\n" + data + b"\n"
