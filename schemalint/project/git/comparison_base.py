"""Find the two sides of a comparison: the head, and the base that the head is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from schemalint.base.errors import GitError, UsageError
from schemalint.base.values import frozen
from schemalint.project.git.events import PullRequest, Push, Since, is_ci, read_event
from schemalint.project.git.revisions import (
    FETCH_REMOTE_HEAD,
    REMOTE_HEAD,
    REMOTE_HEADS,
    MissingHistoryError,
    fetch_command,
    merge_base,
    newest_tag,
    remote_branch,
    remote_head,
    require_unborn,
    resolve,
    retry_with_fetch,
    try_resolve,
)
from schemalint.project.git.sides import EmptyTree, Index, Revision, Side, Worktree

if TYPE_CHECKING:
    from schemalint.project.git.repository import Repository


def find_head(repo: Repository, head_option: str, env: Mapping[str, str]) -> Side:
    """Return the new side: ``worktree``, ``index`` or a revision.

    In a pre-push hook ``index`` means the pushed commit, whose branch may not be checked out:
    ``PRE_COMMIT_TO_REF``, or ``PRE_COMMIT_LOCAL_BRANCH`` where the remote has nothing of its history.

    Raises:
        UsageError: The repository has no working tree, or the text cannot be a revision.
        GitError: The revision is unknown.
    """
    pushed = next((name for name in _PUSHED if env.get(name)), "")
    if head_option == Index.spec and pushed:
        return Revision(pushed, resolve(repo, env[pushed]), "the pushed commit")
    if head_option not in (Worktree.spec, Index.spec):
        return Revision(head_option, resolve(repo, head_option), "--head")
    if repo.bare:
        raise UsageError(f"there is no {head_option} in a bare repository", help="name a commit: --head REV")
    if head_option == Worktree.spec:
        return Worktree()
    return Index()


_PUSHED = ("PRE_COMMIT_TO_REF", "PRE_COMMIT_LOCAL_BRANCH")


def find_base(
    repo: Repository, head: Side, against: str | None, env: Mapping[str, str], *, fetch: bool = False
) -> Side:
    """Return the old side: the first of these sources that gives one; its ``why`` names the source.

    1. ``against``: ``REV``, ``merge-base:REV``, ``tag:PATTERN`` (the newest reachable tag) or ``none``.
    2. ``SCHEMALINT_AGAINST``, with the same values.
    3. The event of the CI run.
    4. The merge base with ``PRE_COMMIT_FROM_REF``; nothing, if ``PRE_COMMIT_LOCAL_BRANCH`` alone is set: the
       remote has no commit of the branch.
    5. The merge base with ``origin/HEAD``; nothing, outside of CI, for a branch without common history.
    6. ``HEAD``: only for the working tree and the index, and not in CI, where they equal ``HEAD``.

    A branch without a commit has the empty tree as its base, and none in CI. While a merge is in progress,
    merge bases are computed against all of its parents: the merge's own changes count, and the changes that
    it brings in from the other branch do not.

    Args:
        repo: The repository.
        head: The new side.
        against: The value of the command-line option, or None.
        env: The environment with the CI variables.
        fetch: Fetch missing history and search again.

    Raises:
        UsageError: ``against`` cannot be understood.
        MissingHistoryError: This clone lacks a commit; the help is the command that fetches it.
        GitError: No source gives a base, or the base is the head commit itself.
    """
    return retry_with_fetch(repo, lambda: _find_base(repo, head, against, env), fetch=fetch)


def base_of_review(
    repo: Repository, commit: str, event: PullRequest | Since, env: Mapping[str, str]
) -> Revision:
    """Return the base of a change under review, for the head's commit.

    Raises:
        MissingHistoryError: This clone lacks a commit; the help is the command that fetches it.
    """
    search = _Search(repo, commit, (commit,), unsaved=False, ci=True, against=None, env=env)
    return _base_of_event(search, event)


@frozen
class _Search:
    """The input of every base source.

    ``commit`` is the head's own commit, or ``HEAD`` for the working tree and the index; ``tips`` are that
    commit and the commits of a merge in progress. ``remote_heads`` are the commits of `REMOTE_HEADS`, if they
    are known already.
    """

    repo: Repository
    commit: str
    tips: tuple[str, ...]
    unsaved: bool  # the new side is the working tree or the index
    ci: bool
    against: str | None
    env: Mapping[str, str]
    remote_heads: Sequence[str | None] = ()

    def merge_base_with(self, revision: str, why: str, *, refspec: str = "") -> Revision:
        commit = resolve(self.repo, revision, refspec=refspec)
        return self.merge_base_of(commit, revision, why, refspec=refspec)

    def merge_base_of(self, commit: str, revision: str, why: str, *, refspec: str = "") -> Revision:
        ancestor = merge_base(self.repo, commit, self.tips, refspec=refspec)
        if ancestor == self.commit:
            return Revision("HEAD" if self.unsaved else ancestor, ancestor, f"the last commit, as {why}")
        return Revision(f"merge-base:{revision}", ancestor, why)

    def merge_base_with_branch(self, branch: str, refspec: str) -> Revision:
        name = f"origin/{branch.removeprefix('refs/heads/')}"
        # By the full name: a tag can be called origin/main too.
        commit = resolve(self.repo, f"refs/remotes/{name}", refspec=refspec)
        return self.merge_base_of(commit, name, f"merge base with {name}", refspec=refspec)


def _find_base(repo: Repository, head: Side, against: str | None, env: Mapping[str, str]) -> Side:
    unsaved = isinstance(head, Worktree | Index)
    commit, *remote_heads = try_resolve(repo, ["HEAD", *REMOTE_HEADS]) if unsaved else [head.commit]
    if commit is None:
        require_unborn(repo)
    if commit is None and is_ci(env):
        raise GitError("there is no commit yet, and CI has none to check", help="check the step that clones")
    if commit is None:
        return EmptyTree("there is no commit yet")
    tips = (commit, *_being_merged(repo)) if unsaved else (commit,)
    search = _Search(repo, commit, tips, unsaved, is_ci(env), against, env, remote_heads)
    for source, may_be_head in _SOURCES:
        base = source(search)
        if base is None:
            continue
        # A push that takes commits back from the remote branch has nothing new.
        has_reason = unsaved or source is _from_pre_commit
        if base.commit == commit and not may_be_head and (search.ci or not has_reason):
            raise GitError(
                f"nothing to compare: the base is the head commit itself ({base.why})", help=_NAME_THE_BASE
            )
        return base
    raise GitError("nothing to compare with: not a CI run, and origin/HEAD is not set", help=_NAME_THE_BASE)


_NAME_THE_BASE = (
    "name the base with --against REV, or set origin/HEAD with: git remote set-head origin --auto"
)


def _being_merged(repo: Repository) -> list[str]:
    # One id per line: an octopus merge has several, of which the revision MERGE_HEAD names only one.
    try:
        return (repo.git_dir / "MERGE_HEAD").read_text(encoding="ascii").split()
    except FileNotFoundError:
        return []


def _from_flag(search: _Search) -> Side | None:
    return _from_text(search, search.against, "--against")


def _from_variable(search: _Search) -> Side | None:
    return _from_text(search, search.env.get("SCHEMALINT_AGAINST"), "SCHEMALINT_AGAINST")


def _from_text(search: _Search, text: str | None, source: str) -> Side | None:
    if not text:
        return None
    if text == EmptyTree.spec:
        return EmptyTree(f"{source} none")
    kind, _, rest = text.partition(":")
    match kind if rest else "":
        case "merge-base":
            return search.merge_base_with(rest, f"merge base with {rest}")
        case "tag":
            # A release job runs on the tagged commit: with its own tag it would be compared with itself.
            own = search.commit if search.ci or not search.unsaved else ""
            name, commit = newest_tag(search.repo, rest, search.commit, except_at=own)
            return Revision(name, commit, f"newest tag {rest}")
        case "dir":
            raise UsageError(
                "a directory cannot be the base yet", help="name a revision, or --against none for no base"
            )
        case _:
            return Revision(text, resolve(search.repo, text), source)


def _from_review(search: _Search) -> Side | None:
    event = read_event(search.env)
    if isinstance(event, PullRequest | Since):
        return _base_of_event(search, event)
    return None


def _base_of_event(search: _Search, event: PullRequest | Since) -> Revision:
    match event:
        case Since(base, why):
            return Revision(base, resolve(search.repo, base), why)
        case PullRequest(branch, base, head):
            refspec = remote_branch(branch)
            first, second = try_resolve(search.repo, [f"{search.commit}^1", f"{search.commit}^2"])
            # A branch can get a merge of its own after the event: its first parent would be no base.
            is_made_by_github = search.env.get("GITHUB_SHA") == search.commit or first == base
            if first and second and second == head and is_made_by_github:
                return Revision("HEAD^1", first, f"target branch of the pull request, {branch}")
            if base:
                return search.merge_base_with(base, f"merge base with {branch}", refspec=refspec)
            return search.merge_base_with_branch(branch, refspec)


def _from_push(search: _Search) -> Side | None:
    event = read_event(search.env)
    if isinstance(event, Push):
        return _base_of_push(search, event.before, event.default_branch)
    return None


def _base_of_push(search: _Search, before: str, default_branch: str) -> Revision:
    if before.strip("0"):
        (commit,) = try_resolve(search.repo, [before])
        if commit:
            return Revision(before, commit, "the branch before the push")
        if search.repo.is_shallow():
            resolve(search.repo, before, refspec=remote_branch(default_branch))
    # A new branch, a tag, a schedule, or a forced push after which the previous commit cannot be reached.
    return search.merge_base_with_branch(default_branch, remote_branch(default_branch))


def _from_pre_commit(search: _Search) -> Side | None:
    pushed_before = search.env.get("PRE_COMMIT_FROM_REF", "")
    if not pushed_before.strip("0"):
        is_first = not pushed_before and search.env.get("PRE_COMMIT_LOCAL_BRANCH") and not search.unsaved
        if is_first:
            return EmptyTree("the first push to this remote")
        return None
    return search.merge_base_with(pushed_before, "merge base with PRE_COMMIT_FROM_REF")


def _from_remote_head(search: _Search) -> Side | None:
    cloned, fetched = search.remote_heads or try_resolve(search.repo, REMOTE_HEADS)
    branch = None if cloned is None else remote_head(search.repo)
    reference, commit = (REMOTE_HEAD, fetched) if branch is None else (branch, cloned)
    if commit is not None:
        name = reference.removeprefix("refs/remotes/").removeprefix("refs/schemalint/")
        try:
            return search.merge_base_of(commit, name, f"merge base with {name}")
        except MissingHistoryError as missing:
            if search.ci or missing.command:
                raise
            return EmptyTree(f"no history in common with {name}")
    if not search.ci:
        return None
    raise MissingHistoryError(
        "nothing to compare with: no --against or CI variable names a base, and origin/HEAD is not set",
        fetch_command(search.repo, FETCH_REMOTE_HEAD),
    )


def _from_last_commit(search: _Search) -> Side | None:
    if search.ci or not search.unsaved:
        return None
    return Revision("HEAD", search.commit, "the last commit (origin/HEAD is not set)")


# In order of precedence; the flag says whether the base may be the head commit itself: the user named it, or
# the default branch contains what was pushed (a tag, a new branch, the first push of all). With other events
# in CI such a base means that the change under review is not checked out.
_SOURCES: tuple[tuple[Callable[[_Search], Side | None], bool], ...] = (
    (_from_flag, True),
    (_from_variable, True),
    (_from_review, False),
    (_from_push, True),
    (_from_pre_commit, False),
    (_from_remote_head, False),
    (_from_last_commit, False),
)
