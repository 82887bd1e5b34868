"""The history of a table, commit by commit."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from functools import partial

from schemalint.base.phrases import affixed
from schemalint.base.values import frozen, replace
from schemalint.delta.change import (
    Change,
    FeatureChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    TypeChanged,
)
from schemalint.delta.datatype import DataType
from schemalint.delta.diff import diff
from schemalint.delta.path import Path, is_within, lowercased
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import History, HistoryEntry, LiveTable, Metadata


@frozen
class HistoryStep:
    """A commit that changed metadata or protocol, with the table's state before it.

    Attributes:
        before: The metadata before the commit; None for the first known commit.
        superseded: Whether the commit no longer matters to any live data file: all are newer, or the schema
            has been as before the commit since.
        max_column_id: The highest ``delta.columnMapping.maxColumnId`` before the commit, 0 without one.
        stored_paths: The physical paths of columns, in lower case, that live data files from before the
            commit hold; empty for a table that never had column mapping.
        has_unmapped_files: Whether a live data file was written before the commit and without column mapping.
    """

    entry: HistoryEntry
    before: Metadata | None = None
    protocol_before: Protocol | None = None
    superseded: bool = False
    max_column_id: int = 0
    stored_paths: frozenset[Path] = frozenset()
    has_unmapped_files: bool = False

    @property
    def title(self) -> str:
        """The commit for messages: ``version 5 (CHANGE COLUMN, 2026-11-20 10:00:00 UTC, by anna)``."""
        entry = self.entry
        parts = (entry.operation, utc_text(entry.timestamp), affixed("by ", entry.user))
        details = ", ".join(filter(None, parts))
        return f"version {entry.version}{affixed(' (', details, ')')}"


@frozen
class CommittedTypeChange:
    """A type change, with the commit that made it."""

    old: DataType
    new: DataType
    entry: HistoryEntry


def utc_text(timestamp: int | None) -> str:
    """Format milliseconds since the epoch as a time in UTC; empty for None and impossible years."""
    if timestamp is None:
        return ""
    try:
        time = dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(milliseconds=timestamp)
    except OverflowError:
        return ""
    return f"{time:%Y-%m-%d %H:%M:%S} UTC"


def steps(history: History) -> Iterator[HistoryStep]:
    """Yield each commit of a history with the state before it, oldest first."""
    metadata: Metadata | None = None
    protocol: Protocol | None = None
    for entry in history.entries:
        yield HistoryStep(entry, metadata, protocol)
        metadata = entry.metadata or metadata
        protocol = entry.protocol or protocol


def history_from(history: History, version: int) -> History:
    """Return a history from a version on; its first entry is the complete state at that version."""
    if version <= history.known_from:
        return history
    past = [entry for entry in history.entries if entry.version <= version]
    metadata = next((entry.metadata for entry in reversed(past) if entry.metadata), None)
    protocol = next((entry.protocol for entry in reversed(past) if entry.protocol), None)
    if metadata is not None and protocol is not None:  # an earlier commit may have changed the protocol alone
        metadata = replace(metadata, state=replace(metadata.state, features=protocol.features))
    later = (entry for entry in history.entries if entry.version > version)
    return History((HistoryEntry(version, metadata=metadata, protocol=protocol), *later), version)


def without_history(table: LiveTable) -> LiveTable:
    """Return a table with its whole history as one that was read without it."""
    return replace(
        table,
        history=History(known_from=table.version),
        defects=tuple(defect for defect in table.defects if not defect.only_history),
        older=partial(history_from, table.history),
    )


def changes(step: HistoryStep) -> tuple[Change, ...]:
    """Return the changes of a commit; none if the state before it is unknown."""
    if step.before is None or step.protocol_before is None:
        return ()
    old = step.protocol_before.features
    new = step.entry.protocol.features if step.entry.protocol else old
    added, removed = sorted(new - old), sorted(old - new)
    features = [FeatureChanged(name, name in new) for name in (*added, *removed)]
    if step.entry.metadata is None:
        return tuple(features)
    # The protocol defines the features; a state repeats them.
    before, after = (replace(metadata.state, features=new) for metadata in (step.before, step.entry.metadata))
    return (*diff(before, after), *features)


def type_history(history: History) -> dict[Path, tuple[CommittedTypeChange, ...]]:
    """Return the type changes by current lower-case path, oldest first."""
    by_path: dict[Path, tuple[CommittedTypeChange, ...]] = {}
    for step in steps(history):
        for change in changes(step):
            match change:
                case FieldAdded(path=path) | FieldRemoved(path=path):
                    by_path = {
                        key: value for key, value in by_path.items() if not is_within(key, lowercased(path))
                    }
                case FieldRenamed(path=path, old_name=name):
                    by_path = _renamed(by_path, lowercased((*path[:-1], name)), lowercased(path))
                case TypeChanged(path=path, old=old, new=new):
                    key = lowercased(path)
                    by_path[key] = (*by_path.get(key, ()), CommittedTypeChange(old, new, step.entry))
                case _:
                    pass
    return by_path


def _renamed(
    by_path: dict[Path, tuple[CommittedTypeChange, ...]], old: Path, new: Path
) -> dict[Path, tuple[CommittedTypeChange, ...]]:
    return {(*new, *key[len(old) :]) if is_within(key, old) else key: value for key, value in by_path.items()}
