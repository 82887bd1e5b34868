"""Which files of a log make up a version (Delta's SnapshotManagement.scala).

The whole log is listed, so ``_last_checkpoint``, which may be stale, missing or rubbish, is not needed.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemalint.delta_log.names import Kind, LogFile, log_file
from schemalint.delta_log.store import NoTable
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schemalint.delta_log.store import LogStore


@dataclass(frozen=True, slots=True)
class LogSegment:
    """A checkpoint, and all commits after it up to a version, oldest first; without one, all commits."""

    version: int
    checkpoint: LogFile | None
    commits: tuple[LogFile, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a log that say something, by version."""

    uri: str
    commits: Mapping[int, LogFile]
    checkpoints: Mapping[int, LogFile]
    unread: tuple[LogFile, ...]

    @property
    def latest(self) -> int:
        """The newest version: a checkpoint's own commit may be gone."""
        unread = (file.version for file in self.unread if file.kind is not Kind.COMPACTED)
        return max((*self.commits, *self.checkpoints, *unread))

    def snapshot(self, version: int) -> LogSegment:
        """The shortest way to a version.

        Raises:
            LiveError: There is none, or only over a kind of file that is not read yet.
        """
        start = max((at for at in self.checkpoints if at <= version), default=None)
        return self._from(start, version)

    def history(self, version: int) -> LogSegment:
        """The longest way to a version: from version 0, or the oldest checkpoint with all commits after it.

        Raises:
            LiveError: As `snapshot`.
        """
        reached = version
        while reached in self.commits:
            reached -= 1
        if reached < 0:
            return self._from(None, version)
        starts = [at for at in self.checkpoints if reached <= at <= version]
        return self._from(min(starts), version) if starts else self.snapshot(version)

    def _from(self, start: int | None, version: int) -> LogSegment:
        first = 0 if start is None else start + 1
        missing = next((at for at in range(first, version + 1) if at not in self.commits), None)
        if missing is not None:
            raise self._missing(missing, start, version)
        checkpoint = None if start is None else self.checkpoints[start]
        return LogSegment(version, checkpoint, tuple(self.commits[at] for at in range(first, version + 1)))

    def _missing(self, missing: int, start: int | None, version: int) -> LiveError:
        for file in self.unread:
            if _leads_past(file, missing, version):
                return LiveError(
                    f"{self.uri}: version {version} cannot be read without _delta_log/{file.name}, "
                    f"a {file.kind.value}, which this version of schemalint does not read yet",
                    help="Write a classic checkpoint, or use a newer schemalint.",
                )
        first = min(self.commits, default=version)
        if start is None and missing < first:
            return LiveError(
                f"{self.uri}: version {version} cannot be read any more: the log's first commit is {first}, "
                "and there is no checkpoint that leads there",
                help="Ask for a newer version.",
            )
        return LiveError(
            f"{self.uri}: the commit of version {missing} is missing in _delta_log",
            help="The log is damaged: restore the file, or repair the table with Delta's own tools.",
        )


def list_log(store: LogStore) -> Listing:
    """The log's files.

    Raises:
        NoTable: There is no log, or neither a commit nor a checkpoint in it.
        LiveError: The log cannot be listed.
    """
    by_kind: defaultdict[Kind, list[LogFile]] = defaultdict(list)
    for entry in store.list():
        if file := log_file(entry.name, entry.modified_ms):
            by_kind[file.kind].append(file)
    unread = (*by_kind[Kind.V2_CHECKPOINT], *_complete(by_kind[Kind.MULTI_PART_CHECKPOINT]))
    if not (by_kind[Kind.COMMIT] or by_kind[Kind.CHECKPOINT] or unread):
        raise NoTable(f"{store.uri}: there is no Delta table: its log has neither commits nor checkpoints")
    return Listing(
        store.uri,
        commits={file.version: file for file in by_kind[Kind.COMMIT]},
        checkpoints={file.version: file for file in by_kind[Kind.CHECKPOINT]},
        unread=(*unread, *by_kind[Kind.COMPACTED]),
    )


def _leads_past(file: LogFile, missing: int, version: int) -> bool:
    """Whether a reader that knew the kind of file would not need the missing commit."""
    if file.kind is Kind.COMPACTED:
        return file.version <= missing <= file.end <= version
    return missing <= file.version <= version


def _complete(files: Iterable[LogFile]) -> tuple[LogFile, ...]:
    """The first part of each multi-part checkpoint of which all parts are there: Delta ignores the others."""
    found: defaultdict[tuple[int, int], dict[int, LogFile]] = defaultdict(dict)
    for file in files:
        found[file.version, file.parts][file.part] = file
    return tuple(_first(parts) for (_version, count), parts in found.items() if len(parts) == count > 0)


def _first(parts: Mapping[int, LogFile]) -> LogFile:
    return parts[min(parts)]
