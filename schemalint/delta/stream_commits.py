"""The commits of a live table's history, as streams look at them."""

from __future__ import annotations

from schemalint.delta.history import steps
from schemalint.delta.streams import StreamCommit
from schemalint.delta.table import LiveTable, TableState
from schemalint.values import replace


def commits_since(table: LiveTable, version: int) -> tuple[StreamCommit, ...] | None:
    """Return the commits after a version that changed metadata or protocol.

    Data commits between them are missing; the gap in the versions tells where they are.

    Args:
        table: The table with its history.
        version: The last version that the stream has read.

    Returns:
        The commits; None if the log no longer has the state at that version.
    """
    if version < table.history.known_from:
        return None
    found: list[StreamCommit] = []
    for step in steps(table.history):
        entry = step.entry
        if entry.version <= version or step.before is None or step.protocol_before is None:
            continue
        protocol = entry.protocol or step.protocol_before
        before = replace(step.before.state, features=step.protocol_before.features)
        after = replace((entry.metadata or step.before).state, features=protocol.features)
        # A commit that only clusters has neither action.
        is_clustering = entry.protocol is None and _is_clustering(before, after)
        has_files = entry.adds_files or entry.removes_files
        metadata_only = not (has_files or is_clustering)
        found.append(StreamCommit(before, after, metadata_only=metadata_only, version=entry.version))
    return tuple(found)


def _is_clustering(before: TableState, after: TableState) -> bool:
    return before != after and replace(before, clustered_by=after.clustered_by) == after
