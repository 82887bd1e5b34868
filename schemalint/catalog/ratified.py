"""The log of a catalog-managed table: the catalog says which commits count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Final

from schemalint.delta_log.names import Kind, log_file
from schemalint.delta_log.store import FileEntry
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from schemalint.catalog import ManagedCommits, StagedCommit
    from schemalint.delta_log.store import TableStore

_FOLDER: Final = "_staged_commits"


@dataclass(frozen=True, slots=True)
class RatifiedLog:
    """A log with the staged commits at their versions, and without what is newer than the catalog's latest.

    A version that is staged and published is read from the staged file: the catalog's copy is the
    authoritative one (Unity Catalog's Delta API, ``DeltaCommit.file-name``).

    Raises:
        LiveError: The catalog names something that is no staged commit of that version.
    """

    log: TableStore
    commits: ManagedCommits
    _files: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        files = {_name(one): _file(self.log, one) for one in self.commits.staged}
        object.__setattr__(self, "_files", files)

    @property
    def uri(self) -> str:
        """The table."""
        return self.log.uri

    def list(self) -> Iterator[FileEntry]:
        """The files of the log that count, the staged ones under the names of published commits."""
        kept = [one for one in self.log.list() if self._counts(one)]
        staged = [FileEntry(_name(one), one.size, one.modified_ms) for one in self.commits.staged]
        self._require_latest([*kept, *staged])
        yield from kept
        yield from (one for one in staged if self._is_ratified(one.name))

    def read(self, name: str) -> bytes:
        """A file's content."""
        return self.log.read(self._files.get(name, name))

    def open(self, name: str) -> BinaryIO:
        """A file to seek in."""
        return self.log.open(self._files.get(name, name))

    def open_data(self, path: str) -> BinaryIO:
        """A data file to seek in: those of a staged commit lie where all others do."""
        return self.log.open_data(path)

    def _counts(self, entry: FileEntry) -> bool:
        return entry.name not in self._files and self._is_ratified(entry.name)

    def _is_ratified(self, name: str) -> bool:
        file = log_file(name)
        latest = self.commits.latest
        return file is None or latest is None or max(file.version, file.end) <= latest

    def _require_latest(self, entries: Sequence[FileEntry]) -> None:
        files = [file for one in entries if (file := log_file(one.name))]
        reached = max((one.version for one in files if one.kind is not Kind.LAST_CHECKPOINT), default=None)
        latest = self.commits.latest
        if latest is not None and reached is not None and reached < latest:
            raise LiveError(
                f"{self.uri}: the catalog's latest version is {latest}, and the log ends at {reached}",
                help="Commits that the catalog counts are lost, or its registration points to a copy.",
            )


def _name(commit: StagedCommit) -> str:
    return f"{commit.version:020}.json"


def _file(log: TableStore, commit: StagedCommit) -> str:
    """The staged file's place; nothing else that a catalog may name."""
    name = f"{_FOLDER}/{commit.file}"
    file = log_file(name)
    if file is None or file.kind is not Kind.STAGED_COMMIT or file.version != commit.version:
        raise LiveError(
            f"{log.uri}: the catalog names {commit.file!r} for version {commit.version}, "
            "which is no staged commit of it",
        )
    return name
