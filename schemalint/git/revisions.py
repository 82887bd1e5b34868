"""Revisions: from a name to a commit, how commits are related, and what to fetch where history is missing."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from schemalint.errors import GitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.git.repository import Repository


class MissingHistoryError(GitError):
    """This clone lacks a commit, or the history that joins two of them.

    Attributes:
        command: Arguments of the git command that brings it, or empty where none is known to.
    """

    def __init__(self, message: str, command: Sequence[str], *, otherwise: str = "") -> None:
        super().__init__(message, help=shlex.join(["git", *command]) if command else otherwise)
        self.command = tuple(command)


def resolve(repo: Repository, revision: str, *, refspec: str = "") -> str:
    """The full id of the commit that a revision names (one git process).

    Args:
        repo: Where to look.
        revision: Anything of gitrevisions(7) that names one commit.
        refspec: What brings it, where the caller knows better than its name tells.

    Raises:
        UsageError: The text cannot be one revision.
        MissingHistoryError: There is no such commit here; the help is how to fetch it.
    """
    (commit,) = try_resolve(repo, [revision])
    if commit is None:
        raise _unknown(repo, revision, refspec)
    return commit


def try_resolve(repo: Repository, revisions: Sequence[str]) -> list[str | None]:
    """The full ids of commits, None for an unknown one (one git process for all).

    They are given on standard input, where no text is taken for an option.

    Raises:
        UsageError: A text cannot be one revision.
    """
    for revision in revisions:
        _require_revision(revision)
    lines = "".join(f"{revision}^{{commit}}\n" for revision in revisions)
    out = repo.run("cat-file", "--batch-check", stdin=lines.encode(errors="surrogateescape")).stdout
    found = [_COMMIT_LINE.fullmatch(line) for line in out.decode(errors="replace").splitlines()]
    return [match[1] if match else None for match in found]


_COMMIT_LINE = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) commit \d+")


def merge_base(repo: Repository, commit: str, tips: Sequence[str], *, refspec: str = "") -> str:
    """The best common ancestor of a commit and the merge of all tips (ids; one git process).

    Raises:
        MissingHistoryError: There is none, or it lies beyond the end of a shallow clone.
    """
    answer = repo.run("merge-base", commit, *tips, statuses=(0, 1))
    if answer.returncode == 0:
        return answer.stdout.decode().split()[0]
    message = f"no common ancestor of {commit[:12]} and {tips[0][:12]} is known here"
    command = fetch_command(repo, refspec) if repo.is_shallow() else ()
    raise MissingHistoryError(message, command, otherwise="name what to compare with: --against REV")


def is_known(repo: Repository, commit: str) -> bool:
    """Whether this clone has a commit."""
    return try_resolve(repo, [commit]) != [None]


def is_ancestor(repo: Repository, ancestor: str, commit: str) -> bool:
    """Whether a commit is another one, or among its ancestors (ids; one git process).

    Raises:
        MissingHistoryError: It seems not, but this clone is shallow.
    """
    if repo.run("merge-base", "--is-ancestor", ancestor, commit, statuses=(0, 1)).returncode == 0:
        return True
    if repo.is_shallow():
        message = f"whether {ancestor[:12]} is an ancestor of {commit[:12]} cannot be told in a shallow clone"
        raise MissingHistoryError(message, fetch_command(repo, ""))
    return False


def newest_tag(repo: Repository, pattern: str, commit: str, *, but_not_at: str = "") -> tuple[str, str]:
    """Name and commit of the newest matching tag among a commit's ancestors (two git processes).

    Args:
        repo: Where to look.
        pattern: A pattern of ``git for-each-ref`` under ``refs/tags/``.
        commit: The ancestors' descendant.
        but_not_at: A commit whose own tags do not count, or empty.

    Raises:
        MissingHistoryError: There is none.
    """
    _require_revision(pattern.translate(_GLOB_TO_NAME))
    limits = [f"--merged={commit}", *([f"--no-contains={but_not_at}"] if but_not_at else [])]
    options = ["--sort=-creatordate", "--count=1", "--format=%(refname)", *limits]
    name = repo.run("for-each-ref", *options, f"refs/tags/{pattern}").stdout.decode(errors="replace").strip()
    if not name:
        shallow = ["--unshallow"] if repo.is_shallow() else []
        raise MissingHistoryError(f"no tag {pattern} is reachable", ["fetch", *shallow, "--tags", "origin"])
    return name.removeprefix("refs/tags/"), resolve(repo, name)


_GLOB_TO_NAME = str.maketrans(dict.fromkeys("*?[]", "x"))


def remote_branch(branch: str) -> str:
    """The refspec that brings a branch of ``origin`` to where it is looked for.

    Raises:
        UsageError: The text cannot be a branch.
    """
    name = branch.removeprefix("refs/heads/")
    _require_revision(name)
    return f"+refs/heads/{name}:refs/remotes/origin/{name}"


def fetch_command(repo: Repository, refspec: str) -> tuple[str, ...]:
    """Arguments of the ``git fetch`` that brings a reference or commit, and all the history that is cut off.

    Never with ``--depth``: on a full clone that would cut history off.
    """
    shallow = ["--unshallow"] if repo.is_shallow() else []
    return ("fetch", "--no-tags", *shallow, "origin", *([refspec] if refspec else []))


def _unknown(repo: Repository, revision: str, refspec: str) -> MissingHistoryError:
    message = f"unknown revision: {revision}"
    branch = re.fullmatch(r"(?:refs/remotes/)?origin/([^~^:@]+)(?:[~^@].*)?", revision)
    if not refspec and branch and branch[1] != "HEAD":
        refspec = remote_branch(branch[1])
    if not refspec and _FULL_ID.fullmatch(revision):
        refspec = revision
    if refspec or repo.is_shallow():
        return MissingHistoryError(message, fetch_command(repo, refspec))
    hint = f"if it is a branch of the remote: git fetch --no-tags origin, then name it origin/{revision}"
    return MissingHistoryError(message, (), otherwise=hint)


_FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def _require_revision(text: str) -> None:
    # No option (-), no exclusion (^), no range (..), no path or search (:), no glob, nothing unprintable.
    if not text or text[0] in "-^" or ".." in text or not text.isprintable() or set(text) & set(":*?[\\"):
        raise UsageError(f"not a revision: {text!r}", help="a branch, a tag, a commit id, or HEAD~1")


def first_parents(
    repo: Repository, commit: str, *, since: str | None = None, paths: Sequence[str] = (), most: int = 1_000
) -> list[str]:
    """The commit and its first parents, newest first: what the branch was, without what was merged into it.

    Args:
        repo: Where to look.
        commit: The newest one.
        since: A commit; it and its ancestors are left out.
        paths: Only commits that change one of these (pathspecs).
        most: So many at most.

    Raises:
        GitError: git failed.
    """
    tips = [commit, *([f"^{since}"] if since else [])]
    out = repo.run("rev-list", "--first-parent", f"--max-count={most}", *tips, "--", *paths).stdout
    return out.decode().split()
