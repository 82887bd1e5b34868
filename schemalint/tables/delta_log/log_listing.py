"""List the files of a log, and the versions that they reach (Delta's SnapshotManagement.scala).

The newest state needs the files since the newest checkpoint. ``_last_checkpoint`` tells where they begin; it
may be stale, missing or damaged, and then the whole log is listed, as for a history.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field  # noqa: TID251 (__post_init__)
from itertools import islice, pairwise, takewhile
from typing import Final

from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.file_names import MAX_VERSION, Kind, LogFile, log_file
from schemalint.tables.delta_log.jsontext import JsonError, read_json_object
from schemalint.tables.delta_log.store import DamagedFile, LogStore, NoTable

LAST_CHECKPOINT: Final = "_last_checkpoint"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint with all its files: the parts in order, or the single file."""

    version: int
    files: tuple[LogFile, ...]


@dataclass(frozen=True, slots=True)
class Gap:
    """A range of missing commits, from the first to the last."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a log by version; all mappings are ordered oldest first.

    Attributes:
        checkpoints: The complete checkpoints of each version, in Delta's order of preference.
        last_checkpoint: The pointer to the last checkpoint, if the whole log was listed.
        missing_parts: By version, the parts that a multi-part checkpoint lacks, such as ``1 of its 3 parts``.
        first: The first version that was listed.
    """

    uri: str
    commits: Mapping[int, LogFile]
    checkpoints: Mapping[int, tuple[Checkpoint, ...]]
    compactions: tuple[LogFile, ...] = ()
    checksums: Mapping[int, LogFile] = field(default_factory=dict)
    last_checkpoint: LogFile | None = None
    missing_parts: Mapping[int, str] = field(default_factory=dict)
    first: int = 0
    # Sorted once for binary search: a log may have very many gaps.
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
        if self._checkpointed:
            return self._checkpointed[-1]
        return -1

    @property
    def latest(self) -> int:
        """The newest version, of a commit or of a checkpoint whose commit is missing."""
        return self._versions[-1]

    def newest_before(self, version: int) -> int | None:
        """Return the newest version before the given one, None if the log has none."""
        index = bisect_left(self._versions, version)
        if index:
            return self._versions[index - 1]
        return None

    def checkpoint_before(self, version: int) -> int:
        """Return the version of the newest checkpoint up to the given version, -1 if there is none."""
        index = bisect_right(self._checkpointed, version)
        if index:
            return self._checkpointed[index - 1]
        return -1

    def checksums_of(self, first: int, last: int) -> tuple[int, ...]:
        """Return the versions with a checksum in the range, both ends included."""
        return self._summed[bisect_left(self._summed, first) : bisect_right(self._summed, last)]

    def history(self, version: int) -> range:
        """Return the contiguous commits up to a version: all, or those after the oldest usable checkpoint."""
        first = version + 1
        while first - 1 in self.commits:
            first -= 1
        starts = [checkpoint for checkpoint in self.checkpoints if first - 1 <= checkpoint <= version]
        return range(min(starts) + 1 if first and starts else first, version + 1)

    def gaps(self, version: int) -> tuple[Gap, ...]:
        """Return the missing commits between the newest checkpoint and the given version.

        Commits before the newest checkpoint may be missing: Delta cleans up the log.
        """
        start = self.checkpoint_before(version)
        present = [start, *(commit for commit in self.commits if start < commit <= version)]
        return tuple(Gap(before + 1, after - 1) for before, after in pairwise(present) if after - before > 1)

    def compaction(self, version: int, newest: int) -> LogFile | None:
        """Return a log compaction that contains the version and nothing after the newest one."""
        start = bisect_left(self.compactions, version, key=_end)
        candidates = takewhile(lambda file: file.end <= newest, islice(self.compactions, start, None))
        return next((file for file in candidates if file.version <= version), None)


def list_log(store: LogStore, first: int = 0) -> Listing:
    """List the files of a log.

    Raises:
        NoTable: There is no log, or it has neither a commit nor a checkpoint.
        LiveError: The log cannot be listed.
    """
    listing = _listing(store, first)
    if not (listing.commits or listing.checkpoints):
        raise NoTable(f"{store.uri}: there is no Delta table: its log has neither commits nor checkpoints")
    return listing


def list_newest(store: LogStore) -> Listing:
    """List the files of a log from the checkpoint on that ``_last_checkpoint`` names, or from a newer one.

    If there is no such checkpoint, Spark looks for an older one; then all files are listed.

    Raises:
        NoTable, LiveError: As `list_log`.
    """
    first = _pointed_version(store)
    if first > 0:
        listing = _listing(store, first)
        if listing.checkpoints:
            return listing
    return list_log(store)


def _pointed_version(store: LogStore) -> int:
    """Return the version that ``_last_checkpoint`` names, -1 without one."""
    try:
        text = store.find(LAST_CHECKPOINT)
        content = {} if text is None else read_json_object(text, log_limits.MAX_SIZE)
    except (DamagedFile, JsonError):
        return -1
    version = content.get("version")
    if type(version) is int and version <= MAX_VERSION:
        return version
    return -1


def _listing(store: LogStore, first: int) -> Listing:
    by_kind: defaultdict[Kind, list[LogFile]] = defaultdict(list)
    for entry in store.list(first=f"{first:020}" if first else ""):
        file = log_file(entry.name, entry.modified_ms, entry.size)
        if file and file.version >= first:
            by_kind[file.kind].append(file)
    return Listing(
        store.uri,
        commits=_by_version(by_kind[Kind.COMMIT]),
        checkpoints=_checkpoints(by_kind),
        compactions=_longest(by_kind[Kind.COMPACTED]),
        checksums=_by_version(by_kind[Kind.CHECKSUM]),
        last_checkpoint=next(iter(by_kind[Kind.LAST_CHECKPOINT]), None),
        missing_parts=_missing_parts(by_kind[Kind.MULTI_PART_CHECKPOINT]),
        first=first,
    )


def _longest(compactions: Iterable[LogFile]) -> tuple[LogFile, ...]:
    """Keep the longest compaction for each last version, ordered by last version."""
    shortest_first = sorted(
        (file for file in compactions if file.version <= file.end), key=lambda file: -file.version
    )
    return tuple(sorted({file.end: file for file in shortest_first}.values(), key=_end))


def _end(file: LogFile) -> int:
    return file.end


def _by_version(files: Iterable[LogFile]) -> dict[int, LogFile]:
    return {file.version: file for file in sorted(files, key=lambda file: file.version)}


def _checkpoints(by_kind: defaultdict[Kind, list[LogFile]]) -> dict[int, tuple[Checkpoint, ...]]:
    """Return all complete checkpoints: V2, then multi-part, then classic, as in Checkpoints.scala."""
    by_version: defaultdict[int, list[Checkpoint]] = defaultdict(list)
    for file in sorted(by_kind[Kind.V2_CHECKPOINT], key=lambda file: file.name, reverse=True):
        by_version[file.version].append(Checkpoint(file.version, (file,)))
    for checkpoint in _multi_part(by_kind[Kind.MULTI_PART_CHECKPOINT]):
        by_version[checkpoint.version].append(checkpoint)
    for file in by_kind[Kind.CHECKPOINT]:
        by_version[file.version].append(Checkpoint(file.version, (file,)))
    return {version: tuple(by_version[version]) for version in sorted(by_version)}


def _multi_part(files: Iterable[LogFile]) -> list[Checkpoint]:
    """Return the checkpoints with all their parts, most parts first; Delta ignores incomplete checkpoints."""
    return [
        Checkpoint(version, tuple(parts[part] for part in sorted(parts)))
        for (version, count), parts in sorted(_parts(files).items(), reverse=True)
        if len(parts) == count > 0
    ]


def _missing_parts(files: Iterable[LogFile]) -> dict[int, str]:
    return {
        version: f"{count - len(parts)} of its {count} parts"
        for (version, count), parts in _parts(files).items()
        if len(parts) < count
    }


def _parts(files: Iterable[LogFile]) -> dict[tuple[int, int], dict[int, LogFile]]:
    """Group the parts of checkpoints by version and number of parts."""
    by_checkpoint: defaultdict[tuple[int, int], dict[int, LogFile]] = defaultdict(dict)
    for file in files:
        by_checkpoint[file.version, file.parts][file.part] = file
    return by_checkpoint
