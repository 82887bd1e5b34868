"""How far a stream has come, as its own files say.

Sources: DeltaSourceOffset.scala, DeltaSourceMetadataTrackingLog.scala; measured on Delta 4.4.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta.engine import Release
from schemalint.delta.stream_history import commits_since
from schemalint.delta.streams import StreamCommit, StreamEffect, StreamVerdict, effect_on_stream
from schemalint.delta.table import LiveTable, Metadata

BEFORE_CHANGE: Final = -20
"""The index of an offset before a version that changes the table's metadata, where a tracked stream stops."""

AFTER_CHANGE: Final = -19
"""The index of the offset after that stop: the stream's log has the version's metadata."""


@frozen
class StreamPosition:
    """The offset of a Delta source.

    Attributes:
        table_id: ``reservoirId``, the id of the table.
        version: ``reservoirVersion``, the version that is read next or in part.
        index: The last file that was read in that version; `BEFORE_CHANGE`, `AFTER_CHANGE`, or -1 for none.
        initial: Whether the stream still reads its first snapshot of the table.
    """

    table_id: str
    version: int
    index: int = -1
    initial: bool = False

    @property
    def next_version(self) -> int:
        """The first version whose changes of metadata the stream has not met yet."""
        return self.version + (self.initial or self.index == AFTER_CHANGE)


@frozen
class TrackedSchema:
    """An entry of a stream's schema log: the table as the stream reads it.

    Attributes:
        number: The name of the entry's file.
        version: ``deltaCommitVersion``; settings that unblock the stream name it.
        metadata: The table's schema and properties, with the features of the protocol.
        metadata_path: The path that the hash in the settings of the stream is made of.
        replaces: ``previousMetadataSeqNum``: the entry before it, if that is not `number` - 1.
    """

    number: int
    version: int
    metadata: Metadata
    metadata_path: str
    replaces: int | None = None


@frozen
class StreamDefect:
    """A fault of a stream's files, or of their place.

    Attributes:
        message: One sentence with the file and the line.
        help: What to do.
        delta_error: The error class with which the query fails; None if it runs or fails without a class.
        stops: Whether the query cannot start.
    """

    message: str
    help: str
    delta_error: str | None = None
    stops: bool = True


@frozen
class StreamProgress:
    """What a stream's checkpoint and schema log say.

    Attributes:
        position: Where the next batch begins; None if no batch was planned yet, or `unknown` says why.
        planned: Whether a batch was planned and not committed, so that the stream reads it again.
        current: The newest entry of the schema log; None without a log.
        previous: The entry before it, with which each start compares it.
        defects: The faults of the schema log and its place.
        unknown: Why the position, or the newest entry, is not known.
        help: What to do about that.
        to_meet: The commits of the table that the stream has still to meet; None if they are not known.
    """

    position: StreamPosition | None = None
    planned: bool = False
    current: TrackedSchema | None = None
    previous: TrackedSchema | None = None
    defects: tuple[StreamDefect, ...] = ()
    unknown: str | None = None
    help: str = ""
    to_meet: tuple[StreamCommit, ...] | None = None

    @property
    def is_known(self) -> bool:
        """Whether the files say which commits the stream has still to meet."""
        return self.unknown is None and not any(defect.stops for defect in self.defects)

    @property
    def last_version(self) -> int | None:
        """The last version that the stream has read whole; None if there is none."""
        position = self.position
        if position is None or position.version < 1:
            return None
        return position.version - 1

    @property
    def next_version(self) -> int | None:
        """The first version whose changes count for the stream; None if it has not started.

        A tracked stream ignores what its log has; a newly tracked one has no log yet.
        """
        if self.current is not None:
            return self.current.version + 1
        if self.position is None:
            return None
        return self.position.next_version


def effect_from(
    progress: StreamProgress,
    following: Sequence[StreamCommit] = (),
    *,
    tracked: bool,
    delta: Release | None = None,
) -> StreamEffect:
    """Return what a running stream meets from where it is: `StreamProgress.to_meet`, and what follows.

    Args:
        progress: The stream's progress.
        following: Commits after the table's newest version, such as those of a plan.
        tracked: Whether the stream is declared with a ``schemaTrackingLocation``.
        delta: As for `effect_on_stream`.

    Returns:
        The verdict is UNKNOWN if the files do not say enough, or the history does not reach back far enough.
    """
    if progress.to_meet is None:
        return StreamEffect(StreamVerdict.UNKNOWN, None)
    if progress.next_version is None:  # its first batch reads the table as it is then
        return StreamEffect(StreamVerdict.CONTINUES)
    commits = (*progress.to_meet, *following)
    effect = effect_on_stream(commits, tracked=tracked, running=True, delta=delta)
    if not tracked or not effect.stops:
        return effect
    # A query that waits at an entry has stopped for it already; without a log, the start that makes its first
    # entry stops too (measured on Delta 4.4.0).
    stops = effect.stops + (progress.current is None) - (_waits_at(progress) is not None)
    if not stops and effect.verdict is StreamVerdict.RESTARTS:
        return StreamEffect(StreamVerdict.CONTINUES)
    return replace(effect, stops=stops)


def commits_to_meet(progress: StreamProgress, table: LiveTable) -> tuple[StreamCommit, ...] | None:
    """Return the commits of a table that a stream has still to meet, oldest first.

    The newest entry of a schema log counts too, also if the stream has read beyond it: each start compares it
    with the entry before (measured on Delta 4.4.0).

    Returns:
        None if the history does not reach back to the stream, or the progress is not known.
    """
    if not progress.is_known:
        return None
    first = progress.next_version
    if first is None:
        return ()
    commits = commits_since(table, max(first - 1, 0))
    waiting = _waits_at(progress)
    if commits is None or waiting is None:
        return commits
    return (waiting, *commits)


def _waits_at(progress: StreamProgress) -> StreamCommit | None:
    """Return the step between the two newest entries, which each start looks at."""
    current, previous, position = progress.current, progress.previous, progress.position
    if current is None or previous is None or position is None:
        return None
    return StreamCommit(previous.metadata.state, current.metadata.state, version=current.version)
