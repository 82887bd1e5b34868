"""One HTTP request and its answer, within limits; no redirect takes its headers to another host."""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.client import HTTPResponse, IncompleteRead
from typing import cast
from urllib.request import HTTPErrorProcessor, ProxyHandler, Request, build_opener

from schemalint.base.credentials import is_loopback
from schemalint.base.values import frozen

__all__ = ["Answer", "AnswerTooLong", "Request", "exchange"]


class AnswerTooLong(OSError):  # noqa: N818 (what happened)
    """The answer is longer than what is read."""


@frozen
class Answer:
    """What a server answered, whatever its status.

    Attributes:
        status: The HTTP status.
        headers: The headers; their names are in lower case.
        body: The whole body.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


def exchange(request: Request, *, seconds: float, most_bytes: int) -> Answer:
    """Send a request, and return the answer.

    Args:
        request: One of http or https.
        seconds: The time limit for the answer to begin, and again for it to end.
        most_bytes: The largest body that is read.

    Raises:
        AnswerTooLong: The body is longer.
        TimeoutError: There is no answer in time; as the ``reason`` of an OSError, no connection.
        OSError: There is no connection.
        HTTPException: The answer is not one of HTTP, or incomplete.
    """
    # http would show the token to a proxy, also on the way to a server on this machine.
    proxies = (ProxyHandler({}),) if is_loopback(request.full_url) else ()
    with build_opener(_NoRedirects, *proxies).open(request, timeout=seconds) as response:
        answer = cast("HTTPResponse", response)
        headers = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(answer.status, headers, _read_body(answer, seconds, most_bytes))


def _read_body(answer: HTTPResponse, seconds: float, most_bytes: int) -> bytes:
    end = time.monotonic() + seconds
    data = bytearray()
    while chunk := answer.read1(2**16):
        data += chunk
        if len(data) > most_bytes:
            raise AnswerTooLong(f"an answer is longer than {most_bytes} bytes")
        if time.monotonic() > end:
            raise TimeoutError
    if answer.length:  # `read1` does not tell that the announced length is missing
        raise IncompleteRead(bytes(data), answer.length)
    return bytes(data)


class _NoRedirects(HTTPErrorProcessor):
    """Returns every answer, redirects too, so that another host never receives the token."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:  # noqa: ARG002
        return response

    def https_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:  # noqa: ARG002
        return response
