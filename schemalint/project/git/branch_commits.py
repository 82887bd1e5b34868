"""The commits of a branch, what each of them changed and when, and how other commits are related to them.

Each question takes the same few git processes for any number of commits.
"""

from __future__ import annotations

import datetime as dt
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Final

from schemalint.base.phrases import affixed
from schemalint.project.git.globs import escape_glob
from schemalint.project.git.listing import REGULAR, list_sides, selection
from schemalint.project.git.revisions import (
    FULL_ID,
    MissingHistoryError,
    fetch_command,
    shallow_ends,
    try_resolve,
)

if TYPE_CHECKING:
    from schemalint.project.git.repository import Repository
    from schemalint.project.git.sides import Side

_SOURCES: Final = ("*.sql", "*.yml", "*.yaml")


def relate(repo: Repository, commits: Iterable[str], tip: str) -> None:
    """Ask which of these commits this clone has, and how they are related to a tip (three git processes).

    Afterwards `resolve`, `is_known` and `is_ancestor` answer for them without git. Texts that are no full ids
    are left out: what they name can change.

    Raises:
        GitError: git fails.
    """
    ids = sorted({commit for commit in commits if FULL_ID.fullmatch(commit)})
    resolved = try_resolve(repo, ids) if ids else []
    known_commits = [commit for commit in resolved if commit is not None]
    # A commit that the tip does not reach is listed, and again if it reaches the tip.
    newer = _listed(repo, known_commits, tip) if known_commits else frozenset()
    ahead = _listed(repo, sorted(newer), tip, "--ancestry-path") if newer else frozenset()
    for commit in known_commits:
        repo.answers.ancestors[commit, tip] = commit not in newer
        repo.answers.ancestors[tip, commit] = commit in ahead or commit == tip


def _listed(repo: Repository, commits: Sequence[str], tip: str, *options: str) -> frozenset[str]:
    """Return the commits that the tip does not reach."""
    lines = "".join(f"{commit}\n" for commit in (*commits, f"^{tip}"))
    listed = repo.run("rev-list", *options, "--stdin", stdin=lines.encode()).stdout.decode().split()
    return frozenset(commits) & frozenset(listed)


def changed_files(
    repo: Repository, commits: Sequence[str], globs: Sequence[str] = ()
) -> Iterator[tuple[int, Mapping[str, str | None]]]:
    """Yield the number of each commit that differs from the next one in files, and these (one git process).

    Args:
        repo: The repository.
        commits: Commits, each followed by its first parent.
        globs: Which files count; see `list_files`.

    Yields:
        The number of a commit, and by path the blob id in the next commit; None if it has no such file.

    Raises:
        GitError: git fails.
    """
    numbers = {commit: number for number, commit in enumerate(commits)}
    chosen = selection(globs)
    pairs = (f"{commit} {parent}\n".encode() for commit, parent in pairwise(commits))
    options = ("--stdin", "-r", "--raw", "-z", "--no-renames")
    with repo.talk("diff-tree", *options, "--", *chosen.pathspecs, lines=pairs) as out:
        number, blobs = 0, dict[str, str | None]()
        records = _records(out)
        for record in records:
            if not record.startswith(b":"):
                if blobs:
                    yield number, blobs
                number, blobs = numbers[record.decode()], {}
                continue
            path = os.fsdecode(next(records))  # ":<mode before> <mode> <blob before> <blob> <status>"
            if chosen.includes(path):
                mode, _, blob, *_ = record[1:].decode().split()
                blobs[path] = blob if mode in REGULAR else None
        if blobs:
            yield number, blobs


def _records(out: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := out.read(_CHUNK):
        *records, rest = (rest + chunk).split(b"\0")
        yield from records


_CHUNK = 1 << 16


def sources_differ(repo: Repository, base: Side, head: Side, folder: str, made: str = "") -> bool:
    """Whether SQL or YAML files of a project differ between two sides (two git processes).

    Args:
        repo: The repository.
        base: The old side.
        head: The new side.
        folder: The folder of the project.
        made: The file that a tool made of the project: what it writes beside that file is no source.

    Raises:
        GitError: A commit is unknown.
    """
    beside = _below(posixpath.dirname(made))
    left_out = (f"!{beside}compiled/**", f"!{beside}run/**", "!**/dbt_packages/**")
    before, after = list_sides(
        repo, base, head, [*(f"{_below(folder)}**/{name}" for name in _SOURCES), *left_out]
    )
    return before != after


def sources_changed_at(repo: Repository, commit: str, folder: str) -> dt.datetime | None:
    """Return when SQL or YAML files in a folder last changed, up to a commit; None if they never did.

    Raises:
        MissingHistoryError: A shallow clone may lack that change.
    """
    command = ("rev-list", "-1", "--timestamp", commit, "--", *_pathspecs(folder))
    times = repo.run(*command).stdout.decode().split()
    if not times:
        return None
    seconds, changed = times
    if changed in shallow_ends(repo):
        raise MissingHistoryError(
            "this shallow clone does not tell when the project changed last", fetch_command(repo, "")
        )
    return dt.datetime.fromtimestamp(int(seconds), dt.UTC)


def _pathspecs(folder: str) -> Sequence[str]:
    return [f":(glob){_below(folder)}**/{name}" for name in _SOURCES]


def _below(folder: str) -> str:
    return affixed("", escape_glob(folder), "/")
