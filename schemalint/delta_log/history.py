"""The changes of a table's metadata and protocol, as far back as its commits go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta.table import History, HistoryEntry, LogDefect, LogDefectKind
from schemalint.delta_log.actions import NOTHING, TableActions
from schemalint.delta_log.snapshot import metadata_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta_log.files import LogFiles
    from schemalint.delta_log.names import LogFile


def read_commits(files: LogFiles, version: int) -> None:
    """Read the commits that tell the history up to a version, the oldest first: stores may read ahead."""
    for at in files.listing.history(version):
        files.commit(at)


def read_history(files: LogFiles, version: int, newest: TableActions) -> History:
    """The history up to a version and its state, of the commits without a gap and without a damage.

    It starts with version 0, or with the oldest state after which all commits are there: that of a
    checkpoint, of a version checksum, or of the first commits that say everything. Log compactions are of no
    use: what was between is lost in them.
    """
    commits = files.listing.history(version)
    readable = next((at + 1 for at in reversed(commits) if files.commit(at) is None), commits.start)
    first = max(readable, files.forgotten + 1)
    if first == 0:
        return History(tuple(_entries(files, range(version + 1), NOTHING)), 0)
    start, state = _base(files, readable, first, version) or (version, newest)
    known = HistoryEntry(start, metadata=metadata_of(state), protocol=state.protocol)
    return History((known, *_entries(files, range(start + 1, version + 1), state)), start)


def _base(files: LogFiles, readable: int, first: int, version: int) -> tuple[int, TableActions] | None:
    """The oldest known state from which the commits lead to a version.

    Args:
        files: The log.
        readable: From that version on the commits can be read,
        first: and from that one on their metadata is kept.
        version: The newest.
    """
    listing = files.listing
    for at in (at for at in listing.checkpoints if first - 1 <= at <= version):
        if state := files.checkpoint(at):
            return at, state
    for at in (at for at in listing.checksums if first - 1 <= at <= version):
        if (state := files.checksum(at)) and state.is_complete:
            return at, state
    state = NOTHING
    for at in range(readable, version + 1):
        state = (files.commit(at) or NOTHING).over(state)
        if state.is_complete:
            return at, state
    return None


def _entries(files: LogFiles, versions: range, state: TableActions) -> Iterator[HistoryEntry]:
    """An entry for every commit that changed the table; the newest checkpoint is compared on the way."""
    compared = files.listing.newest_checkpoint
    for at in versions:
        found = files.commit(at) or NOTHING
        if not found.is_empty:
            state = found.over(state)
            yield _entry(files.listing.commits[at], found, state)
        if at == compared:
            _compare_checkpoint(files, at, state)


def _entry(file: LogFile, found: TableActions, after: TableActions) -> HistoryEntry:
    """A commit's entry; its metadata is the table's after it, if it changed metadata or clustering."""
    changed = found.metadata is not None or found.clustering is not None
    info = found.info
    return HistoryEntry(
        version=file.version,
        timestamp=file.modified_ms if info.timestamp is None else info.timestamp,
        operation=info.operation,
        parameters=info.parameters,
        user=info.user,
        engine=info.engine,
        user_metadata=info.user_metadata,
        metadata=metadata_of(after) if changed else None,
        protocol=found.protocol,
        removes_files=found.removes_files,
    )


def _compare_checkpoint(files: LogFiles, version: int, state: TableActions) -> None:
    """Delta's readers take the checkpoint for what the commits up to it say, and would not notice."""
    held = files.checkpoint(version)
    if held is None or not (parts := state.differences(held)):
        return
    files.defects.append(
        LogDefect(
            LogDefectKind.CHECKPOINT_DIFFERS,
            f"the checkpoint says something else than the commits up to it: {', '.join(parts)}",
            files.name_of(held),
        )
    )
