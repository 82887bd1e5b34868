"""Local object stores with HTTP, started by the tests that need them."""

from __future__ import annotations

import re
import ssl
import subprocess
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote
from urllib.request import Request, urlopen

import obstore
import pytest
from obstore.store import AzureStore, GCSStore, S3Store

from support.npm import installed

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

AZURITE = "3.35.0"  # later versions need Node 22
ACCOUNT = "devstoreaccount1"
# The published key of every Azure Storage emulator, no secret.
ACCOUNT_KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


CREDENTIALS = {"access_key_id": "AKIAFORTESTS", "secret_access_key": "a-secret-for-tests"}


@dataclass(frozen=True)
class Bucket:
    """An empty bucket, with its endpoint and credentials."""

    endpoint: str
    # Letters and digits only: Google's client sends "-" as %2D, which moto does not decode.
    name: str = field(default_factory=lambda: f"lake{uuid.uuid4().hex}")

    @property
    def storage(self) -> dict[str, str]:
        return {"endpoint": self.endpoint, "allow_http": "true", "region": "us-east-1", **CREDENTIALS}

    @property
    def client(self) -> S3Store:
        return S3Store(self.name, config=self.storage)  # type: ignore[arg-type]  # obstore accepts strings too

    def upload(self, folder: Path, prefix: str = "") -> str:
        """Put a table and return its URI."""
        for file in folder.rglob("*"):
            if file.is_file():
                self.put(f"{prefix}/{file.relative_to(folder).as_posix()}".lstrip("/"), file.read_bytes())
        return f"s3://{self.name}/{prefix}".rstrip("/")

    def put(self, key: str, content: bytes) -> None:
        """Put an object into moto's server, which is in this process, without a request."""
        from moto.s3.models import s3_backends  # noqa: PLC0415 (takes seconds)

        (backend,) = (account["aws"] for account in s3_backends.values())
        backend.put_object(self.name, key, content)

    def make_public(self) -> None:
        """Make all objects of the bucket publicly readable."""
        for page in obstore.list(self.client):
            for file in page:
                address = f"{self.endpoint}/{self.name}/{quote(file['path'])}?acl"
                send_put(address, {"x-amz-acl": "public-read", "Authorization": "moto ignores this"})


def send_put(address: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    """Send a PUT request without a body."""
    with urlopen(Request(address, method="PUT", headers=dict(headers))):  # noqa: S310 (our own server)
        pass


def upload(client: S3Store | AzureStore | GCSStore, folder: Path, prefix: str) -> None:
    """Upload all files of a folder."""
    for file in folder.rglob("*"):
        if file.is_file():
            key = f"{prefix}/{file.relative_to(folder).as_posix()}".lstrip("/")
            obstore.put(client, key, file.read_bytes())


@contextmanager
def s3_server(seen: list[str] | None = None) -> Iterator[str]:
    """Start moto's S3 server and yield its address. ``seen`` takes each request before it is answered."""
    from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 (takes seconds)
        DomainDispatcherApplication,
        MotoRequestHandler,
        create_backend_app,
    )
    from werkzeug.serving import make_server  # noqa: PLC0415 (likewise)

    moto = DomainDispatcherApplication(create_backend_app)

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if seen is not None:
            seen.append(f"{environ['REQUEST_METHOD']} {unquote(environ['RAW_URI'])}")
        answer: Iterable[bytes] = moto(environ, start_response)
        return answer

    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=MotoRequestHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()


@contextmanager
def azure_server(folder: Path) -> Iterator[str]:
    """Start Azurite, which npm installs into a cache, and yield the address of its account."""
    command = [
        *("node", str(_azurite()), "--blobPort", "0", "--location", str(folder)),
        *("--silent", "--skipApiVersionCheck", "--disableTelemetry"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            output_lines: list[str] = []
            for line in process.stdout:
                output_lines.append(line)
                if match := re.search(r"listens on (http://\S+)", line):
                    yield f"{match[1]}/{ACCOUNT}"
                    break
            else:
                pytest.fail(f"Azurite did not start: {''.join(output_lines)}")
        finally:
            process.terminate()


@contextmanager
def refusing_server(
    status: int,
    body: str = "",
    listing: str | None = None,
    seen: list[str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """Start a server with one answer for all requests, or another one for listings, and yield its address.

    The request replaces ``{request}`` in the body of the answer, and is added to ``seen``. With ``tls`` the
    server speaks HTTPS.
    """

    class Refusing(BaseHTTPRequestHandler):
        def handle(self) -> None:
            with suppress(ssl.SSLError):  # the client does not trust the certificate
                super().handle()

        def do_GET(self) -> None:
            if seen is not None:
                seen.append(f"{self.requestline}\n{self.headers}")
            if listing is not None and ("list-type=2" in self.path or "comp=list" in self.path):
                data = listing.encode()
                self.send_response(200)
            else:
                data = body.replace("{request}", f"{self.requestline} {self.headers}").encode()
                self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}"
        server.shutdown()


def _azurite() -> Path:
    return installed(f"azurite@{AZURITE}", "Azure's tests") / "azurite/dist/src/blob/main.js"
