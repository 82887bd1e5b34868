"""Read which change a CI run checks, from variables and the event file, and whether a stranger made it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from schemalint.base import limits
from schemalint.base.errors import GitError
from schemalint.base.json_object import JsonObject
from schemalint.base.untrusted_files import read_given
from schemalint.base.values import frozen
from schemalint.project.git.revisions import FULL_ID

_FORK = "it comes from a fork"
_UNKNOWN = "no variable says that it comes from this repository"

# Events of this repository alone. The entries of a merge group passed the required check before.
_GITHUB_OWN = frozenset({"push", "merge_group", "schedule", "workflow_dispatch", "release"})
_GITHUB_PULL_REQUEST = frozenset({"pull_request", "pull_request_target"})
# learn.microsoft.com, "Predefined variables": Build.Reason.
_AZURE_OWN = frozenset({"IndividualCI", "BatchedCI", "Manual", "Schedule"})


@frozen
class PullRequest:
    """A proposal to merge a branch.

    Attributes:
        branch: The target branch, with or without ``refs/heads/``.
        base: A commit of the target branch, empty if the service gives only the branch's name.
        head: The tip of the branch to merge, or empty.
    """

    branch: str
    base: str = ""
    head: str = ""


@frozen
class Push:
    """A push to a branch, or a run that no change has started.

    Attributes:
        before: The branch's tip before the push; all zeros or empty if there was none.
        default_branch: The default branch of the repository.
    """

    before: str
    default_branch: str


@frozen
class Since:
    """Everything since a commit that the CI service names."""

    base: str
    why: str


Event: TypeAlias = PullRequest | Push | Since


def is_ci(env: Mapping[str, str]) -> bool:
    """Whether this is a CI run: every service sets one of a few variables."""
    return any(env.get(name, "").lower() not in {"", "0", "false"} for name in _CI)


# Most services set CI, and some users unset it (``CI=false``): the services' own variables count too.
# TF_BUILD: Azure. The last lines: a pull request of GitLab, Azure, Bitbucket, Buildkite, Jenkins.
_CI = (
    *("CI", "TF_BUILD", "JENKINS_URL", "GITHUB_ACTIONS", "GITHUB_EVENT_NAME", "GITLAB_CI", "BUILDKITE"),
    *("BITBUCKET_BUILD_NUMBER", "CIRCLECI", "TRAVIS", "APPVEYOR", "TEAMCITY_VERSION", "CODEBUILD_BUILD_ID"),
    *("CI_MERGE_REQUEST_IID", "SYSTEM_PULLREQUEST_PULLREQUESTID", "BITBUCKET_PR_ID"),
    *("BUILDKITE_PULL_REQUEST", "CHANGE_ID"),
)


def default_branch(env: Mapping[str, str]) -> str | None:
    """Return the name of the repository's default branch, None if no variable gives it.

    Raises:
        GitError: The event file cannot be read.
    """
    if not env.get("GITHUB_EVENT_NAME"):
        return env.get("CI_DEFAULT_BRANCH") or None
    branch = github_payload(env).inner("repository").optional("default_branch", str)
    if branch is None and env["GITHUB_EVENT_NAME"] == "schedule":
        return env.get("GITHUB_REF") or None  # a schedule has no such payload, and runs on the default branch
    return branch


def read_event(env: Mapping[str, str]) -> Event | None:
    """Return the change that the CI run checks, None if no variable names it.

    Raises:
        GitError: A variable or the event file cannot be understood.
    """
    name = env.get("GITHUB_EVENT_NAME", "")
    if name in _GITHUB:
        return _GITHUB[name](github_payload(env))
    if name in _GITHUB_WITHOUT_CHANGE and (branch := default_branch(env)):
        return Push("", branch)
    for variable, read in _VARIABLES:
        if env.get(variable):
            return read(env)
    return None


def is_review(env: Mapping[str, str]) -> bool:
    """Whether the CI run checks a proposal to merge: a pull request, a merge request, a merge group.

    Raises:
        GitError: See `read_event`.
    """
    return is_ci(env) and isinstance(read_event(env), PullRequest | Since)


_NAME_THE_BASE = "name the base: --against REV"


def github_payload(env: Mapping[str, str]) -> JsonObject:
    """Return GitHub's description of the event; its methods raise a `GitError`.

    Raises:
        GitError: The event file cannot be read.
    """
    file = env.get("GITHUB_EVENT_PATH", "")

    def refused(path: str, _expected: str, _found: object) -> GitError:
        return GitError(f"no {path} in GitHub's event file {file}", help=_NAME_THE_BASE)

    try:
        content = json.loads(read_given(file, limits.MAX_EVENT))
    except (OSError, ValueError, RecursionError) as error:
        raise GitError(
            f"GitHub's event file {file!r} cannot be read: {error}", help=_NAME_THE_BASE
        ) from error
    return JsonObject.of(content, refused, is_sparse=True)


def commit_of(content: JsonObject, key: str) -> str:
    """Return the commit id at a key of an event.

    Raises:
        GitError: There is none.
    """
    return _commit(content.text(key), content.at(key))


def _commit(text: str, name: str) -> str:
    if not FULL_ID.fullmatch(text):
        raise GitError(f"{name} is not a commit id: {text!r}", help=_NAME_THE_BASE)
    return text


def _github_pull_request(event: JsonObject) -> PullRequest:
    pull = event.inner("pull_request")
    base, head = pull.inner("base"), pull.inner("head")
    return PullRequest(base.text("ref"), commit_of(base, "sha"), commit_of(head, "sha"))


def _github_push(event: JsonObject) -> Push:
    return Push(commit_of(event, "before"), event.inner("repository").text("default_branch"))


def _github_merge_group(event: JsonObject) -> Since:
    return Since(commit_of(event.inner("merge_group"), "base_sha"), "base of the merge group")


# docs.github.com, "Webhook events and payloads".
_GITHUB: Mapping[str, Callable[[JsonObject], Event]] = {
    "pull_request": _github_pull_request,
    "pull_request_target": _github_pull_request,
    "push": _github_push,
    "merge_group": _github_merge_group,
}
_GITHUB_WITHOUT_CHANGE = frozenset({"schedule", "workflow_dispatch", "release"})


def _gitlab_merge_request(env: Mapping[str, str]) -> Since | PullRequest:
    name = "CI_MERGE_REQUEST_DIFF_BASE_SHA"
    base = _commit(env[name], name)
    # Only pipelines for merged results have these two. Their commit merges the source branch into the target
    # branch, which can have changed since the merge base.
    target, source = (env.get(f"CI_MERGE_REQUEST_{side}_BRANCH_SHA") for side in ("TARGET", "SOURCE"))
    if not target or not source:
        return Since(base, "base of the merge request")
    branch = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    return PullRequest(branch, _commit(target, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"), source)


def _gitlab_push(env: Mapping[str, str]) -> Push:
    name = "CI_COMMIT_BEFORE_SHA"
    return Push(_commit(env[name], name), env.get("CI_DEFAULT_BRANCH", "main"))


def _target_branch(variable: str) -> tuple[str, Callable[[Mapping[str, str]], Event]]:
    return variable, lambda env: PullRequest(env[variable])


# Most specific first: GitLab sets the second variable in every pipeline, to zeros for merge requests.
_VARIABLES: tuple[tuple[str, Callable[[Mapping[str, str]], Event]], ...] = (
    ("CI_MERGE_REQUEST_DIFF_BASE_SHA", _gitlab_merge_request),
    ("CI_COMMIT_BEFORE_SHA", _gitlab_push),
    _target_branch("SYSTEM_PULLREQUEST_TARGETBRANCH"),  # Azure Pipelines
    _target_branch("BITBUCKET_PR_DESTINATION_BRANCH"),
    _target_branch("BUILDKITE_PULL_REQUEST_BASE_BRANCH"),
    _target_branch("CHANGE_TARGET"),  # Jenkins, multibranch pipelines
)


def foreign_head(env: Mapping[str, str]) -> str | None:
    """Return why the change may be a stranger's; None if who may push to the repository made it.

    An unknown origin counts as foreign. Outside of CI nothing is foreign.
    """
    if not is_ci(env):
        return None
    if name := env.get("GITHUB_EVENT_NAME"):
        return _of_github(name, env)
    if any(env.get(variable) for variable in ("CI_MERGE_REQUEST_IID", "CI_MERGE_REQUEST_DIFF_BASE_SHA")):
        return _same(env.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID"), env.get("CI_MERGE_REQUEST_PROJECT_ID"))
    if env.get("TF_BUILD"):
        return _of_azure(env)
    if env.get("BITBUCKET_BUILD_NUMBER"):
        if env.get("BITBUCKET_PR_ID"):
            return _UNKNOWN
        return None
    if env.get("BUILDKITE"):
        if env.get("BUILDKITE_PULL_REQUEST") == "false":
            return None
        return _UNKNOWN
    if env.get("GITLAB_CI") and env.get("CI_COMMIT_BEFORE_SHA"):
        return None
    return _UNKNOWN


def _of_github(name: str, env: Mapping[str, str]) -> str | None:
    if name in _GITHUB_OWN:
        return None
    if name not in _GITHUB_PULL_REQUEST:
        return _UNKNOWN
    try:
        pull = github_payload(env).inner("pull_request")
        head, base = (pull.inner(side).inner("repo").optional("id", int) for side in ("head", "base"))
    except GitError:
        return _UNKNOWN
    return _same(head, base)


def _of_azure(env: Mapping[str, str]) -> str | None:
    is_fork = env.get("SYSTEM_PULLREQUEST_ISFORK", "").lower()
    if is_fork in ("true", "false"):
        return _FORK if is_fork == "true" else None
    is_own = env.get("BUILD_REASON") in _AZURE_OWN and not env.get("SYSTEM_PULLREQUEST_PULLREQUESTID")
    return None if is_own else _UNKNOWN


def _same(source: object, target: object) -> str | None:
    if not source or not target:
        return _UNKNOWN
    return None if source == target else _FORK
