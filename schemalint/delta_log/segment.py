"""Which files a log has, and which versions they lead to (Delta's SnapshotManagement.scala).

The whole log is listed, so ``_last_checkpoint``, which may be stale, missing or rubbish, is not needed: the
history needs all commits anyway.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile
from typing import TYPE_CHECKING

from schemalint.delta_log.names import Kind, LogFile, log_file
from schemalint.delta_log.store import NoTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from schemalint.delta_log.store import LogStore


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint of which all files are there: its parts in order, or the one file."""

    version: int
    files: tuple[LogFile, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """Commits that are missing, from the first to the last."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a log that say something, by version.

    Attributes:
        commits: Oldest first, as all of these.
        checkpoints: Of each version those that Delta prefers first.
        last_checkpoint: The pointer to the last checkpoint.
    """

    uri: str
    commits: Mapping[int, LogFile]
    checkpoints: Mapping[int, tuple[Checkpoint, ...]]
    compactions: tuple[LogFile, ...] = ()
    checksums: Mapping[int, LogFile] = field(default_factory=dict)
    last_checkpoint: LogFile | None = None
    # What is asked of each of many missing commits is looked up, not searched for.
    _versions: tuple[int, ...] = field(init=False)
    _checkpointed: tuple[int, ...] = field(init=False)
    _summed: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_versions", tuple(sorted({*self.commits, *self.checkpoints})))
        object.__setattr__(self, "_checkpointed", tuple(self.checkpoints))
        object.__setattr__(self, "_summed", tuple(self.checksums))

    @property
    def newest_checkpoint(self) -> int:
        """The version of the newest checkpoint, -1 if there is none."""
        return self._checkpointed[-1] if self._checkpointed else -1

    @property
    def latest(self) -> int:
        """The newest version: a checkpoint's own commit may be gone."""
        return self._versions[-1]

    def newest_before(self, version: int) -> int | None:
        """The newest version before that one, if the log still has one."""
        index = bisect_left(self._versions, version)
        return self._versions[index - 1] if index else None

    def checkpoint_before(self, version: int) -> int:
        """The version of the newest checkpoint up to that one, -1 if there is none."""
        index = bisect_right(self._checkpointed, version)
        return self._checkpointed[index - 1] if index else -1

    def checksums_of(self, first: int, last: int) -> tuple[int, ...]:
        """The versions from one to another that have a checksum."""
        return self._summed[bisect_left(self._summed, first) : bisect_right(self._summed, last)]

    def history(self, version: int) -> range:
        """The commits without a gap up to that version: all, or those after the oldest usable checkpoint."""
        first = version + 1
        while first - 1 in self.commits:
            first -= 1
        starts = [at for at in self.checkpoints if first - 1 <= at <= version]
        return range(min(starts) + 1 if first and starts else first, version + 1)

    def gaps(self, version: int) -> tuple[Gap, ...]:
        """The commits that are missing between the newest checkpoint and that version.

        Before the newest checkpoint they may be: the log is cleaned up.
        """
        start = self.checkpoint_before(version)
        there = [start, *(at for at in self.commits if start < at <= version)]
        return tuple(Gap(one + 1, other - 1) for one, other in pairwise(there) if other - one > 1)

    def compaction(self, version: int, newest: int) -> LogFile | None:
        """A compaction that holds the version, and none after the newest that is asked for."""
        start = bisect_left(self.compactions, version, key=_end)
        ending = takewhile(lambda file: file.end <= newest, islice(self.compactions, start, None))
        return next((file for file in ending if file.version <= version), None)


def list_log(store: LogStore) -> Listing:
    """The log's files.

    Raises:
        NoTable: There is no log, or neither a commit nor a checkpoint in it.
        LiveError: The log cannot be listed.
    """
    by_kind: defaultdict[Kind, list[LogFile]] = defaultdict(list)
    for entry in store.list():
        if file := log_file(entry.name, entry.modified_ms, entry.size):
            by_kind[file.kind].append(file)
    checkpoints = _checkpoints(by_kind)
    if not (by_kind[Kind.COMMIT] or checkpoints):
        raise NoTable(f"{store.uri}: there is no Delta table: its log has neither commits nor checkpoints")
    return Listing(
        store.uri,
        commits=_by_version(by_kind[Kind.COMMIT]),
        checkpoints=checkpoints,
        compactions=_longest(by_kind[Kind.COMPACTED]),
        checksums=_by_version(by_kind[Kind.CHECKSUM]),
        last_checkpoint=next(iter(by_kind[Kind.LAST_CHECKPOINT]), None),
    )


def _longest(compactions: Iterable[LogFile]) -> tuple[LogFile, ...]:
    """Of all that end at a version the one that begins first, by that version."""
    begun = sorted((file for file in compactions if file.version <= file.end), key=lambda file: -file.version)
    return tuple(sorted({file.end: file for file in begun}.values(), key=_end))


def _end(file: LogFile) -> int:
    return file.end


def _by_version(files: Iterable[LogFile]) -> dict[int, LogFile]:
    return {file.version: file for file in sorted(files, key=lambda file: file.version)}


def _checkpoints(by_kind: defaultdict[Kind, list[LogFile]]) -> dict[int, tuple[Checkpoint, ...]]:
    """All complete checkpoints; V2 before multi-part before classic, as Checkpoints.scala has it."""
    found: defaultdict[int, list[Checkpoint]] = defaultdict(list)
    for file in sorted(by_kind[Kind.V2_CHECKPOINT], key=lambda file: file.name, reverse=True):
        found[file.version].append(Checkpoint(file.version, (file,)))
    for checkpoint in _multi_part(by_kind[Kind.MULTI_PART_CHECKPOINT]):
        found[checkpoint.version].append(checkpoint)
    for file in by_kind[Kind.CHECKPOINT]:
        found[file.version].append(Checkpoint(file.version, (file,)))
    return {version: tuple(found[version]) for version in sorted(found)}


def _multi_part(files: Iterable[LogFile]) -> list[Checkpoint]:
    """Those of which all parts are there, the most parts first: Delta ignores the others."""
    parts: defaultdict[tuple[int, int], dict[int, LogFile]] = defaultdict(dict)
    for file in files:
        parts[file.version, file.parts][file.part] = file
    return [
        Checkpoint(version, tuple(found[part] for part in sorted(found)))
        for (version, count), found in sorted(parts.items(), reverse=True)
        if len(found) == count > 0
    ]
