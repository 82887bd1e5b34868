"""The commit whose configuration counts in CI; `tests/cli/test_trusted_configuration.py` has the events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from schemalint.base.errors import GitError, UsageError
from schemalint.project.git import MissingHistoryError, Revision, is_ci, open_repository, trusted_commit
from support.repo import Repo

if TYPE_CHECKING:
    from pathlib import Path


class Clone:
    """A clone of a repository with a feature branch, without its default branch and origin/HEAD."""

    def __init__(self, folder: Path) -> None:
        origin = Repo(folder / "origin")
        self.main = origin.commit("main")
        origin.git("switch", "--quiet", "--create", "feature")
        self.feature = origin.commit("feature")
        origin.git("switch", "--quiet", "main")
        self.repo = Repo(folder / "clone")
        self.repo.git("remote", "add", "origin", origin.path.as_uri())
        self.repo.git("fetch", "--quiet", "--no-tags", "origin", "feature")
        self.repo.git("switch", "--quiet", "--detach", self.feature)

    def trusted(self, *refs: str, **env: str) -> Revision:
        environment = {**self.repo.env, "CI": "true", **env}
        return trusted_commit(open_repository(self.repo.path, environment), environment, refs)

    def trusted_after_fetch(self) -> Revision:
        environment = {**self.repo.env, "CI": "true"}
        return trusted_commit(open_repository(self.repo.path, environment), environment, fetch=True)


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_without_a_named_default_branch_the_head_of_the_remote_is_fetched(clone: Clone) -> None:
    with pytest.raises(MissingHistoryError, match="whether origin/HEAD contains HEAD") as caught:
        clone.trusted()
    assert caught.value.help == "git fetch --no-tags origin +HEAD:refs/schemalint/origin/HEAD"
    expected = Revision("merge-base:origin/HEAD", clone.main, "merge base with origin/HEAD")
    assert clone.trusted_after_fetch() == expected
    clone.repo.git("switch", "--quiet", "--detach", clone.main)
    assert clone.trusted() == Revision("HEAD", clone.main, "checked-out commit, which origin/HEAD contains")


def test_a_branch_called_head_is_not_the_default_branch(clone: Clone) -> None:
    clone.repo.git("fetch", "--quiet", "origin", "+feature:refs/remotes/origin/HEAD")
    with pytest.raises(MissingHistoryError, match="whether origin/HEAD contains HEAD"):
        clone.trusted()
    assert clone.trusted_after_fetch().commit == clone.main
    clone.repo.git("fetch", "--quiet", "origin", "main:refs/remotes/origin/main")
    clone.repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    assert clone.trusted() == Revision("merge-base:origin/main", clone.main, "merge base with origin/main")


def test_a_tag_does_not_stand_for_the_branch_of_the_same_name(clone: Clone) -> None:
    clone.repo.git("fetch", "--quiet", "origin", "main")
    clone.repo.git("tag", "origin/main", clone.feature)
    assert clone.trusted(CI_DEFAULT_BRANCH="main").commit == clone.main
    clone.repo.git("tag", "feature", clone.feature)
    assert clone.trusted("feature", CI_DEFAULT_BRANCH="main").commit == clone.feature, "the branch of origin"
    clone.repo.git("update-ref", "-d", "refs/remotes/origin/feature")
    with pytest.raises(MissingHistoryError, match="whether origin/feature contains HEAD"):
        clone.trusted("feature", CI_DEFAULT_BRANCH="main")
    assert clone.trusted("refs/tags/feature", CI_DEFAULT_BRANCH="main").commit == clone.feature


@pytest.mark.parametrize("ref", ["--upload-pack=x", "a:b", "v*", "HEAD..main", ""])
def test_a_trusted_ref_is_the_name_of_one_reference(clone: Clone, ref: str) -> None:
    with pytest.raises(UsageError, match="not a revision"):
        clone.trusted(ref, CI_DEFAULT_BRANCH="main")


def test_a_branch_without_a_commit_has_no_configuration(clone: Clone) -> None:
    clone.repo.git("switch", "--quiet", "--orphan", "new")
    with pytest.raises(GitError, match="there is no commit yet"):
        clone.trusted(CI_DEFAULT_BRANCH="main")


def test_a_damaged_head_is_no_branch_without_a_commit(clone: Clone) -> None:
    clone.repo.git("switch", "--quiet", "--create", "damaged")
    (clone.repo.path / ".git/refs/heads/damaged").write_text("")
    with pytest.raises(GitError, match="git cannot read the commit of HEAD"):
        clone.trusted(CI_DEFAULT_BRANCH="main")


def test_a_branch_without_a_common_ancestor_has_no_trusted_commit(clone: Clone) -> None:
    clone.repo.git("fetch", "--quiet", "origin", "main")
    clone.repo.git("switch", "--quiet", "--orphan", "new")
    clone.repo.commit()
    with pytest.raises(GitError, match="no common ancestor"):
        clone.trusted(CI_DEFAULT_BRANCH="main")


def test_a_pull_request_needs_no_default_branch(clone: Clone, tmp_path: Path) -> None:
    shas = {"base": {"ref": "main", "sha": clone.main}, "head": {"sha": clone.feature}}
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": shas}))
    trusted = clone.trusted(GITHUB_EVENT_NAME="pull_request", GITHUB_EVENT_PATH=str(tmp_path / "event.json"))
    assert trusted.commit == clone.main


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        ("https://github.com/Acme/Lake", True),
        ("https://x-access-token:t@github.example.com/acme/lake.git", True),
        ("git@github.com:acme/lake.git", True),
        ("https://github.com/mallory/lake", False),
        ("https://github.com/mallory/acme-lake.git", False),
        ("https://github.com/notacme/lake", False),
    ],
)
def test_a_checkout_of_a_fork_does_not_say_which_configuration_counts(
    clone: Clone, tmp_path: Path, url: str, *, is_own: bool
) -> None:
    clone.repo.git("fetch", "--quiet", "origin", "main")
    clone.repo.git("update-ref", "refs/remotes/origin/main", clone.feature)  # the fork's main branch
    clone.repo.git("remote", "set-url", "origin", url)
    shas = {"base": {"ref": "main", "sha": clone.main}, "head": {"sha": clone.feature}}
    (tmp_path / "event.json").write_text(
        json.dumps({"repository": {"default_branch": "main"}, "pull_request": shas})
    )
    env = {"GITHUB_REPOSITORY": "acme/lake", "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
    review = clone.trusted(GITHUB_EVENT_NAME="pull_request_target", **env)
    assert review.commit == (clone.feature if is_own else clone.main)
    if is_own:
        assert clone.trusted(GITHUB_EVENT_NAME="workflow_run", **env).commit == clone.feature
        return
    with pytest.raises(GitError, match="the remote origin is not acme/lake"):
        clone.trusted(GITHUB_EVENT_NAME="workflow_run", **env)


@pytest.mark.parametrize(
    "env",
    [
        {"CI": "false", "GITHUB_ACTIONS": "true"},
        {"GITHUB_EVENT_NAME": "issue_comment"},
        {"CI": "", "GITLAB_CI": "true"},
        {"CHANGE_ID": "7"},
        {"TEAMCITY_VERSION": "2026.1"},
    ],
)
def test_a_service_is_known_by_its_own_variables_even_if_ci_is_unset(env: dict[str, str]) -> None:
    assert is_ci(env)
    assert not is_ci({"CI": "false", "BUILDKITE_PULL_REQUEST": "false"})


def test_replaced_commits_are_read_as_they_were_merged(clone: Clone) -> None:
    clone.repo.git("fetch", "--quiet", "origin", "main")
    clone.repo.git("replace", clone.main, clone.feature)
    repository = open_repository(clone.repo.path, clone.repo.env)
    shown = repository.run("cat-file", "-p", clone.main).stdout
    assert shown.endswith(b"main\n")
