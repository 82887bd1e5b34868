"""Read blobs: one git process prints any number of them, or one large file."""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Iterator, Sequence
from posixpath import isabs, normpath
from typing import IO, TYPE_CHECKING

from schemalint.base import limits
from schemalint.base.errors import GitError
from schemalint.base.printable import visible
from schemalint.base.untrusted_files import is_path, read_plain
from schemalint.base.values import frozen
from schemalint.model.contract import NATIVE_FORMAT, FileFormat
from schemalint.project.git.sides import EmptyTree, Index, Revision, Side, Worktree

if TYPE_CHECKING:
    from schemalint.project.git.repository import Repository

MAX_SIZE = 1 << 20
"""Largest file that is read, in bytes; a contract of 10,000 columns is smaller."""


@frozen
class File:
    """A file of one side.

    Attributes:
        path: From the repository's root, with ``/``; undecodable bytes as `os.fsdecode` maps them (see
            `visible`).
        data: The blob's bytes, or the bytes on disk if there is no blob.
        blob: Blob id, None if the content is only on disk. Equal ids mean equal contents; without an id the
            contents must be compared.
        format: What the caller of `schemalint.project.git.changes` takes it for.
    """

    path: str
    data: bytes
    blob: str | None
    format: FileFormat = NATIVE_FORMAT


def read_blobs(repo: Repository, blobs: Collection[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield blob ids with contents as git prints them, None for a blob over `MAX_SIZE` (one git process).

    Raises:
        GitError: A blob is missing.
    """
    if not blobs:
        return
    rest: Sequence[str] = sorted(blobs)  # by id, the order of a pack's index
    while rest:
        rest = yield from _up_to_huge_blob(repo, rest)


def _up_to_huge_blob(
    repo: Repository, ordered: Sequence[str]
) -> Generator[tuple[str, bytes | None], None, Sequence[str]]:
    """Yield blobs until one is too large to be skipped; return those after it."""
    lines = (f"{blob}\n".encode() for blob in ordered)
    # --buffer: all ids are sent without waiting for an answer, so git need not flush after each blob.
    with repo.talk("cat-file", "--batch", "--buffer", lines=lines) as out:
        for number, blob in enumerate(ordered, 1):
            size = _size(out.readline(), blob)
            if size > MAX_SIZE:
                yield blob, None
                if size > limits.MAX_SKIPPED:
                    return ordered[number:]
                _skip(out, size + 1)
            else:
                yield blob, out.read(size + 1)[:-1]
    return ()


def within_limit(size: int) -> int:
    """Return the size of all contents that are held.

    Raises:
        GitError: It is over the limit.
    """
    if size > limits.MAX_CONTENTS:
        raise GitError(
            f"the contract files have more than {limits.MAX_CONTENTS >> 20} MiB, a limit of schemalint",
            help="name the folders of the contracts in `contracts` of the configuration",
        )
    return size


def _size(header: bytes, blob: str) -> int:
    # "<id> blob <size>", or "<id> missing" (a partial clone without its remote, or a damaged clone)
    fields = header.split()
    if len(fields) != len(("id", "type", "size")):
        raise GitError(
            f"object {blob} is missing",
            help="in a partial clone --fetch; otherwise git fetch --refetch origin, or inspect: git fsck",
        )
    return int(fields[2])


def _skip(out: IO[bytes], size: int) -> None:
    while size > 0:
        size -= len(out.read(min(size, MAX_SIZE))) or size


def large_file_at(repo: Repository, side: Side, path: str, most: int) -> bytes | None:
    """Return the content of a file of a side; None if it is missing (at most one git process).

    Of the working tree it is what is on disk, whether git tracks the file or not.

    Raises:
        GitError: It is no regular file, larger than that, or outside of the repository.
    """
    if isinstance(side, EmptyTree) or not is_path(path):
        return None
    if isabs(path) or normpath(path).split("/")[0] == "..":
        raise _outside(path)
    match side:
        case Worktree():
            return _on_disk(repo, path, most)
        case Index():
            return _stored(repo.with_index(), f":{path}", path, most)
        case Revision(commit=commit):
            return _stored(repo, f"{commit}:{path}", path, most)


def _outside(path: str) -> GitError:
    message = f"{visible(path)} was not read: it is outside of the repository, or behind a symbolic link"
    return GitError(message, help="name the file itself")


def _on_disk(repo: Repository, path: str, most: int) -> bytes | None:
    file = repo.root / path
    if file.resolve() != repo.root.resolve() / normpath(path):
        raise _outside(path)
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
