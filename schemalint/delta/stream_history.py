"""The commits of a table's history, as the streams that read it look at them."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.values import replace
from schemalint.delta.history import HistoryStep, steps
from schemalint.delta.streams import StreamCommit, compared, runs
from schemalint.delta.table import History, LiveTable, TableState
from schemalint.delta.type_history import replaces_all_files


def commits_since(table: LiveTable, version: int) -> tuple[StreamCommit, ...] | None:
    """Return the commits after a version that changed metadata or protocol.

    Data commits between them are missing; the gap in the versions tells where they are.

    Args:
        table: The table; only the commits after the version are read.
        version: The last version that the stream has read.

    Returns:
        The commits; None if the log no longer has the state at that version.

    Raises:
        LiveError: The log cannot be read.
    """
    history = table.history_since(version)
    if version < history.known_from:
        return None
    later = (step for step in steps(history) if step.entry.version > version)
    return tuple(commit for step in later if (commit := _stream_commit(step)) is not None)


def _stream_commit(step: HistoryStep) -> StreamCommit | None:
    """Return a commit of a history; None for the first known one, before which nothing is known."""
    entry = step.entry
    if step.before is None or step.protocol_before is None:
        return None
    # The protocol defines the features; a state repeats them.
    before = replace(step.before.state, features=step.protocol_before.features)
    after = replace(
        (entry.metadata or step.before).state, features=(entry.protocol or step.protocol_before).features
    )
    # A commit that only clusters has neither metadata nor a protocol.
    only_clusters = entry.protocol is None and _only_clusters(before, after)
    metadata_only = not (entry.adds_files or entry.removes_files or only_clusters)
    new_id = entry.metadata is not None and entry.metadata.table_id != step.before.table_id
    replaces_rows = entry.metadata is not None and entry.removes_files and replaces_all_files(entry)
    return StreamCommit(
        before,
        after,
        metadata_only=metadata_only,
        version=entry.version,
        new_id=new_id,
        replaces_rows=replaces_rows,
    )


def stops_tracked_streams(step: HistoryStep) -> bool:
    """Return whether a commit by itself stops a stream that tracks the schema."""
    commit = _stream_commit(step)
    if commit is None:
        return False
    return commit.new_id or commit.replaces_rows or compared(commit.after) != compared(commit.before)


def stops_of_tracked_streams(history: History) -> Iterator[int]:
    """Yield the versions at which a stream stops that tracks the schema, and reads the whole history.

    What directly follows such a version joins its stop, as in `effect_on_stream`.
    """
    commits = [commit for step in steps(history) if (commit := _stream_commit(step)) is not None]
    for run in runs(commits) if commits else ():
        entry = compared(run[0].before)
        differing = (commit for commit in run if compared(commit.after) != entry)
        if (commit := next(differing, None)) is not None and commit.version is not None:
            yield commit.version


def _only_clusters(before: TableState, after: TableState) -> bool:
    return before != after and replace(before, clustered_by=after.clustered_by) == after
