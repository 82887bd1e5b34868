"""A small client for JSON over HTTP: it sends the token to one host only, and limits answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.client import HTTPException
from socket import gaierror
from ssl import SSLCertVerificationError, SSLError
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

import schemalint
from schemalint.base.credentials import trust_help
from schemalint.base.errors import LiveError
from schemalint.base.http_exchange import Answer, AnswerTooLong, Request, exchange
from schemalint.base.json_object import JsonObject
from schemalint.base.phrases import affixed
from schemalint.base.redaction import hide, without_secrets
from schemalint.base.values import field, frozen
from schemalint.tables.delta_log.jsontext import JsonError, read_json_object
from schemalint.tables.storage.concurrency import finish, start

TIMEOUT_SECONDS: Final = 30.0
"""The time limit for an answer to begin, and again for it to end."""

MOST_BYTES: Final = 64 * 2**20

_ATTEMPTS: Final = 3
_LONGEST_WAIT: Final = 10.0
_BUSY: Final = frozenset({429, 503})
"""The server has not begun the request, so that any may be repeated."""
_PASSING: Final = _BUSY | {500, 502, 504}
"""What a second request for the same may not meet again."""
_LONGEST_REASON: Final = 300
_LONGEST_REFUSAL: Final = 2**20

_EXPLAINED: Final = {
    401: (
        "the token is missing or not accepted",
        'Set catalog_token = "${NAME}", and check whether the token in NAME has expired.',
    ),
    403: (
        "the token has no permission",
        (
            "Grant USE CATALOG, USE SCHEMA and SELECT; external clients also need EXTERNAL USE SCHEMA, and "
            "apply needs CREATE TABLE to create tables."
        ),
    ),
}
"""Message and help by HTTP status."""
_UNTRUSTED: Final = frozenset({18, 19, 20, 21})
"""OpenSSL's codes of certificates without a trusted authority (X509_V_ERR_*)."""


class HttpError(LiveError):
    """A server answered with an HTTP error.

    Attributes:
        status: The HTTP status.
        reason: The server's error code, such as ``TABLE_NOT_FOUND``, or empty.
    """

    def __init__(self, message: str, *, status: int, reason: str, help: str = "") -> None:  # noqa: A002
        super().__init__(message, help=help)
        self.status = status
        self.reason = reason


@frozen
class Client:
    """A client for the paths below one URL.

    Attributes:
        base: The URL, without a slash at its end.
        token: The bearer token; messages never show it.
        timeout: Seconds; see `TIMEOUT_SECONDS`.
        most_bytes: The largest answer that is read.
        wait: Sleeps between attempts if the server is busy.
    """

    base: str
    token: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT_SECONDS
    most_bytes: int = MOST_BYTES
    wait: Callable[[float], None] = time.sleep

    @property
    def host(self) -> str:
        """The host, as messages name it."""
        return urlsplit(self.base).netloc

    def get(
        self,
        path: Sequence[str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> JsonObject:
        """Send a GET request; some of Unity Catalog's endpoints require a body.

        Raises:
            HttpError: The server answers with an HTTP error.
            LiveError: There is no answer, or it is not a JSON object.
        """
        return self._send("GET", path, query, body)

    def post(self, path: Sequence[str], body: Mapping[str, object]) -> JsonObject:
        """Send a POST request; see `get`."""
        return self._send("POST", path, None, body)

    def _send(
        self,
        method: str,
        path: Sequence[str],
        query: Mapping[str, str] | None,
        body: Mapping[str, object] | None,
    ) -> JsonObject:
        endpoint = "/".join(quote(part, safe="") for part in path)
        url = f"{self.base}/{endpoint}{affixed('?', urlencode(query or {}))}"
        request = Request(url, method=method, headers=self._headers())
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        for attempts_left in reversed(range(_ATTEMPTS)):
            try:
                answer = self._answer(request)
            except ConnectionBroken:
                if method != "GET" or not attempts_left:
                    raise
                self.wait(_pause(None))
                continue
            if answer.status not in (_PASSING if method == "GET" else _BUSY) or not attempts_left:
                break
            self.wait(_pause(answer.headers.get("retry-after")))
        if not 200 <= answer.status < 300:  # noqa: PLR2004
            raise self._http_error(answer, endpoint)
        parsed = self._parse_object(answer.body, endpoint)
        return JsonObject(parsed, partial(_refused, f"{self.host}: /{endpoint}"), is_sparse=True)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"schemalint/{schemalint.__version__}"}
        if not self.token:
            return headers
        hide(self.token)
        return {**headers, "Authorization": f"Bearer {self.token}"}

    def _answer(self, request: Request) -> Answer:
        """Send a request, with a deadline for all of it: each byte of an answer may come in time."""
        try:
            return finish(start(self._exchange, request), 2 * self.timeout)
        except TimeoutError:
            raise self._timeout_error(2 * self.timeout) from None

    def _exchange(self, request: Request) -> Answer:
        try:
            return exchange(request, seconds=self.timeout, most_bytes=self.most_bytes)
        except TimeoutError:
            raise self._timeout_error() from None
        except AnswerTooLong as error:
            raise LiveError(f"{self.host}: {error}") from None
        except (HTTPException, OSError) as error:
            if isinstance(cause := getattr(error, "reason", error), TimeoutError):
                raise self._timeout_error() from None
            raise _connection_error(self.host, cause) from None

    def _timeout_error(self, seconds: float | None = None) -> LiveError:
        return LiveError(
            f"{self.host}: the catalog did not answer within {seconds or self.timeout:g} seconds",
            help="Try again later.",
        )

    def _parse_object(self, data: bytes, endpoint: str) -> Mapping[str, object]:
        try:
            return read_json_object(data, self.most_bytes)
        except JsonError as error:
            if error.is_limit:
                raise LiveError(f"{self.host}: the answer to /{endpoint} {error}, a limit") from None
            raise LiveError(
                f"{self.host}: the answer to /{endpoint} is not a JSON object",
                help="Check catalog_uri.",
            ) from None

    def _http_error(self, answer: Answer, endpoint: str) -> HttpError:
        reason, detail = _server_error(answer.body)
        summary, help_text = _EXPLAINED.get(answer.status, (f"{answer.status} {reason}".rstrip(), ""))
        if to := answer.headers.get("location"):
            summary = f"the catalog redirects to {urlsplit(to).netloc or to}, which is not followed"
            help_text = "Write the catalog's own URI as catalog_uri."
        elif not reason and not help_text:
            help_text = "Check catalog_uri."
        text = f"{self.host}: /{endpoint}: {_on_one_line(summary)}"
        if detail:
            text += f": {_on_one_line(detail)}"
        return HttpError(text, status=answer.status, reason=reason, help=help_text)


def _refused(where: str, path: str, expected: str, _found: object) -> LiveError:
    return LiveError(f"{where}: {path} is not {expected}", help="Check catalog_uri.")


def _on_one_line(text: str) -> str:
    """Return the start of a server's text on one line, without the token that it may contain."""
    start = without_secrets(text)[:_LONGEST_REASON]
    return "".join(char if char.isprintable() else " " for char in start).strip()


def _pause(retry_after: str | None) -> float:
    """Return the seconds to wait; a date in the header counts as one second."""
    seconds = float(retry_after) if retry_after and retry_after.isdecimal() else 1.0
    return min(seconds, _LONGEST_WAIT)


def _server_error(data: bytes) -> tuple[str, str]:
    """Return the error code and the message in an answer of the classic API or the Delta API."""
    try:
        body = read_json_object(data, _LONGEST_REFUSAL)
    except JsonError:
        return "", ""
    match body:
        case {"error": {"type": str(code), "message": str(text)}} | {
            "error_code": str(code),
            "message": str(text),
        }:
            return code, text
        case {"error_code": str(code)}:
            return code, ""
        case _:
            return "", ""


class ConnectionBroken(LiveError):  # noqa: N818 (what happened)
    """The connection ended before the answer was complete: another one may go better."""


def _connection_error(host: str, error: object) -> LiveError:
    """Return the error for an exception of the connection, which is not about time."""
    match error:
        case SSLCertVerificationError(verify_code=code) if code in _UNTRUSTED:
            return LiveError(f"{host}: the catalog's certificate is not trusted", help=trust_help())
        case SSLCertVerificationError(verify_message=reason):
            return LiveError(
                f"{host}: the catalog's certificate is not valid: {reason.rstrip('.')}",
                help="Check catalog_uri, and this machine's clock.",
            )
        case SSLError(reason="WRONG_VERSION_NUMBER" | "HTTP_REQUEST"):
            return LiveError(
                f"{host}: the catalog answers without TLS", help="Check the port in catalog_uri."
            )
        case gaierror():
            return LiveError(
                f"{host}: the catalog cannot be reached: the name of its host is unknown",
                help="Check the spelling of catalog_uri, and this machine's DNS.",
            )
        case ConnectionRefusedError():
            return LiveError(
                f"{host}: the catalog cannot be reached: its host refuses the connection",
                help="Check the host and the port in catalog_uri, and whether the catalog runs.",
            )
        case ConnectionError() | SSLError():
            return _broken(host, error)
        case OSError():
            return LiveError(
                f"{host}: the catalog cannot be reached: {error}",
                help="Check catalog_uri, the network and the proxy.",
            )
    return _broken(host, error)


def _broken(host: str, error: object) -> ConnectionBroken:
    return ConnectionBroken(
        f"{host}: the connection to the catalog broke off: {type(error).__name__}",
        help="Try again later; look at the proxy if it happens again.",
    )
