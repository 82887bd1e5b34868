"""The step ``comment``: one comment on the pull request, found again by its marker and kept up to date."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from http.client import HTTPException
from typing import Final

from schemalint import __version__
from schemalint.base.credentials import may_carry_secrets
from schemalint.base.errors import GitError, SchemalintError
from schemalint.base.http_exchange import Answer, Request, exchange
from schemalint.base.json_object import JsonObject
from schemalint.base.printable import markdown_prose
from schemalint.base.redaction import hide
from schemalint.base.values import field, frozen
from schemalint.cli.action.github_runner import Handover
from schemalint.project.git import foreign_head
from schemalint.project.git.events import commit_of, github_payload
from schemalint.tables.delta_log.jsontext import JsonError, read_json

MOST_SECONDS: Final = 120.0
"""How long the step waits for GitHub, all pauses together."""

_ATTEMPTS: Final = 4
_PULL_REQUEST: Final = frozenset({"pull_request", "pull_request_target"})
SECONDS: Final = 30.0
MOST_BYTES: Final = 64 * 2**20
_MOST_PAGES: Final = 100
_PER_PAGE: Final = 100
_AFTER_FAULT: Final = 2.0
_AFTER_LIMIT: Final = 60.0  # docs.github.com, "Rate limits for the REST API": if no header says how long


@frozen
class _Text:
    """What the step ``check`` composed; see `comment_of`."""

    marker: str
    body: str
    is_worth_a_comment: bool


def comment_step(
    handover: Handover, env: Mapping[str, str], wait: Callable[[float], None] = time.sleep
) -> int:
    """Write the comment; a reason not to is told in one line, and fails nothing."""
    if env.get("GITHUB_EVENT_NAME") not in _PULL_REQUEST or env["INPUT_COMMENT"] == "off":
        return 0
    try:
        handover.outputs["comment-url"] = _written(handover, env, wait)
    except (GitError, GitHubError) as error:
        handover.annotate("notice", f"No comment: {error.message}")
        handover.summary.append(f"No comment: {markdown_prose(error.message)}.")
    return 0


def _written(handover: Handover, env: Mapping[str, str], wait: Callable[[float], None]) -> str:
    """Return the address of the comment; empty if there is none."""
    if reason := foreign_head(env):
        raise GitHubError(f"this change counts as a stranger's: {reason}")
    if not env["INPUT_TOKEN"]:
        raise GitHubError("there is no token")
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", env.get("GITHUB_REPOSITORY", "")):
        raise GitHubError("GITHUB_REPOSITORY names no repository")
    github = GitHub(
        api=env.get("GITHUB_API_URL", "").rstrip("/"),
        graphql=env.get("GITHUB_GRAPHQL_URL", ""),
        repository=env["GITHUB_REPOSITORY"],
        token=env["INPUT_TOKEN"],
    )
    text = _Text(**json.loads((handover.folder / "comment.json").read_text(encoding="utf-8")))
    payload = github_payload(env)
    left = MOST_SECONDS
    for attempts_left in reversed(range(_ATTEMPTS)):
        try:
            return _write(github, payload, text)
        except GitHubBusy as busy:
            left -= busy.seconds
            if not attempts_left or left < 0:
                raise
            wait(busy.seconds)
    raise AssertionError


def _write(github: GitHub, payload: JsonObject, text: _Text) -> str:
    """Create or update the comment.

    A second attempt begins from the start: a request without an answer may have created the comment.
    """
    pull = payload.optional("number", int)
    if pull is None:
        raise GitHubError("the event names no pull request")
    author = github.author()
    mine = next(
        (
            comment
            for comment in github.comments(pull)
            if comment.author == author and comment.body.startswith(text.marker)
        ),
        None,
    )
    if github.head(pull) != commit_of(payload.inner("pull_request").inner("head"), "sha"):
        raise GitHubError("the pull request has a newer commit, whose run writes it")
    if mine is not None:
        return github.update(mine, text.body)
    if text.is_worth_a_comment:
        return github.create(pull, text.body)
    return ""


class GitHubError(SchemalintError):
    """GitHub refuses what the comment needs."""


class GitHubBusy(GitHubError):  # noqa: N818 (what happened)
    """Another attempt may succeed.

    Attributes:
        seconds: How long to wait before it.
    """

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


@frozen
class _Comment:
    """A comment on a pull request."""

    number: int
    author: int
    body: str


@frozen
class GitHub:
    """One repository.

    Attributes:
        api: The address of the REST API.
        graphql: That of the GraphQL API, which alone tells every kind of token whose it is.
        repository: ``owner/name``.
        token: The token; no message shows it.
        clock: The time in seconds since 1970.
    """

    api: str
    graphql: str
    repository: str
    token: str = field(repr=False)
    clock: Callable[[], float] = time.time

    def author(self) -> int:
        """Return the id of the user as whom the token writes."""
        match self._send("POST", self.graphql, {"query": "{ viewer { databaseId } }"})[0]:
            case {"data": {"viewer": {"databaseId": int(number)}}}:
                return number
        raise GitHubError("GitHub does not say whose the token is")

    def head(self, pull: int) -> str:
        """Return the commit at the head of a pull request."""
        match self._send("GET", f"{self._url}/pulls/{pull}")[0]:
            case {"head": {"sha": str(sha)}}:
                return sha
        raise GitHubError("GitHub does not say what the pull request's head is")

    def comments(self, pull: int) -> Iterator[_Comment]:
        """Yield the comments of a pull request, the oldest first."""
        for page in range(1, _MOST_PAGES + 1):
            query = f"per_page={_PER_PAGE}&page={page}"
            listed, headers = self._send("GET", f"{self._url}/issues/{pull}/comments?{query}")
            for comment in listed if isinstance(listed, list) else ():
                match comment:
                    case {"id": int(number), "user": {"id": int(author)}, "body": str(body)}:
                        yield _Comment(number, author, body)
            # The address in the header is not used: the token goes nowhere but to `api`.
            if not re.search(r';\s*rel="?next\b', headers.get("link", "")):
                return

    def create(self, pull: int, body: str) -> str:
        """Create a comment; return its address."""
        return self._write("POST", f"{self._url}/issues/{pull}/comments", body)

    def update(self, comment: _Comment, body: str) -> str:
        """Replace the text of a comment; return its address."""
        return self._write("PATCH", f"{self._url}/issues/comments/{comment.number}", body)

    @property
    def _url(self) -> str:
        return f"{self.api}/repos/{self.repository}"

    def _write(self, method: str, url: str, body: str) -> str:
        match self._send(method, url, {"body": body})[0]:
            case {"html_url": str(address)} if re.fullmatch(r"https?://[!-~]+", address):
                return address
        return ""

    def _send(self, method: str, url: str, body: object = None) -> tuple[object, Mapping[str, str]]:
        if not may_carry_secrets(url):
            raise GitHubError("the address of GitHub's API is not https")
        hide(self.token)
        request = Request(url, method=method, headers=self._headers())
        if body is not None:
            request.data = json.dumps(body).encode()
        try:
            answer = exchange(request, seconds=SECONDS, most_bytes=MOST_BYTES)
        except (HTTPException, OSError) as error:
            kind = type(getattr(error, "reason", error)).__name__
            raise GitHubBusy(f"there is no answer from GitHub ({kind})", _AFTER_FAULT) from None
        if not 200 <= answer.status < 300:  # noqa: PLR2004
            raise self._error(answer)
        try:
            return read_json(answer.body, MOST_BYTES), answer.headers
        except JsonError as error:
            raise GitHubError(f"GitHub's answer {error}") from None

    def _headers(self) -> dict[str, str]:
        return {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "User-Agent": f"schemalint/{__version__}",
            "X-GitHub-Api-Version": "2022-11-28",
        }

    def _error(self, answer: Answer) -> GitHubError:
        if answer.status >= 500:  # noqa: PLR2004
            return GitHubBusy(f"GitHub answers {answer.status}", _AFTER_FAULT)
        seconds = self._pause(answer)
        if seconds is not None:
            return GitHubBusy("GitHub's rate limit is reached", seconds)
        if answer.status in (401, 403, 404):
            return GitHubError(
                f"the token may not comment (GitHub answers {answer.status}); "
                "the job needs the permission pull-requests: write"
            )
        return GitHubError(f"GitHub answers {answer.status}")

    def _pause(self, answer: Answer) -> float | None:
        """Return how long GitHub asks to wait; None if no limit is reached."""
        after, reset = (answer.headers.get(name, "") for name in ("retry-after", "x-ratelimit-reset"))
        is_empty = answer.headers.get("x-ratelimit-remaining") == "0"
        is_limited = answer.status == 429 or is_empty or after or b"rate limit" in answer.body.lower()  # noqa: PLR2004
        if answer.status not in (403, 429) or not is_limited:
            return None
        if after.isdecimal():
            return float(after)
        if is_empty and reset.isdecimal():
            return max(1.0, float(reset) - self.clock())
        return _AFTER_LIMIT
