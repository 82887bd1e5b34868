"""List the files of a side with their blob ids: one git process per side, without reading contents.

Of the base only what differs from the head is listed. An unchanged file can matter for one reason: it may
declare the table or the location of a changed contract (`schemalint.review.duplicates`). With ``--all``, and
where the globs change, all files are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from posixpath import dirname
from typing import TYPE_CHECKING, Final, TypeAlias

from schemalint.base.errors import GitError, UsageError
from schemalint.base.phrases import affixed
from schemalint.base.printable import visible
from schemalint.base.values import frozen, replace
from schemalint.project.git.globs import Glob, escape_glob, parse_glob
from schemalint.project.git.sides import EmptyTree, Index, Revision, Side, Worktree

if TYPE_CHECKING:
    from schemalint.project.git.repository import Repository

DEFAULT_GLOBS = ("**/*.yml", "**/*.yaml")
_YAML: Final = (".yml", ".yaml")


@frozen
class Listing:
    """The files of one side.

    Attributes:
        blobs: Blob id by path.
        on_disk: Paths whose content is only on disk: untracked files, and files changed after staging.
        links: Paths of symbolic links, and submodules of a commit or the index.
        settings: The listing of the files with the name ``beside`` of `list_files`.
    """

    blobs: Mapping[str, str]
    on_disk: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    settings: Listing | None = None


_NOTHING: Final = Listing({})


def list_files(repo: Repository, side: Side, globs: Sequence[str] = (), beside: str = "") -> Listing:
    """List the regular files of a side that match, without symbolic links and submodules (one git process).

    Args:
        repo: The repository.
        side: The side whose files are listed.
        globs: Patterns relative to the root, ``**`` for any directories, ignoring case; ``!pattern``
            excludes. Without an including pattern, all YAML files. See also `within`.
        beside: The name of files that are listed too, in `Listing.settings`: see `only_beside`.

    Raises:
        GitError: A file of the index is unmerged.
    """
    _nothing, listing = list_sides(repo, EmptyTree("one side is listed"), side, globs, beside)
    return listing


def list_sides(
    repo: Repository, base: Side, head: Side, globs: Sequence[str] = (), beside: str = ""
) -> tuple[Listing, Listing]:
    """List the files of both sides as `list_files` does; of the base, git prints only what differs.

    Raises:
        GitError: A file of the index is unmerged.
    """
    chosen = selection(globs)
    pathspecs = [*chosen.pathspecs, *(_pathspecs_beside(globs, beside) if beside else ())]
    after, stored = _listed(repo, head, pathspecs)
    before = _older(repo, base, head, stored, pathspecs)
    return _chosen(before, chosen, beside, globs), _chosen(after, chosen, beside, globs)


def _chosen(listing: Listing, chosen: Selection, beside: str, globs: Sequence[str]) -> Listing:
    """Return the chosen files of a listing, with those of the name ``beside`` as its settings."""
    if not beside:
        if globs:
            return _filtered(listing, chosen.includes)
        return listing
    at_end = f"/{beside}"

    def is_beside(path: str) -> bool:
        return path.endswith(beside) and f"/{path}".endswith(at_end)

    settings = _filtered(listing, is_beside)
    files = listing
    if globs or settings != _NOTHING:
        files = _filtered(listing, lambda path: not is_beside(path) and chosen.includes(path))
    return replace(files, settings=settings)


def only_beside(listings: Iterable[Listing], globs: Sequence[str]) -> Iterator[Listing]:
    """Yield the files beside others of each listing: those in folders with listed files of any listing."""
    listings = tuple(listings)
    if all((listing.settings or _NOTHING) == _NOTHING for listing in listings):
        yield from (_NOTHING for _ in listings)
        return
    root, _ = _split(globs)
    folders: set[str] = set()
    for listing in listings:
        for path in (*listing.blobs, *listing.on_disk):
            folder = dirname(path)
            while folder not in folders:  # then those above it are known too
                folders.add(folder)
                folder = dirname(folder)
    folders.discard(root)

    def is_beside(path: str) -> bool:
        return dirname(path) in folders and path.startswith(_prefix(root))

    for listing in listings:
        yield _filtered(listing.settings or _NOTHING, is_beside)


def without(listing: Listing, paths: Container[str]) -> Listing:
    """Return a listing without some of its files; its settings are not filtered."""
    return replace(_filtered(listing, lambda path: path not in paths), settings=listing.settings)


def within(folder: str, globs: Sequence[str]) -> tuple[str, ...]:
    """Return globs that are relative to a folder of the repository, and choose no file outside of it."""
    if folder:
        return (f"/{folder}", *globs)
    return tuple(globs)


def _split(globs: Sequence[str]) -> tuple[str, Sequence[str]]:
    """Return the folder of `within`, and the globs."""
    if globs and globs[0].startswith("/"):
        return (globs[0][1:], globs[1:])
    return ("", globs)


def _prefix(folder: str) -> str:
    return affixed("", folder, "/")


def _glob_in(folder: str, glob: str) -> Glob:
    """Parse a glob that is relative to a folder.

    Raises:
        ConfigError: It leads out of the folder.
    """
    parsed = parse_glob(glob)
    if folder:
        return parse_glob(f"{escape_glob(folder)}/{glob}")
    return parsed


def _pathspecs_beside(globs: Sequence[str], name: str) -> list[str]:
    """Return pathspecs for the files of a name in the folders of chosen files, above them and below them."""
    folder, globs = _split(globs)
    pathspecs: dict[str, None] = {}
    for glob in including(globs) or ("**",):
        steps = _glob_in(folder, glob).literal
        pathspecs[f":(glob,icase){'/'.join((*steps, '**', name))}"] = None
        for length in range(1, len(steps)):
            pathspecs[f":(glob,icase){'/'.join((*steps[:length], name))}"] = None
    return [*pathspecs]


@frozen
class Selection:
    """Which files globs choose.

    Attributes:
        pathspecs: Pathspecs of git for all these files, and perhaps others.
        includes: Whether a path from the repository's root is one of them.
    """

    pathspecs: Sequence[str]
    includes: Callable[[str], bool]


def selection(globs: Sequence[str]) -> Selection:
    """Return which files globs choose; see `list_files`."""
    folder, globs = _split(globs)
    chosen = tuple(_glob_in(folder, glob) for glob in including(globs))
    dropped = tuple(_glob_in(folder, glob[1:]) for glob in globs if glob.startswith("!"))
    below = _prefix(folder)

    def includes(path: str) -> bool:
        is_chosen = any(glob.matches(path) for glob in chosen) if chosen else path.lower().endswith(_YAML)
        return path.startswith(below) and is_chosen and not any(glob.matches(path) for glob in dropped)

    yaml = [f":(glob,icase){escape_glob(below)}{glob}" for glob in DEFAULT_GLOBS]
    return Selection([*dict.fromkeys(glob.pathspec for glob in chosen)] or yaml, includes)


def _listed(repo: Repository, side: Side, pathspecs: Sequence[str]) -> tuple[Listing, Listing]:
    """Return the files of a side, and what git stores for it: in a commit, or in the index."""
    match side:
        case EmptyTree():
            return _NOTHING, _NOTHING
        case Revision():
            stored = _of_commit(repo, side.commit, pathspecs)
            return stored, stored
        case _ if repo.bare:
            raise UsageError(f"there is no {side.spec} in a bare repository", help="name a commit")
        case Index():
            return _of_index(repo, pathspecs)
        case Worktree():
            return _of_worktree(repo, pathspecs)


def _older(repo: Repository, base: Side, head: Side, stored: Listing, pathspecs: Sequence[str]) -> Listing:
    """Return the files of the base, given what git stores for the head."""
    against: tuple[str, ...]
    match base, head:
        case Revision(commit=commit), Revision(commit=newer):
            against = ("diff-tree", "-r", commit, newer)
        case Revision(commit=commit), Index() | Worktree():
            repo = repo.with_index() if isinstance(head, Index) else repo
            against = ("diff-index", "--cached", commit)
        case _:
            return _listed(repo, base, pathspecs)[0]
    return _before(stored, _differences(repo, *against, pathspecs=pathspecs))


def _before(after: Listing, differences: Mapping[str, tuple[str, str]]) -> Listing:
    """Return a listing before these differences, which give the former mode and blob id of each path."""
    if not differences:
        return after
    unchanged = without(after, differences)
    blobs = {path: blob for path, (mode, blob) in differences.items() if mode in REGULAR}
    links = {path for path, (mode, _) in differences.items() if mode not in {*REGULAR, _ABSENT}}
    return Listing({**unchanged.blobs, **blobs}, links=unchanged.links | links)


def _filtered(listing: Listing, is_kept: Callable[[str], bool]) -> Listing:
    return Listing(
        {path: blob for path, blob in listing.blobs.items() if is_kept(path)},
        frozenset(filter(is_kept, listing.on_disk)),
        frozenset(filter(is_kept, listing.links)),
    )


def including(globs: Sequence[str]) -> tuple[str, ...]:
    """Return the globs that include files; without any, all YAML files are included."""
    return tuple(glob for glob in globs if not glob.startswith(("!", "/")))


def unmatched_globs(repo: Repository, sides: Sequence[Side], globs: Sequence[str]) -> tuple[str, ...]:
    """Return the including globs that match no file of any side (one git process per side)."""
    if not including(globs):
        return ()
    listings = [list_files(repo, side, globs) for side in sides]
    paths = {path for listing in listings for path in (*listing.blobs, *listing.on_disk)}
    folder, _ = _split(globs)
    return tuple(glob for glob in including(globs) if not any(map(_glob_in(folder, glob).matches, paths)))


def _of_commit(repo: Repository, commit: str, pathspecs: Sequence[str]) -> Listing:
    # Diff towards the empty tree, because `git ls-tree` does not support globs.
    empty = _EMPTY_TREES[len(commit)]
    return _before(_NOTHING, _differences(repo, "diff-tree", "-r", commit, empty, pathspecs=pathspecs))


def _differences(repo: Repository, *arguments: str, pathspecs: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the former mode and blob id of each path that differs, as a raw diff of git tells."""
    command, *rest = arguments
    options = ("--raw", "-z", "--no-renames", "--ignore-submodules=none")
    output = repo.run(command, *options, *rest, "--", *pathspecs).stdout
    fields = os.fsdecode(output).split("\0")[:-1]
    # ":<old mode> <new mode> <old blob> <new blob> <letter>", then the path
    changed = (meta.split(" ") for meta in fields[::2])
    return {path: (old[0][1:], old[2]) for old, path in zip(changed, fields[1::2], strict=True)}


# The id of the empty tree, which git knows without storing it, by the length of the repository's ids.
_EMPTY_TREES = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
REGULAR = frozenset({"100644", "100755"})
_SUBMODULE = "160000"
_ABSENT = "000000"


def _of_index(repo: Repository, pathspecs: Sequence[str]) -> tuple[Listing, Listing]:
    # A file added with `git add --intent-to-add` has the blob id of an empty file, so it is no candidate.
    entries = _entries(repo.with_index(), ("ls-files", "-z", "-t", "--stage"), pathspecs)
    for _tag, _mode, _blob, stage, path in entries:
        if stage != _MERGED:
            raise GitError(f"{visible(path)} is unmerged", help="resolve the conflict, then: git add")
    stored = _stored(entries)
    return stored, stored


def _of_worktree(repo: Repository, pathspecs: Sequence[str]) -> tuple[Listing, Listing]:
    """List the index's files with those on disk that differ from it, and what the index stores.

    If only a file's timestamps differ from the index, ``git ls-files --modified`` compares contents, after
    line-end conversion and the user's filters. So an unedited file keeps its blob id and is never
    read (``git diff-files`` would list it). A file of another size is read from disk, even if conversion
    would give the same blob: only its line ends differ. Files outside a sparse checkout, and files marked
    "assume unchanged", count with their content in the index.
    """
    arguments = ("ls-files", "-z", "-t", "--stage", "--modified", "--others", "--exclude-standard")
    entries = _entries(repo.without_filters(), arguments, pathspecs)
    stored = _stored(entries)
    submodules = {path for _tag, mode, _blob, _stage, path in entries if mode == _SUBMODULE}
    changed = {path for tag, _mode, _blob, _stage, path in entries if tag in _ON_DISK} - submodules
    unchanged = without(stored, changed) if changed else stored
    links = {path for path in changed if (repo.root / path).is_symlink()}
    on_disk = frozenset(path for path in changed if _is_regular_file(repo, path))
    listing = Listing(unchanged.blobs, on_disk - links, (unchanged.links - submodules) | links)
    return listing, stored


def _stored(entries: Sequence[_Entry]) -> Listing:
    """Return what the index stores."""
    blobs = {path: blob for tag, mode, blob, _stage, path in entries if tag in _IN_INDEX and mode in REGULAR}
    links = {path for tag, mode, _blob, _stage, path in entries if tag in _IN_INDEX and mode not in REGULAR}
    return Listing(blobs, links=frozenset(links))


def _entries(repo: Repository, arguments: Sequence[str], pathspecs: Sequence[str]) -> list[_Entry]:
    out = os.fsdecode(repo.run(*arguments, "--", *pathspecs).stdout)
    return re.findall(_RECORD, out)


_Entry: TypeAlias = tuple[str, str, str, str, str]
"""Tag, mode, blob id, stage and path of ``git ls-files -t --stage``; of an untracked file only the path."""
_RECORD = r"(?:\? |([^?]) ([0-7]{6}) ([0-9a-f]+) ([0-3])\t)([^\0]+)\0"
_MERGED = "0"

# Tags of `git ls-files -t`: H in the index, S in the index but outside a sparse checkout, C changed or
# deleted on disk (listed in addition to H), M unmerged; untracked files get none here.
_IN_INDEX = frozenset("HS")
_ON_DISK = frozenset({"C", "M", ""})


def _is_regular_file(repo: Repository, path: str) -> bool:
    """Whether a path names a regular file without crossing a symbolic link, which could leave the repository.

    git does not count files behind a symbolic link as part of the working tree either: ``git add`` refuses
    them.
    """
    parts = [path, *map(str, PurePosixPath(path).parents)]
    return (repo.root / path).is_file() and not any((repo.root / part).is_symlink() for part in parts[:-1])
