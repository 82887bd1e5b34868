"""A small client for JSON over HTTP: a token that goes to one host only, and answers within limits."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from http.client import HTTPException, HTTPResponse
from typing import Final, cast
from urllib.error import URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

import schemalint
from schemalint.catalog.kinds.unity.json import Json
from schemalint.errors import LiveError
from schemalint.values import field, frozen

TIMEOUT_SECONDS: Final = 30.0
"""For each answer: to begin, and to end."""

MOST_BYTES: Final = 64 * 2**20

_TRIES: Final = 3
_LONGEST_WAIT: Final = 10.0
_BUSY: Final = frozenset({429, 503})
_LONGEST_REASON: Final = 300

_EXPLAINED: Final = {
    401: (
        "the token is missing, or not accepted",
        'Set catalog_token = "${NAME}", and see whether what is in NAME has expired.',
    ),
    403: (
        "the token may not see this",
        "To read a table takes USE CATALOG, USE SCHEMA and SELECT, and from outside EXTERNAL USE SCHEMA.",
    ),
}
"""What is wrong and what to do, by status."""


class HttpError(LiveError):
    """A server's answer that is no success.

    Attributes:
        status: Of HTTP.
        reason: The server's own word for it, e.g. ``TABLE_NOT_FOUND``, or empty.
    """

    def __init__(self, message: str, *, status: int, reason: str, help: str = "") -> None:  # noqa: A002
        super().__init__(message, help=help)
        self.status = status
        self.reason = reason


@frozen
class Client:
    """What answers below one address.

    Attributes:
        base: Without a slash at its end.
        token: Sent as a bearer token, and never shown.
        wait: Sleeps, between tries of a busy server.
    """

    base: str
    token: str | None = field(default=None, repr=False)
    timeout: float = TIMEOUT_SECONDS
    most_bytes: int = MOST_BYTES
    wait: Callable[[float], None] = time.sleep

    @property
    def host(self) -> str:
        """For people."""
        return urlsplit(self.base).netloc

    def get(
        self,
        path: Sequence[str],
        query: Mapping[str, str] | None = None,
        body: Mapping[str, object] | None = None,
    ) -> Json:
        """Ask for something; a body is unusual, and some of Unity Catalog's endpoints want one.

        Raises:
            HttpError: The answer is no success.
            LiveError: There is no answer, or it is no JSON object.
        """
        return self._asked("GET", path, query, body)

    def post(self, path: Sequence[str], body: Mapping[str, object]) -> Json:
        """As `get`, for questions that are to be posted."""
        return self._asked("POST", path, None, body)

    def _asked(
        self,
        method: str,
        path: Sequence[str],
        query: Mapping[str, str] | None,
        body: Mapping[str, object] | None,
    ) -> Json:
        where = "/".join(quote(part, safe="") for part in path)
        address = f"{self.base}/{where}" + (f"?{urlencode(query)}" if query else "")
        request = Request(address, method=method, headers=self._headers())  # noqa: S310 - http(s): see `unity.handles`
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        for left in reversed(range(_TRIES)):
            status, headers, data = self._answer(request)
            if status not in _BUSY or not left:
                break
            self.wait(_pause(headers.get("Retry-After")))
        if not 200 <= status < 300:  # noqa: PLR2004
            raise self._refused(status, headers, data, where)
        return Json(self._parsed(data, where), f"{self.host}: /{where}")

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": f"schemalint/{schemalint.__version__}"}
        return {**headers, "Authorization": f"Bearer {self.token}"} if self.token else headers

    def _answer(self, request: Request) -> tuple[int, Mapping[str, str], bytes]:
        try:
            with build_opener(_AsItIs).open(request, timeout=self.timeout) as response:
                answer = cast("HTTPResponse", response)
                return answer.status, dict(answer.headers.items()), self._data(answer)
        except TimeoutError:
            raise self._slow() from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._slow() from None
            raise LiveError(
                f"{self.host}: the catalog cannot be reached: {error.reason}",
                help="Compare catalog_uri with where it answers, and look at proxies and certificates.",
            ) from None
        except (HTTPException, OSError) as error:
            raise LiveError(f"{self.host}: the catalog broke off: {type(error).__name__}") from None

    def _data(self, answer: HTTPResponse) -> bytes:
        end = time.monotonic() + self.timeout
        data = bytearray()
        while chunk := answer.read1(2**16):
            data += chunk
            if len(data) > self.most_bytes:
                raise LiveError(f"{self.host}: an answer is longer than {self.most_bytes} bytes")
            if time.monotonic() > end:
                raise self._slow()
        return bytes(data)

    def _slow(self) -> LiveError:
        return LiveError(
            f"{self.host}: the catalog gave no answer within {self.timeout:g} seconds",
            help="Try again later.",
        )

    def _parsed(self, data: bytes, where: str) -> Mapping[str, object]:
        found = _loaded(data)
        if not isinstance(found, dict):
            raise LiveError(
                f"{self.host}: the answer to /{where} is no JSON object",
                help="Compare catalog_uri with where the catalog answers.",
            )
        return found

    def _refused(self, status: int, headers: Mapping[str, str], data: bytes, where: str) -> HttpError:
        reason, said = _told(_loaded(data))
        what, help_text = _EXPLAINED.get(status, (f"{status} {reason}".rstrip(), ""))
        if to := headers.get("Location"):
            what = f"the catalog sends on to {urlsplit(to).netloc or to}, which is not followed"
            help_text = "Write the catalog's own address as catalog_uri."
        elif not reason and not help_text:
            help_text = "Compare catalog_uri with where the catalog answers."
        text = f"{self.host}: /{where}: {self._shown(what)}" + (f": {self._shown(said)}" if said else "")
        return HttpError(text, status=status, reason=reason, help=help_text)

    def _shown(self, text: str) -> str:
        """What a server says, on one line, and without the token that it may repeat."""
        hidden = text.replace(self.token, "***") if self.token else text
        return "".join(char if char.isprintable() else " " for char in hidden[:_LONGEST_REASON]).strip()


class _AsItIs(HTTPErrorProcessor):
    """Every answer is returned, redirects too: nothing is sent on to another host."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:  # noqa: ARG002
        return response

    def https_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:  # noqa: ARG002
        return response


def _pause(retry_after: str | None) -> float:
    """Seconds; a date is not worth reading."""
    asked = float(retry_after) if retry_after and retry_after.isdecimal() else 1.0
    return min(asked, _LONGEST_WAIT)


def _loaded(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _told(found: object) -> tuple[str, str]:
    """The server's word and its sentence, as the classic API and the Delta API give them."""
    match found:
        case {"error": {"type": str(word), "message": str(text)}} | {
            "error_code": str(word),
            "message": str(text),
        }:
            return word, text
        case {"error_code": str(word)}:
            return word, ""
        case _:
            return "", ""
