"""Resolve revisions, relate commits to each other, and name the fetch that brings missing history."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from schemalint.base.errors import GitError, UsageError

if TYPE_CHECKING:
    from schemalint.project.git.repository import Repository

T = TypeVar("T")


class MissingHistoryError(GitError):
    """This clone lacks a commit, or the history that connects two commits.

    Attributes:
        command: Arguments of the git command that fetches it, empty if no command is known.
    """

    def __init__(self, message: str, command: Sequence[str], *, otherwise: str = "") -> None:
        super().__init__(message, help=shlex.join(["git", *command]) if command else otherwise)
        self.command = tuple(command)


def resolve(repo: Repository, revision: str, *, refspec: str = "") -> str:
    """Return the full id of the commit that a revision names (one git process).

    Args:
        repo: The repository.
        revision: Any syntax of gitrevisions(7) that names a single commit.
        refspec: The refspec that fetches the commit, if it does not follow from the revision's name.

    Raises:
        UsageError: The text cannot be a single revision.
        MissingHistoryError: This clone has no such commit; the help is the command that fetches it.
    """
    (commit,) = try_resolve(repo, [revision])
    if commit is None:
        raise _unknown(repo, revision, refspec)
    return commit


def try_resolve(repo: Repository, revisions: Sequence[str]) -> list[str | None]:
    """Return the full ids of commits, None for each unknown commit (at most one git process for all).

    git reads the revisions from standard input, where it never takes text for an option. It is asked once for
    each full id.

    Raises:
        UsageError: A text cannot be a single revision.
    """
    for revision in revisions:
        _require_revision(revision)
    commits = {name: repo.answers.commits[name] for name in revisions if name in repo.answers.commits}
    names = [name for name in dict.fromkeys(revisions) if name not in commits]
    if names:
        lines = "".join(f"{revision}^{{commit}}\n" for revision in names)
        out = repo.run("cat-file", "--batch-check", stdin=lines.encode(errors="surrogateescape")).stdout
        matches = [_COMMIT_LINE.fullmatch(line) for line in out.decode(errors="replace").splitlines()]
        answers = {name: match[1] if match else None for name, match in zip(names, matches, strict=True)}
        commits |= answers
        repo.answers.commits.update((name, answers[name]) for name in names if FULL_ID.fullmatch(name))
    return [commits[name] for name in revisions]


_COMMIT_LINE = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) commit \d+")


def require_unborn(repo: Repository) -> None:
    """Require that ``HEAD``, which is no commit, names a branch without one (two git processes).

    Raises:
        GitError: The commit or the reference is damaged: what it had must not count as nothing.
    """
    # 1: a detached HEAD; 128: a broken reference
    answer = repo.run("symbolic-ref", "--quiet", "HEAD", statuses=(0, 1, 128))
    branch = os.fsdecode(answer.stdout).strip()
    if branch:
        found = repo.run("for-each-ref", "--format=%(objectname)", branch)
        if not found.stdout and not found.stderr:  # "ignoring broken ref"
            return
    raise GitError(
        "git cannot read the commit of HEAD", help="git fetch --refetch origin, or inspect: git fsck"
    )


def merge_base(repo: Repository, commit: str, tips: Sequence[str], *, refspec: str = "") -> str:
    """Return the best common ancestor of a commit and the merge of all tips (ids; one git process).

    Raises:
        MissingHistoryError: There is none, or a shallow clone does not contain it.
    """
    answer = repo.run("merge-base", commit, *tips, statuses=(0, 1))
    if answer.returncode == 0:
        return answer.stdout.decode().split()[0]
    message = f"{commit[:12]} and {tips[0][:12]} have no common ancestor in this clone"
    command = fetch_command(repo, refspec) if repo.is_shallow() else ()
    raise MissingHistoryError(message, command, otherwise="name the base: --against REV")


def is_known(repo: Repository, commit: str) -> bool:
    """Whether this clone has a commit."""
    return try_resolve(repo, [commit]) != [None]


def is_ancestor(repo: Repository, ancestor: str, commit: str) -> bool:
    """Whether the first commit equals the second or is its ancestor (ids; asked once for each pair).

    Raises:
        MissingHistoryError: No path is found, but this clone is shallow.
    """
    descends = repo.answers.ancestors.get((ancestor, commit))
    if descends is None:
        answer = repo.run("merge-base", "--is-ancestor", ancestor, commit, statuses=(0, 1))
        descends = repo.answers.ancestors[ancestor, commit] = answer.returncode == 0
    if descends:
        return True
    if repo.is_shallow():
        message = f"a shallow clone cannot show whether {ancestor[:12]} is an ancestor of {commit[:12]}"
        raise MissingHistoryError(message, fetch_command(repo, ""))
    return False


def retry_with_fetch(repo: Repository, find: Callable[[], T], *, fetch: bool) -> T:
    """Return what ``find`` returns; with ``fetch``, fetch what this clone lacks and search again.

    Raises:
        MissingHistoryError: This clone lacks history, and may not fetch it or has fetched it in vain.
    """
    fetched: set[tuple[str, ...]] = set()
    while True:
        try:
            return find()
        except MissingHistoryError as missing:
            if not fetch or not missing.command or missing.command in fetched:
                raise
            fetched.add(missing.command)
            fetch_missing(repo, missing.command)


def fetch_missing(repo: Repository, command: Sequence[str]) -> None:
    """Run the command of a `MissingHistoryError`."""
    repo.fetching().run(*command)
    repo.answers.forget()


def newest_tag(repo: Repository, pattern: str, commit: str, *, except_at: str = "") -> tuple[str, str]:
    """Return name and commit of the newest matching tag that a commit can reach (two git processes).

    Args:
        repo: The repository.
        pattern: A pattern of ``git for-each-ref`` below ``refs/tags/``.
        commit: The commit from which the tag must be reachable.
        except_at: A commit whose own tags do not count, or empty.

    Raises:
        UsageError: The pattern has ``**`` more than once; git takes hours for ten of them.
        MissingHistoryError: No tag matches.
    """
    if pattern.count("**") > 1:
        raise UsageError(f"the pattern of a tag has ** once at most: {pattern}")
    _require_revision(pattern.translate(_GLOB_TO_NAME))
    limits = [f"--merged={commit}", *([f"--no-contains={except_at}"] if except_at else [])]
    options = ["--sort=-creatordate", "--count=1", "--format=%(refname)", *limits]
    name = repo.run("for-each-ref", *options, f"refs/tags/{pattern}").stdout.decode(errors="replace").strip()
    if not name:
        shallow = ["--unshallow"] if repo.is_shallow() else []
        raise MissingHistoryError(f"no tag {pattern} is reachable", ["fetch", *shallow, "--tags", "origin"])
    return name.removeprefix("refs/tags/"), resolve(repo, name)


_GLOB_TO_NAME = str.maketrans(dict.fromkeys("*?[]", "x"))


def remote_branch(branch: str) -> str:
    """Return the refspec that fetches a branch of ``origin`` to its remote-tracking branch.

    Raises:
        UsageError: The text cannot be a branch name.
    """
    name = branch.removeprefix("refs/heads/")
    _require_revision(name)
    return f"+refs/heads/{name}:refs/remotes/origin/{name}"


REMOTE_HEAD = "refs/schemalint/origin/HEAD"
"""Where the remote's own HEAD is fetched to: no fetch of branches writes there."""

_ORIGIN_HEAD = "refs/remotes/origin/HEAD"
REMOTE_HEADS = (_ORIGIN_HEAD, REMOTE_HEAD)
"""What names the remote's default branch: see `remote_head`, and `REMOTE_HEAD`."""

FETCH_REMOTE_HEAD = f"+HEAD:{REMOTE_HEAD}"


def remote_head(repo: Repository) -> str | None:
    """Return the remote-tracking branch that ``origin/HEAD`` names; None if it is not set (one git process).

    A reference of that name which is not symbolic is a branch called HEAD, which anybody can push.
    """
    out = repo.run("for-each-ref", "--format=%(symref)", _ORIGIN_HEAD).stdout
    return out.decode(errors="replace").strip() or None


def fetch_command(repo: Repository, refspec: str) -> tuple[str, ...]:
    """Return the arguments of ``git fetch`` for a reference or commit, with all history of a shallow clone.

    Never ``--depth``: it would truncate the history of a full clone.
    """
    shallow = ["--unshallow"] if repo.is_shallow() else []
    return ("fetch", "--no-tags", *shallow, "origin", *([refspec] if refspec else []))


def shallow_ends(repo: Repository) -> frozenset[str]:
    """Return the commits whose parents a shallow clone lacks; none in a full clone (one git process)."""
    path = repo.run("rev-parse", "--git-path", "shallow").stdout.removesuffix(b"\n")
    try:
        return frozenset((repo.root / os.fsdecode(path)).read_text("ascii").split())
    except FileNotFoundError:
        return frozenset()


def _unknown(repo: Repository, revision: str, refspec: str) -> MissingHistoryError:
    message = f"unknown revision: {revision}"
    branch = re.fullmatch(r"(?:refs/remotes/)?origin/([^~^:@]+)(?:[~^@].*)?", revision)
    if not refspec and branch and branch[1] != "HEAD":
        refspec = remote_branch(branch[1])
    if not refspec and FULL_ID.fullmatch(revision):
        refspec = revision
    if refspec or repo.is_shallow():
        return MissingHistoryError(message, fetch_command(repo, refspec))
    hint = f"if it is a remote branch: git fetch --no-tags origin, then use origin/{revision}"
    if re.search(r"[~^@]", revision):
        hint = "the branch has fewer commits, or a name in it is misspelt"
    return MissingHistoryError(message, (), otherwise=hint)


FULL_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def _require_revision(text: str) -> None:
    # Refuses options (-), exclusions (^), ranges (..), paths and searches (:), globs and unprintable text.
    if not text or text[0] in "-^" or ".." in text or not text.isprintable() or set(text) & set(":*?[\\"):
        raise UsageError(f"not a revision: {text!r}", help="a branch, a tag, a commit id, or HEAD~1")


def first_parents(repo: Repository, commit: str, *, since: str | None = None) -> list[str]:
    """Return a commit and its first parents, newest first: the branch's own history without merged branches.

    Args:
        repo: The repository.
        commit: The newest commit.
        since: A commit to leave out, with its ancestors.

    Raises:
        GitError: git fails.
    """
    tips = [commit, *([f"^{since}"] if since else [])]
    out = repo.run("rev-list", "--first-parent", *tips, "--").stdout
    return out.decode().split()
