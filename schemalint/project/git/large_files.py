"""Read one file of a side that may be much larger than a contract, and that git may ignore."""

from __future__ import annotations

import os
from posixpath import normpath
from typing import TYPE_CHECKING

from schemalint.base.errors import GitError
from schemalint.base.printable import visible
from schemalint.base.reading import read_plain
from schemalint.project.git.sides import EmptyTree, Index, Revision, Side, Worktree

if TYPE_CHECKING:
    from schemalint.project.git.repository import Repository


def large_file_at(repo: Repository, side: Side, path: str, most: int) -> bytes | None:
    """Return the content of a file of a side; None if it is missing (at most one git process).

    Of the working tree it is what is on disk, whether git tracks the file or not.

    Args:
        repo: The repository.
        side: The side.
        path: The path from the repository's top.
        most: The most bytes that are read.

    Raises:
        GitError: It is no regular file, or larger than that.
    """
    match side:
        case EmptyTree():
            return None
        case Worktree():
            return _on_disk(repo, path, most)
        case Index():
            return _stored(repo.with_index(), f":{path}", path, most)
        case Revision(commit=commit):
            return _stored(repo, f"{commit}:{path}", path, most)


def _on_disk(repo: Repository, path: str, most: int) -> bytes | None:
    file = repo.root / path
    if file.resolve() != repo.root.resolve() / normpath(path):
        message = f"{visible(path)} was not read: it is outside of the repository, or behind a symbolic link"
        raise GitError(message, help="name the file itself")
    try:
        return read_plain(file, most)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise GitError(f"{visible(path)} was not read: {error.strerror}") from error


def _stored(repo: Repository, name: str, path: str, most: int) -> bytes | None:
    if "\n" in path:
        return None
    with repo.talk("cat-file", "--batch", lines=[os.fsencode(f"{name}\n")]) as out:
        *_, kind, size = (b"", *out.readline().split())
        if kind != b"blob":  # "<name> missing", or a folder
            return None
        if int(size) > most:
            raise GitError(f"{visible(path)} was not read: it has more than {most >> 20} MiB, a limit")
        return out.read(int(size))
