"""Whether files of other tools were made from the sources that they are taken for.

A file is not made again by itself: what is older than its project says nothing about the change.
"""

from __future__ import annotations

import datetime as dt
from pathlib import PurePath
from typing import TYPE_CHECKING

from schemalint.base.errors import GitError
from schemalint.base.printable import visible
from schemalint.project import git
from schemalint.project.git import Revision, Side

if TYPE_CHECKING:
    from schemalint.base.errors import SchemalintError
    from schemalint.contract.dialects import Origin, Reading
    from schemalint.project.config.declarations import Declarations
    from schemalint.project.git import Repository


def stale_base(repository: Repository, base: Side, folder: str, origin: Origin) -> list[SchemalintError]:
    """Return an error if the project changed between what the base's file is made from and the base."""
    if not isinstance(base, Revision):
        return []
    commit, advice = base.commit, "take the file of the newest run on that branch, or rebase the change"
    if origin.commit is not None:
        if not git.is_known(repository, origin.commit):
            message = f"--base-from is of commit {origin.commit[:12]}, which this clone does not have"
            return [GitError(message, help="fetch it, or take the file of the merge base")]
        if git.sources_differ(repository, origin.commit, commit, folder):
            message = (
                f"--base-from is of commit {origin.commit[:12]}, and the project differs at {commit[:12]}"
            )
            return [GitError(message, help=advice)]
        return []
    changed = git.sources_changed_at(repository, commit, folder)
    made_at = _time(origin.made_at)
    if made_at is None or (changed is not None and made_at < changed):
        message = (
            f"--base-from is older than the project at {commit[:12]}: made {origin.made_at or 'at no time'}, "
            f"changed {changed:%Y-%m-%dT%H:%M:%SZ}"
        )
        return [GitError(message, help=advice)]
    return []


def why_not_made(
    repository: Repository,
    sides: tuple[Side, Side],
    entry: Declarations,
    readings: tuple[Reading | None, Reading],
    *,
    is_ci: bool,
    is_given: bool,
) -> str:
    """Return why the file of a head was not made from its sources; empty if it seems so.

    Whatever the change tells its tool to write elsewhere (``target-path``), a file that it commits at this
    path stays.

    Args:
        repository: The repository.
        sides: Base and head.
        entry: The file.
        readings: What it declares at the base and in the head.
        is_ci: Whether this is a run in CI: there the sources are as new as the checkout.
        is_given: Whether the base comes from ``--base-from``: then git is not to have the file.
    """
    (base, head), (before, after) = sides, readings
    if after.origin is None:
        return ""
    if isinstance(head, Revision) or git.list_files(repository, head, [git.escape_glob(entry.path)]).blobs:
        if is_given:
            return "is as git has it, and not of this run" if is_ci else ""
        is_same = before is not None and before.origin == after.origin and isinstance(base, Revision)
        if is_same and git.sources_differ(repository, base.commit or "", head.commit or "HEAD", entry.folder):
            return "is that of the base, and the project differs"
        return ""
    made_at = _time(after.origin.made_at)
    if is_ci or made_at is None:
        return ""
    newer = next(
        (path for path in after.sources if _changed_at(repository, path) > made_at.timestamp()), None
    )
    return "" if newer is None else f"is older than {visible(newer)}"


def _changed_at(repository: Repository, path: str) -> float:
    """Return when a file below the repository's top changed on disk; 0 if it is not there."""
    try:
        return 0 if ".." in PurePath(path).parts else (repository.root / path).lstat().st_mtime
    except (OSError, ValueError):
        return 0


def _time(text: str) -> dt.datetime | None:
    try:
        instant = dt.datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant if instant.tzinfo else instant.replace(tzinfo=dt.UTC)
