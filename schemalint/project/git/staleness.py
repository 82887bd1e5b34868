"""Whether the sources in a folder changed between what a file was made from and a commit."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Final

from schemalint.project.git.globs import escape_glob
from schemalint.project.git.revisions import MissingHistoryError, fetch_command, shallow_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.project.git.repository import Repository

_SOURCES: Final = ("*.sql", "*.yml", "*.yaml")


def sources_differ(repo: Repository, commit: str, other: str, folder: str) -> bool:
    """Whether SQL or YAML files in a folder differ between two commits (one git process).

    Raises:
        GitError: A commit is unknown.
    """
    command = ("diff-tree", "-r", "--quiet", commit, other, "--", *_pathspecs(folder))
    return repo.run(*command, statuses=(0, 1)).returncode == 1


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
    below = f"{escape_glob(folder)}/" if folder else ""
    return [f":(glob){below}**/{name}" for name in _SOURCES]
