"""Which two sides are compared: the head, and the base that it is judged against."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.errors import GitError, UsageError
from schemalint.git.events import PullRequest, Push, Since, is_ci, read_event
from schemalint.git.revisions import (
    MissingHistoryError,
    merge_base,
    newest_tag,
    remote_branch,
    resolve,
    try_resolve,
)
from schemalint.git.sides import EmptyTree, Index, Revision, Side, Worktree
from schemalint.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from schemalint.git.events import Event
    from schemalint.git.repository import Repository


def find_head(repo: Repository, head_option: str, env: Mapping[str, str]) -> Side:
    """The new side: ``worktree``, ``index`` or a revision.

    In a pre-push hook ``index`` stands for the commit that is pushed, ``PRE_COMMIT_TO_REF``: its branch need
    not be checked out.

    Raises:
        UsageError: There is no working tree here, or the text cannot be a revision.
        GitError: The revision is unknown.
    """
    pushed = env.get("PRE_COMMIT_TO_REF", "")
    if head_option == Index.spec and pushed:
        return Revision("PRE_COMMIT_TO_REF", resolve(repo, pushed), "the commit that is pushed")
    if head_option not in (Worktree.spec, Index.spec):
        return Revision(head_option, resolve(repo, head_option), "--head")
    if repo.bare:
        raise UsageError(f"there is no {head_option} in a bare repository", help="name a commit: --head REV")
    return Worktree() if head_option == Worktree.spec else Index()


def find_base(
    repo: Repository, head: Side, against: str | None, env: Mapping[str, str], *, fetch: bool = False
) -> Side:
    """The old side. The first of these that answers is taken, and its ``why`` says which.

    1. ``against``: ``REV``, ``merge-base:REV``, ``tag:PATTERN`` (the newest reachable one) or ``none``.
    2. ``SCHEMALINT_AGAINST``, the same.
    3. The event that a CI service runs for.
    4. The merge base with ``PRE_COMMIT_FROM_REF``.
    5. The merge base with ``origin/HEAD``.
    6. ``HEAD``: only for the working tree and the index, and not in CI, where they equal it.

    A branch without a commit has the empty tree as its base, whatever is asked for. During a merge the merge
    bases are those of the merge that is being made: its own changes count, and not what it brings in from the
    other side.

    Args:
        repo: The repository.
        head: The new side.
        against: The command line's word, or None.
        env: The environment with the CI's variables.
        fetch: Fetch what this clone lacks, and look again.

    Raises:
        UsageError: ``against`` makes no sense.
        MissingHistoryError: This clone lacks a commit; the help is the command that fetches it.
        GitError: Nothing is to be compared with, or only the head commit itself.
    """
    fetched: set[tuple[str, ...]] = set()
    while True:
        try:
            return _find_base(repo, head, against, env)
        except MissingHistoryError as missing:
            if not fetch or not missing.command or missing.command in fetched:
                raise
            fetched.add(missing.command)
            repo.run(*missing.command)


@frozen
class _Search:
    """What the sources of a base are asked with.

    ``commit`` is the head's own commit, or the one that the working tree and the index stand on; ``tips`` are
    it and what is being merged into it.
    """

    repo: Repository
    commit: str
    tips: tuple[str, ...]
    unsaved: bool  # the new side is no commit yet
    ci: bool
    against: str | None
    env: Mapping[str, str]

    def merge_base_with(self, revision: str, why: str, *, refspec: str = "") -> Revision:
        commit = resolve(self.repo, revision, refspec=refspec)
        return self.merge_base_of(commit, revision, why, refspec=refspec)

    def merge_base_of(self, commit: str, revision: str, why: str, *, refspec: str = "") -> Revision:
        found = merge_base(self.repo, commit, self.tips, refspec=refspec)
        if found == self.commit:
            return Revision("HEAD" if self.unsaved else found, found, f"the last commit, as {why}")
        return Revision(f"merge-base:{revision}", found, why)

    def merge_base_with_branch(self, branch: str, refspec: str) -> Revision:
        name = branch.removeprefix("refs/heads/")
        return self.merge_base_with(f"origin/{name}", f"merge base with origin/{name}", refspec=refspec)


def _find_base(repo: Repository, head: Side, against: str | None, env: Mapping[str, str]) -> Side:
    unsaved = isinstance(head, Worktree | Index)
    commit = try_resolve(repo, ["HEAD"])[0] if unsaved else head.commit
    if commit is None:
        return EmptyTree("there is no commit yet")
    tips = (commit, *_being_merged(repo)) if unsaved else (commit,)
    search = _Search(repo, commit, tips, unsaved, is_ci(env), against, env)
    for source, is_told in _SOURCES:
        base = source(search)
        if base is None:
            continue
        if base.commit == commit and not is_told and (search.ci or not unsaved):
            raise GitError(
                f"nothing to compare: the base is the head commit itself ({base.why})", help=_WHAT_TO_DO
            )
        return base
    raise GitError("nothing to compare with: no event of the CI and no origin/HEAD", help=_WHAT_TO_DO)


_WHAT_TO_DO = "name the base with --against REV, or make it known with: git remote set-head origin --auto"


def _being_merged(repo: Repository) -> list[str]:
    # A file with one id per line: several in an octopus merge, of which the name MERGE_HEAD gives only one.
    try:
        return (repo.git_dir / "MERGE_HEAD").read_text(encoding="ascii").split()
    except FileNotFoundError:
        return []


def _from_flag(search: _Search) -> Side | None:
    return _as_told(search, search.against, "--against")


def _from_variable(search: _Search) -> Side | None:
    return _as_told(search, search.env.get("SCHEMALINT_AGAINST"), "SCHEMALINT_AGAINST")


def _as_told(search: _Search, told: str | None, by: str) -> Side | None:
    if not told:
        return None
    if told == EmptyTree.spec:
        return EmptyTree(f"{by} none")
    kind, _, rest = told.partition(":")
    match kind if rest else "":
        case "merge-base":
            return search.merge_base_with(rest, f"merge base with {rest}")
        case "tag":
            # A release job runs on the tagged commit: its own tag would compare it with itself.
            own = search.commit if search.ci or not search.unsaved else ""
            name, commit = newest_tag(search.repo, rest, search.commit, but_not_at=own)
            return Revision(name, commit, f"newest tag {rest}")
        case "dir":
            raise UsageError(
                "a directory cannot be the base yet", help="name a revision, or --against none for no base"
            )
        case _:
            return Revision(told, resolve(search.repo, told), by)


def _from_event(search: _Search) -> Side | None:
    event = read_event(search.env)
    return None if event is None else _base_of_event(search, event)


def _base_of_event(search: _Search, event: Event) -> Side:
    match event:
        case Since(base, why):
            return Revision(base, resolve(search.repo, base), why)
        case Push(before, default_branch):
            return _base_of_push(search, before, default_branch)
        case PullRequest(branch, base, head):
            refspec = remote_branch(branch)
            first, second = try_resolve(search.repo, [f"{search.commit}^1", f"{search.commit}^2"])
            if first and second and second == head:
                return Revision("HEAD^1", first, f"what the pull request is merged into, {branch}")
            if base:
                return search.merge_base_with(base, f"merge base with {branch}", refspec=refspec)
            return search.merge_base_with_branch(branch, refspec)


def _base_of_push(search: _Search, before: str, default_branch: str) -> Side:
    if before.strip("0"):
        (known,) = try_resolve(search.repo, [before])
        if known:
            return Revision(before, known, "the branch before the push")
        if search.repo.is_shallow():
            resolve(search.repo, before, refspec=remote_branch(default_branch))
    # A new branch, or a forced push that left no way to the commit before.
    return search.merge_base_with_branch(default_branch, remote_branch(default_branch))


def _from_pre_commit(search: _Search) -> Side | None:
    pushed_before = search.env.get("PRE_COMMIT_FROM_REF", "")
    if not pushed_before.strip("0"):
        return None
    return search.merge_base_with(pushed_before, "merge base with PRE_COMMIT_FROM_REF")


def _from_remote_head(search: _Search) -> Side | None:
    reference = "refs/remotes/origin/HEAD"
    out = search.repo.run("for-each-ref", "--format=%(symref:short) %(objectname)", reference).stdout
    name, _, commit = out.decode(errors="replace").strip().rpartition(" ")
    if not commit:
        return None
    name = name or "origin/HEAD"
    return search.merge_base_of(commit, name, f"merge base with {name}")


def _from_last_commit(search: _Search) -> Side | None:
    if search.ci or not search.unsaved:
        return None
    return Revision("HEAD", search.commit, "the last commit (origin/HEAD is not set)")


# In the order in which they are asked, and whether a human named the base.
_SOURCES: tuple[tuple[Callable[[_Search], Side | None], bool], ...] = (
    (_from_flag, True),
    (_from_variable, True),
    (_from_event, False),
    (_from_pre_commit, False),
    (_from_remote_head, False),
    (_from_last_commit, False),
)
