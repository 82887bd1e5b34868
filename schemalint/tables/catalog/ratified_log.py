"""The log of a catalog-managed table: it contains the commits that the catalog has ratified."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field  # noqa: TID251 (__post_init__)
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log.file_names import Kind, commit_name, log_file
from schemalint.tables.delta_log.store import FileEntry, TableStore

if TYPE_CHECKING:
    from schemalint.tables.catalog import ManagedCommits, StagedCommit

_FOLDER: Final = "_staged_commits"


@dataclass(frozen=True, slots=True)
class RatifiedLog:
    """A log with the staged commits, and without files newer than the catalog's latest version.

    If a version is both staged and published, the staged file is read: the catalog's copy is authoritative
    (Unity Catalog's Delta API, ``DeltaCommit.file-name``).

    Raises:
        LiveError: The catalog names a file that is not a staged commit of its version.
    """

    log: TableStore
    commits: ManagedCommits
    _files: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        files = {
            commit_name(commit.version): _staged_file(self.log, commit) for commit in self.commits.staged
        }
        object.__setattr__(self, "_files", files)

    @property
    def uri(self) -> str:
        """The table's URI."""
        return self.log.uri

    def list(self, folder: str = "", *, first: str = "") -> Iterator[FileEntry]:
        """List the ratified files of the log; staged commits have the names of published ones."""
        if folder:
            yield from self.log.list(folder, first=first)
            return
        published = [entry for entry in self.log.list(first=first) if self._is_visible(entry)]
        staged = [
            FileEntry(commit_name(commit.version), commit.size, commit.modified_ms)
            for commit in self.commits.staged
        ]
        self._require_latest([*published, *staged])
        yield from published
        yield from (entry for entry in staged if self._is_ratified(entry.name))

    def expect(self, names: Iterable[str]) -> None:
        """Note the files that are read next."""
        self.log.expect(self._files.get(name, name) for name in names)

    def find(self, name: str) -> bytes | None:
        """Read a file of the log; None if there is no such file."""
        return self.log.find(self._files.get(name, name))

    def read(self, name: str) -> bytes:
        """Read a file of the log."""
        return self.log.read(self._files.get(name, name))

    def open(self, name: str) -> BinaryIO:
        """Open a file of the log for random access."""
        return self.log.open(self._files.get(name, name))

    def open_data(self, path: str) -> BinaryIO:
        """Open a data file for random access; staged commits keep theirs in the table's folder too."""
        return self.log.open_data(path)

    def _is_visible(self, entry: FileEntry) -> bool:
        return entry.name not in self._files and self._is_ratified(entry.name)

    def _is_ratified(self, name: str) -> bool:
        file = log_file(name)
        latest = self.commits.latest
        return file is None or latest is None or max(file.version, file.end) <= latest

    def _require_latest(self, entries: Sequence[FileEntry]) -> None:
        files = [file for entry in entries if (file := log_file(entry.name))]
        end = max((file.version for file in files if file.kind is not Kind.LAST_CHECKPOINT), default=None)
        latest = self.commits.latest
        if latest is not None and end is not None and end < latest:
            raise LiveError(
                f"{self.uri}: the catalog's latest version is {latest}, but the log ends at {end}",
                help="Ratified commits are lost, or the catalog's registration points to a copy.",
            )


def _staged_file(log: TableStore, commit: StagedCommit) -> str:
    """Return the staged file's path in the log; refuse any other file that the catalog may name."""
    name = f"{_FOLDER}/{commit.file}"
    file = log_file(name)
    if file is None or file.kind is not Kind.STAGED_COMMIT or file.version != commit.version:
        raise LiveError(
            f"{log.uri}: the catalog names {commit.file!r} for version {commit.version}, "
            "which is not a staged commit of that version",
        )
    return name
