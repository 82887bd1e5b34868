"""Read the history of a table's metadata and protocol, as far back as its commits reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.delta.table import History, HistoryEntry, LogDefect, LogDefectKind
from schemalint.tables.delta_log.actions import NOTHING, TableActions
from schemalint.tables.delta_log.state import MissingCommit, metadata_of, state_at
from schemalint.tables.delta_log.store import DamagedFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.tables.delta_log.files import LogFiles
    from schemalint.tables.delta_log.names import LogFile


def read_commits(files: LogFiles, first: int, version: int) -> None:
    """Read the commits of a range of versions, all requested at once."""
    commits = {at: file for at, file in files.listing.commits.items() if first <= at <= version}
    files.expect(commits.values())
    for commit in commits:
        files.commit(commit)


def read_history(files: LogFiles, version: int, newest: TableActions, since: int = 0) -> History:
    """Return the history up to a version, whose state is given, from contiguous readable commits.

    The history starts at `since`, or at the oldest known state that all later commits follow: a checkpoint, a
    version checksum, or the first commits that together are complete. Log compactions are not used, because
    they merge the commits of the history.
    """
    commits = files.listing.history(version)
    commits = range(max(commits.start, since + 1), version + 1) if since else commits
    read_commits(files, commits.start, version)
    readable = next(
        (commit + 1 for commit in reversed(commits) if files.commit(commit) is None), commits.start
    )
    first = max(readable, files.newest_dropped + 1)
    if first == 0:
        return History(tuple(_entries(files, range(version + 1), NOTHING)), 0)
    start, state = _oldest_state(files, readable, first, version) or (version, newest)
    return _history_from(files, start, version, state)


def history_since(files: LogFiles, since: int, version: int, newest: TableActions) -> History | None:
    """Return the history from one version to another, whose state is given.

    Returns:
        None if a commit cannot be read, or if the listed files do not tell the older state.
    """
    commits = range(since + 1, version + 1)
    if not all(commit in files.listing.commits for commit in commits):
        return None
    read_commits(files, since + 1, version)
    actions = [files.commit(commit) for commit in commits]
    if None in actions or files.newest_dropped > since:
        return None
    if all(commit is None or commit.is_empty for commit in actions):
        return _history_from(files, since, version, newest)
    try:
        state = state_at(files, since)
    except (MissingCommit, DamagedFile):
        return None
    return _history_from(files, since, version, state) if state.is_complete else None


def _history_from(files: LogFiles, start: int, version: int, state: TableActions) -> History:
    oldest = HistoryEntry(start, metadata=metadata_of(state), protocol=state.protocol)
    return History((oldest, *_entries(files, range(start + 1, version + 1), state)), start)


def _oldest_state(
    files: LogFiles, readable: int, first: int, version: int
) -> tuple[int, TableActions] | None:
    """Return the oldest known state from which readable commits lead to a version, with its version.

    Args:
        files: The log.
        readable: The first version from which all commits are readable.
        first: The first version from which all metadata is kept in memory.
        version: The newest version of the history.
    """
    listing = files.listing
    for at in (checkpoint for checkpoint in listing.checkpoints if first - 1 <= checkpoint <= version):
        if state := files.checkpoint(at):
            return at, state
    for at in (checksum for checksum in listing.checksums if first - 1 <= checksum <= version):
        if (state := files.checksum(at)) and state.is_complete:
            return at, state
    state = NOTHING
    for at in range(readable, version + 1):
        state = (files.commit(at) or NOTHING).completed_by(state)
        if state.is_complete:
            return at, state
    return None


def _entries(files: LogFiles, versions: range, state: TableActions) -> Iterator[HistoryEntry]:
    """Yield an entry for each commit that changed the table, and compare the newest checkpoint."""
    compared = files.listing.newest_checkpoint
    for version in versions:
        actions = files.commit(version) or NOTHING
        if not actions.is_empty:
            state = actions.completed_by(state)
            yield _entry(files.listing.commits[version], actions, state)
        if version == compared:
            _compare_checkpoint(files, version, state)


def _entry(file: LogFile, actions: TableActions, after: TableActions) -> HistoryEntry:
    """Return a commit's entry; it has the table's metadata if the commit changed metadata or clustering."""
    changed = actions.metadata is not None or actions.clustering is not None
    info = actions.info
    return HistoryEntry(
        version=file.version,
        timestamp=file.modified_ms if info.timestamp is None else info.timestamp,
        operation=info.operation,
        parameters=info.parameters,
        user=info.user,
        engine=info.engine,
        user_metadata=info.user_metadata,
        metadata=metadata_of(after) if changed else None,
        protocol=actions.protocol,
        removes_files=actions.removes_files,
        adds_files=actions.adds_files,
    )


def _compare_checkpoint(files: LogFiles, version: int, state: TableActions) -> None:
    """Record a checkpoint that contradicts the commits; Delta's readers trust it and do not notice."""
    checkpoint = files.checkpoint(version)
    if checkpoint is None or not (parts := state.differences(checkpoint)):
        return
    files.defects.append(
        LogDefect(
            LogDefectKind.CHECKPOINT_DIFFERS,
            f"the checkpoint contradicts the commits up to it: {', '.join(parts)}",
            files.name_of(checkpoint),
        )
    )
