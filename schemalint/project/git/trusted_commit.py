"""Find the commit whose configuration counts in a CI run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from schemalint.base.errors import GitError
from schemalint.base.values import frozen
from schemalint.project.git.comparison_base import base_of_review
from schemalint.project.git.events import PullRequest, Since, default_branch, read_event
from schemalint.project.git.revisions import (
    FETCH_REMOTE_HEAD,
    REMOTE_HEAD,
    MissingHistoryError,
    fetch_command,
    is_ancestor,
    merge_base,
    remote_branch,
    remote_head,
    require_unborn,
    retry_with_fetch,
    try_resolve,
)
from schemalint.project.git.sides import Revision

if TYPE_CHECKING:
    from schemalint.project.git.repository import Repository

_BRANCHES = "refs/remotes/origin/"


def trusted_commit(
    repo: Repository, env: Mapping[str, str], refs: Sequence[str] = (), *, fetch: bool = False
) -> Revision:
    """Return the commit whose configuration counts in a CI run; its ``why`` names the reason.

    1. ``HEAD``, if the default branch or one of the trusted refs contains it, whatever the event is.
    2. The base of a pull request or of a merge group.
    3. The merge base with the default branch.

    Args:
        repo: The repository.
        env: The environment with the CI variables.
        refs: Branches of ``origin``, or full references, that are trusted like the default branch.
        fetch: Fetch missing history and search again.

    Raises:
        MissingHistoryError: This clone cannot tell; the help is the command that fetches what it lacks.
        GitError: There is no commit yet, ``origin`` is a fork, or a variable cannot be understood.
    """
    return retry_with_fetch(repo, lambda: _find(repo, env, refs), fetch=fetch)


@frozen
class _Ref:
    """A reference of this clone, and the refspec that fetches it."""

    name: str
    refspec: str

    @property
    def label(self) -> str:
        return self.name.removeprefix("refs/schemalint/").removeprefix("refs/remotes/").removeprefix("refs/")


def _find(repo: Repository, env: Mapping[str, str], refs: Sequence[str]) -> Revision:
    event = read_event(env)
    references = (_default_ref(repo, env), *map(_ref, refs))
    head, *commits = try_resolve(repo, ["HEAD", *(ref.name for ref in references)])
    if head is None:
        require_unborn(repo)
        raise GitError("there is no commit yet, so no configuration counts", help="commit the configuration")
    foreign = _foreign_origin(repo, env)
    if foreign and isinstance(event, PullRequest | Since):
        return base_of_review(repo, head, event, env)
    if foreign:
        raise GitError(foreign, help=f"check out {env['GITHUB_REPOSITORY']}, and fetch the change from there")
    unknown: list[MissingHistoryError] = []
    for ref, commit in zip(references, commits, strict=True):
        try:
            if _contains(repo, ref, commit, head):
                return Revision("HEAD", head, f"checked-out commit, which {ref.label} contains")
        except MissingHistoryError as error:
            unknown.append(error)
    if isinstance(event, PullRequest | Since):
        return base_of_review(repo, head, event, env)
    if unknown:
        raise unknown[0]
    ancestor = merge_base(repo, commits[0] or "", [head], refspec=references[0].refspec)
    label = references[0].label
    return Revision(f"merge-base:{label}", ancestor, f"merge base with {label}")


def _foreign_origin(repo: Repository, env: Mapping[str, str]) -> str:
    """Return an error if a workflow has checked out a fork: its author decides what its branches contain."""
    own = env.get("GITHUB_REPOSITORY", "")
    url = repo.run("config", "--get", "remote.origin.url", statuses=(0, 1)).stdout.decode(errors="replace")
    if not own or re.search(rf"[/:]{re.escape(own)}(\.git)?/?$", url.strip(), re.IGNORECASE):
        return ""
    return f"the remote origin is not {own}, so no branch of it tells which configuration counts"


def _contains(repo: Repository, ref: _Ref, commit: str | None, head: str) -> bool:
    with suppress(MissingHistoryError):
        if commit is not None:
            return is_ancestor(repo, head, commit)
    raise MissingHistoryError(
        f"this clone cannot tell whether {ref.label} contains HEAD, so no configuration counts",
        fetch_command(repo, ref.refspec),
    )


def _default_ref(repo: Repository, env: Mapping[str, str]) -> _Ref:
    branch = default_branch(env) or remote_head(repo)
    if branch is None:
        return _Ref(REMOTE_HEAD, FETCH_REMOTE_HEAD)
    return _ref(branch)


def _ref(text: str) -> _Ref:
    """Return a reference by its full name: a tag called ``origin/main`` must not stand for the branch."""
    branch = text.removeprefix(_BRANCHES)
    if branch.startswith("refs/") and not branch.startswith("refs/heads/"):
        return _Ref(branch, f"+{branch}:{branch}")
    refspec = remote_branch(branch)
    return _Ref(refspec.partition(":")[2], refspec)
