"""Tell whether the change of a CI run comes from the repository itself, or perhaps from a stranger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.base.errors import GitError
from schemalint.project.git.events import github_payload, is_ci

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORK = "it comes from a fork"
_UNKNOWN = "no variable says that it comes from this repository"

# Events of this repository alone. The entries of a merge group passed the required check before.
_GITHUB_OWN = frozenset({"push", "merge_group", "schedule", "workflow_dispatch", "release"})
_GITHUB_PULL_REQUEST = frozenset({"pull_request", "pull_request_target"})
# learn.microsoft.com, "Predefined variables": Build.Reason.
_AZURE_OWN = frozenset({"IndividualCI", "BatchedCI", "Manual", "Schedule"})


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
        return _UNKNOWN if env.get("BITBUCKET_PR_ID") else None
    if env.get("BUILDKITE"):
        return None if env.get("BUILDKITE_PULL_REQUEST") == "false" else _UNKNOWN
    return None if env.get("GITLAB_CI") and env.get("CI_COMMIT_BEFORE_SHA") else _UNKNOWN


def _of_github(name: str, env: Mapping[str, str]) -> str | None:
    if name in _GITHUB_OWN:
        return None
    if name not in _GITHUB_PULL_REQUEST:
        return _UNKNOWN
    try:
        payload = github_payload(env)
    except GitError:
        return _UNKNOWN
    sides = (payload.number("pull_request", side, "repo", "id") for side in ("head", "base"))
    return _same(*sides)


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
