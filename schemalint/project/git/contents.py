"""Read the files of both sides, with the same few git processes for any number of files."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from schemalint.base.untrusted_files import read_plain
from schemalint.base.values import field, frozen, grouped, replace
from schemalint.model.contract import NATIVE_FORMAT, FileFormat
from schemalint.project.git.blobs import MAX_SIZE, File, read_blobs, within_limit
from schemalint.project.git.globs import escape_glob
from schemalint.project.git.listing import list_files, list_sides, only_beside, selection, without
from schemalint.project.git.sides import EmptyTree, Index, Revision, Side

if TYPE_CHECKING:
    from schemalint.project.git.listing import Listing
    from schemalint.project.git.repository import Repository

FormatOf: TypeAlias = Callable[[str, bytes], FileFormat | None]
"""Returns the format of a file by its path and content; None if it is none of those looked for."""


@frozen
class Beside:
    """The files of one name in the folders of candidate files, on one side.

    Attributes:
        data: The content by path.
        unread: By path, why a file was not read.
    """

    data: Mapping[str, bytes] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.data or self.unread)

    def __or__(self, other: Beside) -> Beside:
        return Beside({**self.data, **other.data}, {**self.unread, **other.unread})


@frozen
class Contents:
    """The candidate files of both sides by path.

    Attributes:
        base: The old side.
        head: The new side.
        unread: By path, why a file of either side was not read: it is over `MAX_SIZE`, or denies it.
        beside_base: The files of the old side that lie beside candidates: see `changes`.
        beside_head: The files of the new side that lie beside candidates.
        former: The content of files of the new side that are candidates of the old one only.
        unchanged: The files that are the same on both sides, if they are not read; see `with_unchanged`.
    """

    base: Mapping[str, File]
    head: Mapping[str, File]
    unread: Mapping[str, str] = field(default_factory=dict)
    beside_base: Beside = Beside()
    beside_head: Beside = Beside()
    former: Mapping[str, bytes] = field(default_factory=dict)
    unchanged: _UnchangedFiles | None = None

    def with_unchanged(self, texts: Collection[str] | None) -> Contents:
        """Return the contents with the unchanged candidates that have a text: see `_UnchangedFiles.read`."""
        files = {file.path: file for file in self._unchanged(texts)}
        return replace(self, base={**self.base, **files}, head={**self.head, **files}, unchanged=None)

    def with_texts(self, texts: Mapping[str, bytes], format_of: FormatOf) -> Contents:
        """Return these as they were if files of the new side had other texts.

        Args:
            texts: By path.
            format_of: Returns the format of a file; None if it is no candidate.

        Raises:
            GitError: git failed, or a blob is missing.
        """
        base, head, former, unchanged = dict(self.base), dict(self.head), dict(self.former), self.unchanged
        if unchanged is not None and not unchanged.blobs.keys().isdisjoint(texts):
            base.update((file.path, file) for file in unchanged.of(texts))
            unchanged = unchanged.without(texts)
        for path, data in texts.items():
            if (name := format_of(path, data)) is not None:
                head[path] = File(path, data, None, name)
                continue
            head.pop(path, None)
            if path in base:
                former[path] = data
        unread = {path: reason for path, reason in self.unread.items() if path not in texts}
        return replace(self, base=base, head=head, former=former, unread=unread, unchanged=unchanged)

    def has_candidates(self) -> bool:
        """Whether there are candidates; of the unchanged ones, only the first is read."""
        unchanged = self.unchanged.of_all() if self.unchanged else ()
        return bool(self.base or self.head or self.unread) or any(True for _ in unchanged)

    def paths(self) -> set[str]:
        """Return the paths of all candidates, and of files that cannot be read; some of them may be none."""
        return {*self.base, *self.head, *self.unread, *(self.unchanged.blobs if self.unchanged else ())}

    def _unchanged(self, texts: Collection[str] | None) -> Iterator[File]:
        yield from self.unchanged.read(texts) if self.unchanged else ()


def changes(
    repo: Repository,
    base: Side,
    head: Side,
    format_of: FormatOf,
    globs: Sequence[str] = (),
    beside: str = "",
    *,
    reads_unchanged: bool = True,
) -> Contents:
    """Return all candidate files of both sides.

    This takes three git processes: one listing per side (none for an empty tree), and one that prints every
    blob once. Only content that is not in the index is read from disk.

    Args:
        repo: The repository.
        base: The old side.
        head: The new side.
        format_of: Returns the format of a file by its path and content; None if it is no candidate.
        globs: See `list_files`.
        beside: The name of files that are read too, whatever they contain: see `list_files`.
        reads_unchanged: Whether to read candidates that are the same on both sides; otherwise they are
            `Contents.unchanged`.

    Raises:
        GitError: git failed, or a blob is missing.
    """
    before, after = list_sides(repo, base, head, globs, beside)
    besides = [*only_beside((before, after), globs)]
    unchanged = None
    if not reads_unchanged:
        same = {path: blob for path, blob in after.blobs.items() if before.blobs.get(path) == blob}
        before, after = without(before, same), without(after, same)
        unchanged = _UnchangedFiles(repo, head, same, selection(globs).pathspecs, format_of)
    reader = _Reader(repo, format_of)
    of_beside = reader.read((before, after), besides)
    base_files, head_files = reader.candidates(before), reader.candidates(after)
    lost = {path: after.blobs[path] for path in base_files if path in after.blobs and path not in head_files}
    former = reader.contents(lost)
    for path, content in reader.on_disk(after):
        if (name := format_of(path, content)) is not None:
            head_files[path] = File(path, content, None, name)
            reader.hold(content)
        elif path in base_files:
            former[path] = content
    # What a link leads to may be outside of the repository; without a word a contract would be lost.
    for path in after.links if reads_unchanged else after.links - before.links:
        if format_of(path, b"") is not None:
            reader.unread[path] = "it is a symbolic link or a submodule"
    beside_base, beside_head = (_beside(repo, listing, of_beside) for listing in besides)
    unread = dict(sorted(reader.unread.items()))
    return Contents(base_files, head_files, unread, beside_base, beside_head, former, unchanged)


class _Reader:
    """Reads candidate files, each blob once, and holds no more than a limit in all.

    Attributes:
        unread: By path, why a file was not read.
    """

    def __init__(self, repo: Repository, format_of: FormatOf) -> None:
        self.unread: dict[str, str] = {}
        self._repo, self._format_of = repo, format_of
        self._files: dict[tuple[str, str], File] = {}
        self._held = 0

    def hold(self, content: bytes) -> None:
        """Count a content that is kept.

        Raises:
            GitError: It is more than all of them may be.
        """
        self._held = within_limit(self._held + len(content))

    def read(self, listings: Sequence[Listing], besides: Sequence[Listing]) -> Mapping[str, bytes | None]:
        """Read the blobs of candidates; return those of the files beside them, None for one too large."""
        paths = grouped((blob, path) for listing in listings for path, blob in listing.blobs.items())
        beside: dict[str, bytes | None] = {}
        for listing in besides:
            beside |= dict.fromkeys(listing.blobs.values())
        for blob, content in read_blobs(self._repo, {*paths, *beside}):
            if blob in beside:
                beside[blob] = content
                self.hold(content or b"")
            if content is None:
                self.unread |= dict.fromkeys(paths.get(blob, ()), _TOO_LARGE)
                continue
            is_candidate = False
            for path in dict.fromkeys(paths.get(blob, ())):
                if (name := self._format_of(path, content)) is not None:
                    self._files[path, blob] = File(path, content, blob, name)
                    is_candidate = True
            if is_candidate:
                self.hold(content)
        return beside

    def candidates(self, listing: Listing) -> dict[str, File]:
        """Return the candidates of one side by path."""
        files = self._files
        return {path: files[path, blob] for path, blob in listing.blobs.items() if (path, blob) in files}

    def contents(self, blobs: Mapping[str, str]) -> dict[str, bytes]:
        """Return the contents by path of files that are no candidates; those too large are left out."""
        read = dict(read_blobs(self._repo, {*blobs.values()}))
        contents: dict[str, bytes] = {}
        for path, blob in blobs.items():
            if (content := read[blob]) is not None:
                contents[path] = content
                self.hold(content)
        return contents

    def on_disk(self, listing: Listing) -> Iterator[tuple[str, bytes]]:
        """Yield path and content of the files of a side whose content is not in the index."""
        for path in sorted(listing.on_disk):
            try:
                content = read_plain(self._repo.root / path, MAX_SIZE)
            except (FileNotFoundError, NotADirectoryError):
                continue  # deleted since it was listed
            except OSError as error:
                self.unread[path] = _TOO_LARGE if error.errno == errno.EFBIG else str(error.strerror)
                continue
            yield path, content


def beside_files(repo: Repository, side: Side, globs: Sequence[str], name: str) -> Beside:
    """Return the files of a name beside the files of one side: see `list_files` (two git processes).

    Raises:
        GitError: git failed, or a blob is missing.
    """
    (listing,) = only_beside([list_files(repo, side, globs, name)], globs)
    return _beside(repo, listing, dict(read_blobs(repo, {*listing.blobs.values()})))


def _beside(repo: Repository, listing: Listing, blobs: Mapping[str, bytes | None]) -> Beside:
    data: dict[str, bytes] = {}
    unread = dict.fromkeys(sorted(listing.links), "it is no regular file")
    for path, blob in listing.blobs.items():
        if (content := blobs[blob]) is None:
            unread[path] = _TOO_LARGE
        else:
            data[path] = content
    for path in sorted(listing.on_disk):
        try:
            data[path] = read_plain(repo.root / path, MAX_SIZE)
        except (FileNotFoundError, NotADirectoryError):
            continue  # deleted since it was listed
        except OSError as error:
            unread[path] = str(error.strerror)
    return Beside(data, unread)


_TOO_LARGE = f"it has more than {MAX_SIZE >> 20} MiB, a limit of schemalint"


def file_at(repo: Repository, side: Side, path: str) -> bytes | None:
    """Return the content of one file of a side; None if it is missing, a link, or over `MAX_SIZE`.

    This takes two git processes.

    Raises:
        GitError: git failed, or a blob is missing.
    """
    nothing = EmptyTree("only one side is read")
    file = changes(repo, nothing, side, lambda _path, _data: NATIVE_FORMAT, [escape_glob(path)]).head.get(
        path
    )
    return None if file is None else file.data


def dirty(repo: Repository, paths: Collection[str]) -> set[str]:
    """Return the paths that differ from HEAD: changed, staged, deleted or untracked (one git process)."""
    options = ["--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=all"]
    records = os.fsdecode(repo.without_filters().run("status", *options).stdout).split("\0")
    return {record[len("XY ") :] for record in records} & set(paths)


@frozen
class _UnchangedFiles:
    """The files that have the same path and the same blob on both sides.

    Attributes:
        repo: The repository.
        side: The new side.
        blobs: Blob id by path.
        pathspecs: Pathspecs of git for all these files, and perhaps others.
        format_of: Returns the format of a file; None if it is no candidate.
        replaced: The paths of those that have another text now.
        known: What was read of them already, by the texts that somebody asked for, and by path.
    """

    repo: Repository
    side: Side
    blobs: Mapping[str, str]
    pathspecs: Sequence[str]
    format_of: FormatOf
    replaced: frozenset[str] = frozenset()
    known: dict[frozenset[str] | str | None, tuple[File, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def of(self, paths: Collection[str]) -> Iterator[File]:
        """Yield those of these files that have one of the paths."""
        for path in self.blobs.keys() & paths:
            if path not in self.known:
                self.known[path] = tuple(self._read({path: self.blobs[path]}))
            yield from self.known[path]

    def of_all(self) -> Iterator[File]:
        """Yield all candidates, each read when it is asked for."""
        return self._read(self.blobs)

    def without(self, paths: Collection[str]) -> _UnchangedFiles:
        """Return the files that are at none of these paths."""
        return replace(self, replaced=self.replaced | self.blobs.keys() & paths)

    def read(self, texts: Collection[str] | None = None) -> Iterator[File]:
        """Yield the candidates; with texts, only those that have one of them in a line (two git processes).

        One over `MAX_SIZE` is left out: it is reported when it changes.

        Args:
            texts: Texts without line breaks; the case of ASCII letters is ignored.

        Raises:
            GitError: git failed, or a blob is missing.
        """
        key = None if texts is None else frozenset(texts)
        if key not in self.known:
            self.known[key] = tuple(self._read(self._with(texts)))
        yield from (file for file in self.known[key] if file.path not in self.replaced)

    def _read(self, blobs: Mapping[str, str]) -> Iterator[File]:
        paths = grouped((blob, path) for path, blob in blobs.items())
        held = 0
        for blob, content in read_blobs(self.repo, paths):
            held = within_limit(held + len(content or b""))
            for path in paths[blob]:
                if content is not None and (name := self.format_of(path, content)) is not None:
                    yield File(path, content, blob, name)

    def _with(self, texts: Collection[str] | None) -> Mapping[str, str]:
        if texts is None or not self.blobs:
            return self.blobs
        repo = self.repo.with_index() if isinstance(self.side, Index) else self.repo
        tree = self.side.commit if isinstance(self.side, Revision) else ""
        arguments = [argument for text in texts for argument in ("-e", text)]
        searched = tree or "--cached"
        output = repo.run(*_GREP, *arguments, searched, "--", *self.pathspecs, statuses=(0, _NO_MATCH))
        if output.stderr:
            return self.blobs  # git goes on without an object that it cannot read: whoever reads all finds it
        names = (name[len(tree) + 1 :] if tree else name for name in os.fsdecode(output.stdout).split("\0"))
        return {path: self.blobs[path] for path in names if path in self.blobs}


_NO_MATCH = 1
# One thread: several wait for each other, which doubles the CPU.
_GREP = (
    "grep",
    *("--files-with-matches", "-z", "--fixed-strings", "--ignore-case"),
    *("--no-color", "--no-recurse-submodules", "--threads=1"),
)
