"""The step ``comment``: one comment on the pull request, found again by its marker and kept up to date."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Final

from schemalint.base.errors import GitError
from schemalint.base.printable import markdown_prose
from schemalint.base.values import frozen
from schemalint.cli.action.github import GitHub, GitHubBusy, GitHubError
from schemalint.cli.action.handover import Handover
from schemalint.project.git import foreign_head
from schemalint.project.git.events import Payload, github_payload

MOST_SECONDS: Final = 120.0
"""How long the step waits for GitHub, all pauses together."""

_ATTEMPTS: Final = 4
_PULL_REQUEST: Final = frozenset({"pull_request", "pull_request_target"})


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


def _write(github: GitHub, payload: Payload, text: _Text) -> str:
    """Create or update the comment.

    A second attempt begins from the start: a request without an answer may have created the comment.
    """
    pull = payload.number("number")
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
    if github.head(pull) != payload.commit("pull_request", "head", "sha"):
        raise GitHubError("the pull request has a newer commit, whose run writes it")
    if mine is not None:
        return github.update(mine, text.body)
    return github.create(pull, text.body) if text.is_worth_a_comment else ""
