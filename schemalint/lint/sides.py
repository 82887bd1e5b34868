"""What a check reads: the contracts of both sides, and which of them were asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import cache, reduce
from operator import or_
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from schemalint.base.document import candidate
from schemalint.base.errors import UsageError
from schemalint.base.printable import visible
from schemalint.delta.column_names import nearest_name
from schemalint.model.contract import Contract
from schemalint.project import git
from schemalint.project.config.nested import NAME as NESTED
from schemalint.project.git import Contents, EmptyTree, Repository, Side

if TYPE_CHECKING:
    from schemalint.contract.history import ContractHistory

Globs: TypeAlias = tuple[str, ...]
"""The globs of contract files in one configuration; empty for all contract files."""


def read_contents(
    repository: Repository,
    base: Side,
    head: Side,
    base_globs: Globs,
    head_globs: Sequence[Globs],
    *,
    reads_unchanged: bool,
) -> Contents:
    """Read the contracts of both sides.

    Args:
        repository: The repository.
        base: The old side.
        head: The new side.
        base_globs: The globs of the base.
        head_globs: The globs of the head: a file counts if those of one configuration include it.
        reads_unchanged: See `git.changes`.
    """
    if {base_globs} == {*head_globs}:
        return git.changes(
            repository, base, head, candidate, base_globs, NESTED, reads_unchanged=reads_unchanged
        )
    nothing = EmptyTree("the globs of the other side")
    parts = [
        git.changes(
            repository,
            base if globs == base_globs else nothing,
            head if globs in head_globs else nothing,
            candidate,
            globs,
            NESTED,
        )
        for globs in dict.fromkeys((base_globs, *head_globs))
    ]
    return Contents(
        {path: file for part in parts for path, file in part.base.items()},
        {path: file for part in parts for path, file in part.head.items()},
        {path: reason for part in parts for path, reason in part.unread.items()},
        reduce(or_, (part.beside_base for part in parts)),
        reduce(or_, (part.beside_head for part in parts)),
        {path: data for part in parts for path, data in part.former.items()},
    )


def has_contracts(repository: Repository, side: Side) -> bool:
    """Return whether a side has contracts that the default globs include."""
    return bool(git.changes(repository, EmptyTree("one side is read"), side, candidate).head)


def readable_ancestors(
    repository: Repository, globs: Globs, base: Side
) -> Callable[[str], tuple[str, Contract] | None]:
    """Return a search for a table's contract at the newest ancestor of the base where it can be read."""

    @cache
    def history() -> ContractHistory:
        from schemalint.contract.history import ContractHistory  # noqa: PLC0415 (only if the base is unreadable)

        return ContractHistory(repository, globs, base)

    return lambda key: next(history().newest_first(key), None) if base.commit else None


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
            close = nearest_name(str(relative), files)
            raise UsageError(
                f"{path} exists neither in the working tree nor in the base",
                help=f"did you mean {visible(close)}?" if close else "",
            )
    return lambda file: any(PurePosixPath(file).is_relative_to(relative) for relative in relative_paths)
