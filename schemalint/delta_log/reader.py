"""A table as its log tells it: the snapshot at a version, and how it came to be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from schemalint.delta_log.actions import ActionError, TableActions
from schemalint.delta_log.checkpoint import read_checkpoint
from schemalint.delta_log.commit import parse_commit
from schemalint.delta_log.segment import list_log
from schemalint.delta_log.snapshot import metadata_of
from schemalint.errors import LiveError
from schemalint.model.feature import FEATURES
from schemalint.model.protocol import Protocol
from schemalint.model.table import History, HistoryEntry, LiveTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta_log.names import LogFile
    from schemalint.delta_log.segment import Listing, LogSegment
    from schemalint.delta_log.store import LogStore

_CATALOG_MANAGED: Final = "catalogManaged"


def read_table(store: LogStore, *, version: int | None = None, history: bool = True) -> LiveTable:
    """Read a table's log.

    Args:
        store: The log.
        version: The version to read, the latest by default.
        history: Whether all commits up to it are read, as far back as the log goes. If it does not go back to
            version 0, the history's first entry is the state of the oldest usable checkpoint, without a time
            and an operation. Without history only what leads to the snapshot is read.

    Raises:
        NoTable: There is no log.
        LiveError: The version does not exist, or the log cannot be read.
    """
    listing = list_log(store)
    version = _existing(listing, version)
    if history:
        segment = listing.history(version)
        actions, entries = _replayed(store, segment)
        known = History(entries, segment.checkpoint.version if segment.checkpoint else 0)
    else:
        actions = _latest(store, listing.snapshot(version))
        known = History(known_from=version)
    metadata = metadata_of(actions)
    if metadata is None or actions.protocol is None:
        lacking = "metaData" if metadata is None else "protocol"
        raise LiveError(
            f"{store.uri}: there is no {lacking} action in the log up to version {version}",
            help="The log is damaged: every table has one from its first commit on.",
        )
    warnings = (*actions.warnings, *_warnings(actions.protocol))
    return LiveTable(store.uri, version, actions.protocol, metadata, known, warnings)


def _existing(listing: Listing, version: int | None) -> int:
    if version is None:
        return listing.latest
    if not 0 <= version <= listing.latest:
        raise LiveError(
            f"{listing.uri}: version {version} does not exist, the latest is {listing.latest}",
            help="Versions count from 0.",
        )
    return version


def _latest(store: LogStore, segment: LogSegment) -> TableActions:
    """The snapshot, newest file first, until nothing older can add anything."""
    actions = TableActions()
    for file in reversed(segment.commits):
        actions = actions.over(_commit(store, file))
        if actions.is_complete:
            return actions
    return actions.over(_checkpoint(store, segment.checkpoint)) if segment.checkpoint else actions


def _replayed(store: LogStore, segment: LogSegment) -> tuple[TableActions, tuple[HistoryEntry, ...]]:
    """The snapshot, oldest file first, with an entry for every commit that changed the table."""
    actions = TableActions()
    entries: list[HistoryEntry] = []
    if segment.checkpoint:
        actions = _checkpoint(store, segment.checkpoint)
        start = segment.checkpoint.version
        entries.append(HistoryEntry(start, metadata=metadata_of(actions), protocol=actions.protocol))
    for file in segment.commits:
        found = _commit(store, file)
        if not found.is_empty:
            actions = found.over(actions)
            entries.append(_entry(file, found, actions))
    return actions, tuple(entries)


def _entry(file: LogFile, found: TableActions, after: TableActions) -> HistoryEntry:
    """A commit's entry; its metadata is the table's after it, if it changed metadata or clustering."""
    changed = found.metadata is not None or found.clustering is not None
    return HistoryEntry(
        version=file.version,
        timestamp=file.modified_ms if found.info.timestamp is None else found.info.timestamp,
        operation=found.info.operation,
        user_metadata=found.info.user_metadata,
        metadata=metadata_of(after) if changed else None,
        protocol=found.protocol,
    )


def _commit(store: LogStore, file: LogFile) -> TableActions:
    try:
        return _with_place(parse_commit(store.read(file.name)), file)
    except ActionError as error:
        raise LiveError(
            f"{store.uri}/_delta_log/{file.name}, line {error.line}: {error}",
            help="The commit is damaged: restore the file, or repair the table with Delta's own tools.",
        ) from None


def _checkpoint(store: LogStore, file: LogFile) -> TableActions:
    return _with_place(read_checkpoint(store, file.name), file)


def _with_place(actions: TableActions, file: LogFile) -> TableActions:
    said = actions.warnings
    if actions.metadata and actions.metadata.schema is None:
        said = (*said, "its metaData has no schemaString, so the table has no columns")
    return replace(actions, warnings=tuple(f"{file.name}: {text}" for text in said)) if said else actions


def _warnings(protocol: Protocol) -> Iterator[str]:
    if unknown := sorted(protocol.reader_features - FEATURES.keys()):
        yield (
            f"readers of the table must support {', '.join(unknown)}, which this version of schemalint does "
            "not know: the log may mean something else"
        )
    if _CATALOG_MANAGED in protocol.reader_features:
        yield "the table is managed by a catalog: its log may be older than what the catalog holds"
