"""Read the files of both sides, with the same few git processes for any number of files."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING

from schemalint.errors import GitError
from schemalint.git.listing import including, list_files
from schemalint.git.sides import EmptyTree
from schemalint.printable import visible
from schemalint.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from schemalint.git.listing import Listing
    from schemalint.git.repository import Repository
    from schemalint.git.sides import Side

MAX_SIZE = 1 << 20
"""Largest file that is read, in bytes; a contract of 10,000 columns is smaller."""

_YAML = (".yml", ".yaml")


@frozen
class File:
    """A file of one side.

    Attributes:
        path: From the repository's root, with ``/``; undecodable bytes as `os.fsdecode` maps them (see
            `visible`).
        data: The blob's bytes, or the bytes on disk if there is no blob.
        blob: Blob id, None if the content is only on disk. Equal ids mean equal contents; without an id the
            contents must be compared.
    """

    path: str
    data: bytes
    blob: str | None


@frozen
class Contents:
    """The candidate files of both sides by path.

    Attributes:
        base: The old side.
        head: The new side.
        too_large: Paths of files over `MAX_SIZE` on either side; their content was not read.
    """

    base: Mapping[str, File]
    head: Mapping[str, File]
    too_large: tuple[str, ...] = ()


def changes(
    repo: Repository,
    base: Side,
    head: Side,
    is_candidate: Callable[[bytes], bool],
    globs: Sequence[str] = (),
) -> Contents:
    """Return all candidate files of both sides, also unchanged files (they may name the same table).

    A YAML file that the globs include is a candidate whatever it contains: it may be a misspelt contract. So
    is a file whose suffix a glob names; others, such as a README, may lie beside the contracts.

    This takes three git processes: one listing per side (none for an empty tree), and one that prints every
    blob of either side once. Only content that is not in the index is read from disk.

    Args:
        repo: The repository.
        base: The old side.
        head: The new side.
        is_candidate: Whether a file with this content may be a contract; called once per blob.
        globs: See `list_files`.

    Raises:
        GitError: git failed, or a blob is missing.
    """
    before, after = (list_files(repo, side, globs) for side in (base, head))
    suffixes = _suffixes(globs)
    candidates: dict[str, bytes] = {}
    others: dict[str, bytes] = {}
    too_large: set[str] = set()
    for blob, content in read_blobs(repo, {*before.blobs.values(), *after.blobs.values()}):
        if content is None:
            too_large.update(*(_paths(listing, blob) for listing in (before, after)))
        elif is_candidate(content):
            candidates[blob] = content
        elif suffixes:
            others[blob] = content
    base_files, head_files = (
        {**_files(listing, candidates), **_files(listing, others, suffixes)} for listing in (before, after)
    )
    for path, content in _on_disk(repo, after):
        if content is None:
            too_large.add(path)
        elif is_candidate(content) or path.lower().endswith(suffixes):
            head_files[path] = File(path, content, None)
    return Contents(base_files, head_files, tuple(sorted(too_large)))


def _suffixes(globs: Sequence[str]) -> tuple[str, ...]:
    named = (PurePosixPath(glob).suffix.lower() for glob in including(globs))
    suffixes = tuple(suffix for suffix in named if suffix[1:].isalnum())
    return (*_YAML, *suffixes) if including(globs) else ()


def files_at(repo: Repository, side: Side, globs: Sequence[str] = ()) -> Mapping[str, File]:
    """Return all files of one side except those over `MAX_SIZE` (two git processes).

    Raises:
        GitError: git failed, or a blob is missing.
    """
    return changes(repo, EmptyTree("only one side is read"), side, lambda _: True, globs).head


def file_at(repo: Repository, side: Side, path: str) -> bytes | None:
    """Return the content of one file of a side; None if it is missing, a link, or over `MAX_SIZE`.

    Raises:
        GitError: git failed, or a blob is missing.
    """
    literal = re.sub(r"([*?\[\\])", r"\\\1", path)
    found = files_at(repo, side, [literal]).get(path)
    return None if found is None else found.data


def read_blobs(repo: Repository, blobs: Collection[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield blob ids with contents as git prints them, None for a blob over `MAX_SIZE` (one git process).

    Raises:
        GitError: A blob is missing.
    """
    if not blobs:
        return
    ordered = sorted(blobs)  # by id, the order of a pack's index
    lines = (f"{blob}\n".encode() for blob in ordered)
    # --buffer: all ids are sent without waiting for an answer, so git need not flush after each blob.
    with repo.talk("cat-file", "--batch", "--buffer", lines=lines) as out:
        for blob in ordered:
            size = _size(out.readline(), blob)
            if size > MAX_SIZE:
                _skip(out, size + 1)
                yield blob, None
            else:
                yield blob, out.read(size + 1)[:-1]


def dirty(repo: Repository, paths: Collection[str]) -> set[str]:
    """Return the paths that differ from HEAD: changed, staged, deleted or untracked (one git process)."""
    options = ["--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"]
    records = os.fsdecode(repo.without_filters().run("status", *options).stdout).split("\0")
    return {record[len("XY ") :] for record in records} & set(paths)


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


def _files(
    listing: Listing, blobs: Mapping[str, bytes], suffixes: str | tuple[str, ...] = ""
) -> dict[str, File]:
    return {
        path: File(path, blobs[blob], blob)
        for path, blob in listing.blobs.items()
        if blob in blobs and path.lower().endswith(suffixes)
    }


def _paths(listing: Listing, blob: str) -> set[str]:
    return {path for path, path_blob in listing.blobs.items() if path_blob == blob}


def _on_disk(repo: Repository, listing: Listing) -> Iterator[tuple[str, bytes | None]]:
    for path in sorted(listing.on_disk):
        try:
            with (repo.root / path).open("rb") as file:
                content = file.read(MAX_SIZE + 1)
        except OSError as error:
            raise GitError(f"{visible(path)} cannot be read: {error.strerror}") from error
        yield path, content if len(content) <= MAX_SIZE else None
