"""Servers that accept connections, and then do not do what a server does."""

from __future__ import annotations

import socket
import struct
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def resets(connection: socket.socket) -> None:
    """Reset the connection after the first bytes."""
    connection.recv(1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def stays_silent(_connection: socket.socket) -> None:
    """Never answer."""


def drips(connection: socket.socket) -> None:
    """Answer with a byte every 50 milliseconds, without end."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        connection.sendall(b"a")
        time.sleep(0.05)


def answers(respond: Callable[[str], bytes | None]) -> Callable[[socket.socket], None]:
    """Answer each request with the bytes for its first line, and close; None resets the connection."""

    def behave(connection: socket.socket) -> None:
        request = b""
        while b"\r\n\r\n" not in request:
            request += connection.recv(1 << 16)
        answer = respond(request.partition(b"\r\n")[0].decode())
        if answer is None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
        connection.close()

    return behave


def http_answer(status: int, body: str, missing: int = 0) -> bytes:
    """Return an answer whose body has fewer bytes than it announces."""
    length = len(body) + missing
    return (
        f"HTTP/1.1 {status} x\r\nContent-Length: {length}\r\nETag: x\r\nConnection: close\r\n"
        f"Last-Modified: Sun, 01 Nov 2026 10:00:00 GMT\r\n\r\n{body}"
    ).encode()


@contextmanager
def hostile_server(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve on a port of this machine."""
    kept: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                kept.append(connection)
                threading.Thread(target=run, args=(connection,), daemon=True).start()

    def run(connection: socket.socket) -> None:
        with suppress(OSError):
            behave(connection)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    for connection in kept:
        connection.close()
