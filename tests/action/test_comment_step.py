"""The comment on a pull request: whose it is, when it is written, and what GitHub may answer."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemalint.cli.action.comment_step import MOST_SECONDS, comment_step
from schemalint.cli.action.github_runner import Handover
from support.github_server import BOT, REPOSITORY, STRANGER, TOKEN, Answer, GitHubServer

MARKER = "<!-- schemalint: 1234 -->"
BODY = f"{MARKER}\n\n### schemalint\n\n1 error"
HEAD = "a" * 40
FORK = "this change counts as a stranger's: it comes from a fork"


@pytest.fixture
def github() -> Iterator[GitHubServer]:
    with GitHubServer(head=HEAD).serving() as server:
        yield server


class Step:
    """The step in a folder of its own."""

    def __init__(self, folder: Path, github: GitHubServer) -> None:
        self.folder = folder
        self.github = github
        self.waited: list[float] = []

    def run(
        self,
        *,
        body: str = BODY,
        marker: str = MARKER,
        worth: bool = True,
        head_repository: int = 1,
        **env: str,
    ) -> tuple[str, str]:
        """Run the step; return the comment's address, and the reason why there is none."""
        comment = {"marker": marker, "body": body, "is_worth_a_comment": worth}
        (self.folder / "comment.json").write_text(json.dumps(comment))
        sides = {
            "base": {"ref": "main", "sha": "b" * 40, "repo": {"id": 1}},
            "head": {"ref": "feature", "sha": HEAD, "repo": {"id": head_repository}},
        }
        event = self.folder / "event.json"
        event.write_text(json.dumps({"number": 1, "pull_request": sides}))
        variables = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_EVENT_PATH": str(event),
            "INPUT_COMMENT": "auto",
            "INPUT_TOKEN": TOKEN,
            **self.github.env,
            **env,
        }
        handover = Handover(self.folder, "comment")
        assert comment_step(handover, variables, self.waited.append) == 0
        handover.write()
        (line,) = handover.summary or [""]
        assert TOKEN not in line
        assert bool(line) == bool(handover.log)
        return handover.outputs.get("comment-url", ""), html.unescape(line).removeprefix("No comment: ")


@pytest.fixture
def step(tmp_path: Path, github: GitHubServer) -> Step:
    return Step(tmp_path, github)


def _bodies(github: GitHubServer) -> list[str]:
    return [comment["body"] for comment in github.comments]


def _writes(github: GitHubServer) -> list[str]:
    return [request for request in github.requests if "comments" in request and "GET" not in request]


def test_the_first_run_creates_a_comment_and_the_next_ones_update_it(step: Step) -> None:
    address, reason = step.run()
    assert (address, reason) == (step.github.comments[0]["html_url"], "")
    assert step.run(body=f"{MARKER} again") == (address, "")
    assert _bodies(step.github) == [f"{MARKER} again"]


def test_a_comment_that_says_nothing_is_an_update_only(step: Step) -> None:
    assert step.run(worth=False) == ("", "")
    assert step.github.comments == []
    step.run()
    assert step.run(body=f"{MARKER} green", worth=False)[0]
    assert _bodies(step.github) == [f"{MARKER} green"]


def test_the_comment_is_found_on_a_later_page_whose_link_names_another_host(
    step: Step, github: GitHubServer
) -> None:
    for number in range(7):
        github.comment(f"comment {number}", STRANGER)
    github.comment(BODY)
    github.comment("the last one", STRANGER)
    github.per_page, github.link_host = 3, "http://elsewhere.invalid"
    step.run(body=f"{MARKER} again")
    assert len(github.comments) == 9
    assert github.comments[7]["body"] == f"{MARKER} again"
    assert [request for request in github.requests if "page=4" in request] == []


def test_a_stranger_s_comment_with_the_marker_is_left_alone(step: Step, github: GitHubServer) -> None:
    github.comment(f"{MARKER} all is green", STRANGER)
    step.run()
    assert _bodies(github) == [f"{MARKER} all is green", BODY]
    assert github.comments[1]["user"] == {"id": BOT}


def test_an_own_comment_that_quotes_the_marker_is_left_alone(step: Step, github: GitHubServer) -> None:
    github.comment(f"another tool of the same bot, which quotes {MARKER}")
    step.run()
    assert len(github.comments) == 2


def test_two_markers_are_two_comments(step: Step) -> None:
    other = "<!-- schemalint: 5678 -->"
    step.run()
    step.run(marker=other, body=f"{other} of another folder")
    step.run(body=f"{MARKER} again")
    assert _bodies(step.github) == [f"{MARKER} again", f"{other} of another folder"]


def test_a_run_of_an_older_head_writes_nothing(step: Step, github: GitHubServer) -> None:
    github.comment(BODY)
    github.head = "c" * 40
    address, reason = step.run(body=f"{MARKER} of an older commit")
    assert (address, _bodies(github), _writes(github)) == ("", [BODY], [])
    assert "newer commit" in reason


def test_a_head_that_moves_while_comments_are_read_is_noticed(step: Step, github: GitHubServer) -> None:
    def push(request: str) -> None:
        if "comments" in request:
            github.head = "c" * 40

    github.on_request = push
    assert "newer commit" in step.run()[1]
    assert github.comments == []


@pytest.mark.parametrize("name", ["push", "merge_group", "workflow_dispatch", "schedule"])
def test_other_events_ask_nothing(step: Step, name: str) -> None:
    assert step.run(GITHUB_EVENT_NAME=name) == ("", "")
    assert step.github.requests == []


def test_the_input_comment_turns_it_off(step: Step) -> None:
    assert step.run(INPUT_COMMENT="off") == ("", "")
    assert step.github.requests == []


def test_a_fork_and_a_missing_token_are_told_in_one_line(step: Step) -> None:
    assert step.run(head_repository=2)[1] == f"{FORK}."
    assert step.run(INPUT_TOKEN="")[1] == "there is no token."
    assert step.github.requests == []


def test_a_token_without_permission_is_told_in_one_line(step: Step, github: GitHubServer) -> None:
    github.may_write = False
    assert "pull-requests: write" in step.run()[1]
    assert step.waited == []


def test_a_token_that_github_refuses_is_told_in_one_line(step: Step) -> None:
    assert "401" in step.run(INPUT_TOKEN=TOKEN[1:])[1]


LIMITS: list[tuple[Answer, float]] = [
    ((429, {"Retry-After": "7"}, {}), 7),
    ((403, {"retry-after": "3"}, {"message": "You have exceeded a secondary rate limit"}), 3),
    ((403, {}, {"message": "You have exceeded a secondary rate limit"}), 60),
    ((403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0"}, {}), 1),
    ((429, {}, {}), 60),
    ((502, {}, {}), 2),
    ((503, {}, {}), 2),
]


@pytest.mark.parametrize(("answer", "seconds"), LIMITS)
@pytest.mark.parametrize("request_", ["graphql", "GET /repos/acme/contracts/issues", "pulls", "POST /repos"])
def test_a_limit_or_a_fault_is_waited_for(step: Step, answer: Answer, seconds: float, request_: str) -> None:
    step.github.faults.append((request_, answer))
    assert step.run()[0]
    assert step.waited == [seconds]
    assert _bodies(step.github) == [BODY]


def test_a_limit_that_takes_too_long_is_told(step: Step, github: GitHubServer) -> None:
    github.faults.append(("comments", (429, {"Retry-After": str(int(MOST_SECONDS) + 1)}, {})))
    assert step.run()[1] == "GitHub's rate limit is reached."
    assert step.waited == []


def test_faults_without_end_are_told(step: Step, github: GitHubServer) -> None:
    github.faults.extend([("comments", (500, {}, {}))] * 9)
    assert step.run()[1] == "GitHub answers 500."
    assert len(step.waited) == 3


def test_an_answer_that_was_lost_after_the_comment_was_created_makes_no_second_one(
    step: Step, github: GitHubServer
) -> None:
    def create_in_vain(request: str) -> None:
        if "POST /repos" in request and not github.comments:
            github.comment(BODY)
            github.faults.append(("POST /repos", (502, {}, {})))

    github.on_request = create_in_vain
    assert step.run()[0]
    assert _bodies(github) == [BODY]


def test_a_comment_that_is_deleted_meanwhile_is_told(step: Step, github: GitHubServer) -> None:
    github.comment(BODY)
    github.faults.append(("PATCH", (404, {}, {"message": "Not Found"})))
    assert "404" in step.run()[1]


def test_a_redirect_does_not_take_the_token_to_another_host(step: Step, github: GitHubServer) -> None:
    with GitHubServer(head=HEAD).serving() as other:
        target = f"{other.address}/repos/{REPOSITORY}/issues/1/comments"
        github.faults.append(("POST /repos", (307, {"Location": target}, {})))
        assert step.run()[1] == "GitHub answers 307."
        assert other.requests == []


def test_a_token_goes_to_https_or_to_this_machine_alone(step: Step) -> None:
    assert "not https" in step.run(GITHUB_GRAPHQL_URL="http://ghe.example.com/graphql")[1]


def test_a_server_that_is_not_there_is_told(step: Step) -> None:
    nowhere = "http://127.0.0.1:9"
    assert "ConnectionRefusedError" in step.run(GITHUB_GRAPHQL_URL=nowhere)[1]


@pytest.mark.parametrize("answer", [(200, {}, {"errors": []}), (200, {}, [])])
def test_an_unknown_owner_of_the_token_updates_nothing(step: Step, answer: Any) -> None:  # noqa: ANN401
    step.github.faults.append(("graphql", answer))
    assert "whose the token is" in step.run()[1]
    assert _writes(step.github) == []
