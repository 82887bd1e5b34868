"""What a check reads: the contracts of both sides, and which of them were asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from schemalint import git
from schemalint.config.project import Project
from schemalint.document import candidate
from schemalint.errors import UsageError
from schemalint.git import Contents, EmptyTree, Revision, Side
from schemalint.model.contract import Contract
from schemalint.values import replace


def read_contents(project: Project, base: Side, head: Side) -> Contents:
    """Read the contracts of both sides.

    Each side uses the globs of its own configuration, so that a change which narrows the globs hides no
    contract of the base.
    """
    globs, base_globs = project.config.contracts, _globs_at(project, base)
    contents = git.changes(project.repository, base, head, candidate, globs)
    if base_globs == globs:
        return contents
    base_only = git.changes(project.repository, EmptyTree("the base alone"), base, candidate, base_globs)
    return replace(contents, base=base_only.head, unread={**base_only.unread, **contents.unread})


def readable_ancestor(project: Project, base: Side, key: str) -> tuple[str, Contract] | None:
    """Return a table's contract at the newest ancestor of the base where it can be read; None if none is."""
    from schemalint.contract.revisions import newest_readable  # noqa: PLC0415 (only if the base is unreadable)

    return newest_readable(project.repository, _globs_at(project, base), base)(key)


def path_filter(root: Path, paths: tuple[str, ...], files: Iterable[str]) -> Callable[[str], bool] | None:
    """Return a test whether a file of the repository is at or below one of the paths, None without paths.

    Args:
        root: The root of the repository.
        paths: As the user gives them, relative to the working directory.
        files: The files of both sides, relative to the root.

    Raises:
        UsageError: A path is outside of the repository, or nowhere.
    """
    if not paths:
        return None
    relative_paths = []
    for path in paths:
        absolute = Path(os.path.abspath(path))  # noqa: PTH100 (resolves no link, as git's paths do not)
        try:
            relative_paths.append(PurePosixPath(absolute.relative_to(root).as_posix()))
        except ValueError:
            raise UsageError(f"{path} is outside of the repository {root}") from None
    for path, relative in zip(paths, relative_paths, strict=True):
        known = any(PurePosixPath(file).is_relative_to(relative) for file in files)
        if not known and not Path(path).exists():
            raise UsageError(f"{path} exists neither in the working tree nor in the base")
    return lambda file: any(PurePosixPath(file).is_relative_to(relative) for relative in relative_paths)


def _globs_at(project: Project, base: Side) -> tuple[str, ...]:
    """Return the globs of the base's configuration; without globs in the head, none: all contracts count."""
    globs = project.config.contracts
    if not globs or not isinstance(base, Revision):
        return globs
    from schemalint.config.project import config_at  # noqa: PLC0415 (only where globs are configured)

    return config_at(project.repository, base).contracts
