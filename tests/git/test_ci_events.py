"""The base chosen from a CI service's event, on clones like those of the service's checkout."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.base import limits
from schemalint.base.errors import GitError, UsageError
from schemalint.project.git import MissingHistoryError, Revision, Side, find_base, find_head, open_repository
from support.repo import Repo

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ZEROS = "0" * 40


def base(repo: Repo, env: Mapping[str, str], *, fetch: bool = False) -> Side:
    environment = repo.env | {"CI": "true"} | dict(env)
    opened = open_repository(repo.path, environment)
    return find_base(opened, find_head(opened, "worktree", environment), None, environment, fetch=fetch)


def github(repo: Repo, name: str, payload: object) -> dict[str, str]:
    file = repo.path.parent / "event.json"
    file.write_text(json.dumps(payload))
    return {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}


def pull_request(base_sha: str, head_sha: str) -> dict[str, object]:
    return {"pull_request": {"base": {"ref": "main", "sha": base_sha}, "head": {"sha": head_sha}}}


def push(before: str) -> dict[str, object]:
    return {"before": before, "repository": {"default_branch": "main"}}


class Forked:
    """An origin with a feature branch, a newer main, and GitHub's merge commit of both."""

    def __init__(self, path: Path) -> None:
        self.repo = repo = Repo(path)
        self.fork = repo.commit("root")
        repo.git("switch", "--quiet", "--create", "feature")
        repo.write("mine.yml", "")
        self.head = repo.commit("mine")
        repo.git("switch", "--quiet", "main")
        repo.write("theirs.yml", "")
        self.main = repo.commit("theirs")
        repo.git("switch", "--quiet", "--detach")
        repo.git("merge", "--quiet", "--no-ff", "--message=merge", "feature")
        repo.git("update-ref", "refs/pull/1/merge", "HEAD")
        repo.git("switch", "--quiet", "main")

    def checkout(self, path: Path, ref: str, *options: str) -> Repo:
        """Check out like actions/checkout: fetch instead of clone, so that origin/HEAD is not set."""
        repo = Repo(path)
        repo.git("remote", "add", "origin", self.repo.path.as_uri())
        repo.git("fetch", "--quiet", "--no-tags", *options, "origin", f"+{ref}:refs/remotes/checked/out")
        repo.git("switch", "--quiet", "--detach", "refs/remotes/checked/out")
        return repo


@pytest.fixture
def forked(tmp_path: Path) -> Forked:
    return Forked(tmp_path / "origin")


def test_a_checkout_of_the_pull_request_merge_is_compared_with_the_target_branch(
    forked: Forked, tmp_path: Path
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/pull/1/merge")
    # The event's base is older than the commit that GitHub merged into, so the merge's first parent counts.
    env = github(repo, "pull_request", pull_request(forked.fork, forked.head)) | {"GITHUB_SHA": repo.head()}
    assert base(repo, env) == Revision("HEAD^1", forked.main, "target branch of the pull request, main")


def test_a_merge_that_the_branch_got_after_the_event_does_not_choose_the_base(
    forked: Forked, tmp_path: Path
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/heads/feature")
    repo.git("fetch", "--quiet", "origin", "main")
    repo.git("switch", "--quiet", "--orphan", "hostile")
    repo.commit("a base of the author's choice")
    repo.git("merge", "--quiet", "--no-ff", "--allow-unrelated-histories", "--message=merge", forked.head)
    env = github(repo, "pull_request", pull_request(forked.main, forked.head)) | {"GITHUB_SHA": forked.head}
    assert base(repo, env).commit == forked.fork


def test_a_checkout_of_the_pull_request_head_is_compared_with_the_merge_base(
    forked: Forked, tmp_path: Path
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/heads/feature")
    repo.git("fetch", "--quiet", "origin", "main")
    for name in ("pull_request", "pull_request_target"):
        env = github(repo, name, pull_request(forked.main, forked.head))
        expected = Revision(f"merge-base:{forked.main}", forked.fork, "merge base with main")
        assert base(repo, env) == expected


def test_a_merge_commit_of_the_branch_itself_is_not_taken_for_githubs_merge(
    forked: Forked, tmp_path: Path
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/pull/1/merge")
    # The tip of the branch is itself a merge: its second parent is not the event's head.
    env = github(repo, "pull_request", pull_request(forked.fork, repo.head()))
    assert base(repo, env).commit == forked.fork


@pytest.mark.parametrize(("ref", "expected"), [("refs/pull/1/merge", "main"), ("refs/heads/feature", "fork")])
def test_a_shallow_pull_request_checkout_names_the_fetch_command_or_fetches(
    forked: Forked, tmp_path: Path, ref: str, expected: str
) -> None:
    repo = forked.checkout(tmp_path / "ci", ref, "--depth=1")
    env = github(repo, "pull_request", pull_request(forked.main, forked.head))
    with pytest.raises(MissingHistoryError, match="unknown revision") as caught:
        base(repo, env)
    refspec = "+refs/heads/main:refs/remotes/origin/main"
    assert caught.value.help == f"git fetch --no-tags --unshallow origin {refspec}"
    assert base(repo, env, fetch=True).commit == getattr(forked, expected)


def test_a_branch_name_in_the_event_cannot_be_a_refspec(forked: Forked) -> None:
    payload = {"pull_request": {"base": {"ref": "main:x", "sha": forked.main}, "head": {"sha": forked.head}}}
    with pytest.raises(UsageError, match="not a revision"):
        base(forked.repo, github(forked.repo, "pull_request", payload))


def test_a_push_is_compared_with_the_branch_before_the_push(forked: Forked) -> None:
    env = github(forked.repo, "push", push(forked.fork))
    assert base(forked.repo, env) == Revision(forked.fork, forked.fork, "the branch before the push")


@pytest.mark.parametrize("before", [ZEROS, "1" * 40], ids=["new branch", "forced push"])
def test_a_push_without_a_previous_commit_is_compared_with_the_default_branch(
    forked: Forked, tmp_path: Path, before: str
) -> None:
    repo = forked.repo.clone(tmp_path / "ci", "--branch=feature")
    side = base(repo, github(repo, "push", push(before)))
    assert side == Revision("merge-base:origin/main", forked.fork, "merge base with origin/main")


def test_a_push_to_a_shallow_clone_fetches_the_previous_commit(forked: Forked, tmp_path: Path) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/heads/main", "--depth=1")
    env = github(repo, "push", push(forked.fork))
    with pytest.raises(MissingHistoryError) as caught:
        base(repo, env)
    assert "--unshallow" in caught.value.help
    assert base(repo, env, fetch=True).commit == forked.fork


def test_a_forced_push_to_a_shallow_clone_is_compared_with_the_default_branch(
    forked: Forked, tmp_path: Path
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/heads/feature", "--depth=1")
    assert base(repo, github(repo, "push", push("1" * 40)), fetch=True).commit == forked.fork


@pytest.mark.parametrize("event", ["push", "schedule", "workflow_dispatch", "release"])
def test_a_run_for_a_commit_of_the_default_branch_has_nothing_to_find(
    forked: Forked, tmp_path: Path, event: str
) -> None:
    """The first push of all, a new branch without commits, a tag, a nightly comparison with live tables."""
    repo = forked.checkout(tmp_path / "ci", "refs/heads/main", "--depth=1")
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    env = github(repo, event, push(ZEROS)) | {"GITHUB_REF": "refs/heads/main"}
    assert base(repo, env) == Revision("HEAD", forked.main, "the last commit, as merge base with origin/main")


def test_a_run_that_was_started_by_hand_for_a_branch_is_compared_with_the_default_branch(
    forked: Forked, tmp_path: Path
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/heads/feature")
    env = github(repo, "workflow_dispatch", {"repository": {"default_branch": "main"}})
    assert base(repo, env, fetch=True).commit == forked.fork


def test_a_service_that_names_no_branch_is_compared_with_the_head_of_the_remote(
    forked: Forked, tmp_path: Path
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/heads/feature", "--depth=1")
    with pytest.raises(MissingHistoryError, match="nothing to compare with") as caught:
        base(repo, {"JENKINS_URL": "https://ci"})
    assert "+HEAD:refs/schemalint/origin/HEAD" in caught.value.help
    side = base(repo, {"JENKINS_URL": "https://ci"}, fetch=True)
    assert side == Revision("merge-base:origin/HEAD", forked.fork, "merge base with origin/HEAD")


def test_a_review_whose_base_is_checked_out_is_an_error(forked: Forked) -> None:
    with pytest.raises(GitError, match="nothing to compare: the base is the head commit itself"):
        base(forked.repo, github(forked.repo, "pull_request_target", pull_request(forked.main, forked.head)))


def test_a_merge_group_is_compared_with_its_base(forked: Forked) -> None:
    env = github(forked.repo, "merge_group", {"merge_group": {"base_sha": forked.fork}})
    assert base(forked.repo, env) == Revision(forked.fork, forked.fork, "base of the merge group")


def test_an_event_without_a_base_is_an_error(forked: Forked) -> None:
    with pytest.raises(GitError, match="nothing to compare with"):
        base(forked.repo, github(forked.repo, "issue_comment", {}))


def test_an_unusable_event_file_is_an_error(forked: Forked, tmp_path: Path) -> None:
    event = {"GITHUB_EVENT_NAME": "push"}
    with pytest.raises(GitError, match="cannot be read"):
        base(forked.repo, event | {"GITHUB_EVENT_PATH": str(tmp_path / "gone.json")})
    with pytest.raises(GitError, match="no before in GitHub's event file"):
        base(forked.repo, github(forked.repo, "push", {"before": None}))
    with pytest.raises(GitError, match="before is not a commit id: '--output=x'"):
        base(forked.repo, github(forked.repo, "push", push("--output=x")))


def test_an_event_file_beyond_the_limit_is_an_error(forked: Forked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_EVENT", 1 << 20)
    event = github(forked.repo, "push", push("0" * 40) | {"text": "x" * (1 << 20)})
    with pytest.raises(GitError, match="more than 1 MiB"):
        base(forked.repo, event)
    with pytest.raises(GitError, match="more than 1 MiB"):
        base(forked.repo, event | {"GITHUB_EVENT_PATH": "/dev/zero"})


def test_gitlab_variables_give_the_base(forked: Forked, tmp_path: Path) -> None:
    repo = forked.repo.clone(tmp_path / "ci", "--branch=feature")
    before = {"CI_COMMIT_BEFORE_SHA": ZEROS, "CI_DEFAULT_BRANCH": "main"}
    merge_request = before | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": forked.fork}
    assert base(repo, merge_request).why == "base of the merge request"
    assert base(repo, before) == Revision(
        "merge-base:origin/main", forked.fork, "merge base with origin/main"
    )


def test_a_merged_result_of_gitlab_is_compared_with_the_target_branch(forked: Forked, tmp_path: Path) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/pull/1/merge")
    env = {
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": forked.fork,
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": forked.main,
        "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": forked.head,
    }
    assert base(repo, env).commit == forked.main
    env |= {"CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "", "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": ""}
    assert base(repo, env).commit == forked.fork


@pytest.mark.parametrize(
    ("variable", "branch"),
    [
        ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"),
        ("BITBUCKET_PR_DESTINATION_BRANCH", "main"),
        ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"),
        ("CHANGE_TARGET", "main"),
    ],
)
def test_a_target_branch_variable_gives_the_merge_base(
    forked: Forked, tmp_path: Path, variable: str, branch: str
) -> None:
    repo = forked.checkout(tmp_path / "ci", "refs/heads/feature")
    with pytest.raises(MissingHistoryError) as caught:
        base(repo, {variable: branch})
    assert caught.value.help == "git fetch --no-tags origin +refs/heads/main:refs/remotes/origin/main"
    side = base(repo, {variable: branch}, fetch=True)
    assert side == Revision("merge-base:origin/main", forked.fork, "merge base with origin/main")
