"""Object stores on this machine that answer over HTTP, started by the tests that need them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from urllib.parse import quote
from urllib.request import Request, urlopen

import obstore
import pytest
from obstore.store import AzureStore, GCSStore, S3Store

AZURITE = "3.35.0"  # later ones ask for Node 22
ACCOUNT = "devstoreaccount1"
# The published key of every emulator of Azure Storage, a secret to nobody.
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


CREDENTIALS = {"access_key_id": "AKIAFORTESTS", "secret_access_key": "a-secret-for-tests"}


@dataclass(frozen=True)
class Bucket:
    """An empty bucket, and what opens it."""

    endpoint: str
    # Letters alone: Google's client writes "-" as %2D, which moto does not take for a dash.
    name: str = field(default_factory=lambda: f"lake{uuid.uuid4().hex}")

    @property
    def storage(self) -> dict[str, str]:
        return {"endpoint": self.endpoint, "allow_http": "true", "region": "us-east-1", **CREDENTIALS}

    @property
    def client(self) -> S3Store:
        return S3Store(self.name, config=self.storage)  # type: ignore[arg-type]  # obstore takes texts too

    def upload(self, folder: Path, prefix: str = "") -> str:
        """Upload a table; its address."""
        upload(self.client, folder, prefix)
        return f"s3://{self.name}/{prefix}".rstrip("/")

    def open_to_all(self) -> None:
        """Let everybody read what is in it."""
        for listed in obstore.list(self.client):
            for file in listed:
                address = f"{self.endpoint}/{self.name}/{quote(file['path'])}?acl"
                send(address, {"x-amz-acl": "public-read", "Authorization": "not looked at by moto"})


def send(address: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    with urlopen(Request(address, method="PUT", headers=dict(headers))):  # noqa: S310 (our own server)
        pass


def upload(client: S3Store | AzureStore | GCSStore, folder: Path, prefix: str) -> None:
    for file in folder.rglob("*"):
        if file.is_file():
            key = f"{prefix}/{file.relative_to(folder).as_posix()}".lstrip("/")
            obstore.put(client, key, file.read_bytes())


@contextmanager
def s3_server() -> Iterator[str]:
    """An S3 by moto; its address."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415 (takes seconds)

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@contextmanager
def azure_server(folder: Path) -> Iterator[str]:
    """Azurite, from npm into a cache; the address of its account."""
    command = [
        *("node", str(_azurite()), "--blobPort", "0", "--location", str(folder)),
        *("--silent", "--skipApiVersionCheck", "--disableTelemetry"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            said: list[str] = []
            for line in process.stdout:
                said.append(line)
                if found := re.search(r"listens on (http://\S+)", line):
                    yield f"{found[1]}/{ACCOUNT}"
                    break
            else:
                pytest.fail(f"Azurite did not start: {''.join(said)}")
        finally:
            process.terminate()


@contextmanager
def refusing_server(status: int, body: str = "") -> Iterator[str]:
    """A server that gives everybody the same answer; ``{asked}`` in it is the request; its address."""

    class Refusing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = body.replace("{asked}", f"{self.requestline} {self.headers}").encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def _azurite() -> Path:
    missing = [program for program in ("node", "npm") if not shutil.which(program)]
    if missing:
        give_up = pytest.fail if os.environ.get("SCHEMALINT_TEST_ALL") == "1" else pytest.skip
        give_up(f"Azure's tests need Node.js and npm: {', '.join(missing)} is not on the PATH")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "schemalint-tests" / f"azurite-{AZURITE}"
    program = home / "node_modules/azurite/dist/src/blob/main.js"
    if not program.exists():
        _install(home)
    return program


def _install(home: Path) -> None:
    """Into a folder of our own, which gets its name when it is complete: other workers may do the same."""
    home.parent.mkdir(parents=True, exist_ok=True)
    work = home.with_name(f"{home.name}.{os.getpid()}.{time.monotonic_ns()}")
    npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(work)]
    done = subprocess.run([*npm, f"azurite@{AZURITE}"], capture_output=True, text=True, check=False)
    if done.returncode:
        give_up = pytest.fail if os.environ.get("SCHEMALINT_TEST_ALL") == "1" else pytest.skip
        give_up(f"npm could not install Azurite: {done.stderr[-500:]}")
    try:
        work.rename(home)
    except OSError:  # another worker was faster
        shutil.rmtree(work)
