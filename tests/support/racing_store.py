"""An S3 server with barriers: two processes meet in it, and their commits of one version too."""

from __future__ import annotations

import logging
import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from wsgiref.types import StartResponse, WSGIEnvironment

_MEETING: Final = "/-meet/"
_RACED_COMMIT: Final = re.compile(r"/raced/[^/]+/_delta_log/0*1\.json")
_LONGEST_WAIT: Final = 600.0  # seconds: a JVM of a busy machine starts meanwhile


@contextmanager
def racing_s3_server() -> Iterator[tuple[str, list[str]]]:
    """Start moto's S3 server; yield its address, and the paths of all objects that are put into it.

    The first commit after its creation to a table ``raced/NAME`` waits until a second process writes the same
    version, so that both have asked before whether the file exists.
    """
    from moto.moto_server.werkzeug_app import (  # noqa: PLC0415 (takes seconds)
        DomainDispatcherApplication,
        create_backend_app,
    )
    from werkzeug.serving import make_server  # noqa: PLC0415 (likewise)

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    moto = DomainDispatcherApplication(create_backend_app)
    put: list[str] = []
    barriers: dict[str, threading.Barrier] = defaultdict(lambda: threading.Barrier(2, timeout=_LONGEST_WAIT))

    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = environ["PATH_INFO"]
        if path.startswith(_MEETING):
            barriers[path].wait()
            start_response("200 OK", [])
            return [b""]
        if environ["REQUEST_METHOD"] == "PUT":
            put.append(path)
            if _RACED_COMMIT.search(path):
                barriers[path].wait()
        answer: Iterable[bytes] = moto(environ, start_response)
        return answer

    server = make_server("127.0.0.1", 0, application, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", put
    server.shutdown()


def meet(endpoint: str, name: str) -> None:
    """Wait until both processes are here."""
    with urlopen(f"{endpoint}{_MEETING}{name}", timeout=_LONGEST_WAIT):  # noqa: S310 (our own server)
        pass
