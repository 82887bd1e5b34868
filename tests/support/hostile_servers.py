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
