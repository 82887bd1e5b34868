"""Read a table from its log: the snapshot at a version, and the history that leads to it.

A snapshot is state, not history: this reads what Spark reads for the newest version, some ten requests
however long the log is. Where a file of these is missing or damaged, the whole log is listed, so a lie of the
pointer changes no answer; a property test compares both ways of reading on damaged logs. Older commits are
read when something asks. A table keeps no open connection: the log is opened again for them.

A damaged or missing file that the answer does not need is a `LogDefect`; one that Spark does not read for the
newest version is marked (`only_history`). A checksum that contradicts the log is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.base.values import grouped, replace
from schemalint.delta.feature import CATALOG_MANAGED, FEATURES, OTHER_NAMES
from schemalint.delta.protocol import Protocol
from schemalint.delta.schema_history import may_misfit_files
from schemalint.delta.table import History, LiveTable, LogDefect
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import TableActions
from schemalint.tables.delta_log.log_files import (
    LogFiles,
    checksum_defects,
    gap_defects,
    metadata_defects,
    pointer_warnings,
    sidecar_defects,
)
from schemalint.tables.delta_log.log_listing import Listing, list_log, list_newest
from schemalint.tables.delta_log.state_at_version import (
    history_since,
    metadata_of,
    newest_state,
    read_commits,
    read_history,
    state_at,
)
from schemalint.tables.delta_log.store import LogStore
from schemalint.tables.delta_log.timetravel import file_versions, timestamp_defects, version_at
from schemalint.tables.delta_log.told_values import told_bytes

POSSIBLY_STALE: Final = (
    "the table is catalog-managed: the catalog may know commits that the log does not have yet"
)
"""The warning about a log whose newest commits may be known only to the catalog."""


def read_table(
    store: LogStore,
    *,
    version: int | None = None,
    at: int | None = None,
    history: bool = True,
    reopen: Callable[[], LogStore] | None = None,
) -> LiveTable:
    """Read a table's log.

    A damaged log, which other readers refuse, is read as far as possible; ``LiveTable.defects`` lists the
    damage.

    Args:
        store: The log.
        version: The version to read, by default the latest; if a commit is missing, the newest known version.
        at: An instant in milliseconds since the epoch, in place of a version: read the newest version
            committed by then.
        history: Whether to read all commits up to the version, back to the first gap or damaged commit. If
            the history does not reach version 0, its first entry is the oldest known state, without time and
            operation. Without history, the files are read that Spark reads for the snapshot: the newest
            checkpoint and the commits since; `LiveTable.history_since` reads older ones.
        reopen: Opens the log for that; None keeps it open.

    Raises:
        NoTable: There is no log.
        DamagedFile: A file that the version needs cannot be parsed.
        LiveError: The version does not exist or cannot be reconstructed, or the log cannot be fetched.
    """
    newest = version is None and at is None
    files = LogFiles(store, list_newest(store) if newest and not history else list_log(store))
    if at is not None:
        latest = files.listing.latest
        _expect_state(files, files.listing.checkpoint_before(latest), latest)
        _version, state = newest_state(files, latest)
        version = version_at(store, files.listing, state, at)
    requested = _existing(files.listing, version)
    _read_as_spark_does(files, requested, history=history)
    newest_version, state = (
        newest_state(files, requested) if newest else (requested, state_at(files, requested))
    )
    table = _table(files, requested, newest_version, state, history=history)
    if history:
        return table
    open_log = reopen if reopen is not None else lambda: store  # with it, the table does not keep the store
    commits = _OlderCommits(files, newest_version, state, reopen)
    return replace(
        table,
        older=commits.history_since,
        older_writers=commits.writers_since,
        size=cache(lambda: told_bytes(open_log(), requested)),
    )


def _read_as_spark_does(files: LogFiles, requested: int, *, history: bool) -> None:
    """Read the newest checkpoint and all commits since, also if some of them suffice: Spark reads all.

    If one is missing or damaged, older files may replace it. Without history, metadata that a newer commit
    replaces is not looked into.
    """
    start = files.listing.checkpoint_before(requested)
    _expect_state(files, start, requested)
    read_commits(files, start + 1, requested, history=history)
    files.checkpoint(start)
    if files.has_failed or files.listing.gaps(requested):
        files.widen(0)


def _expect_state(files: LogFiles, start: int, version: int) -> None:
    """Request the newest checkpoint, the commits since, and the files that the state is compared with."""
    listing = files.listing
    checkpoint = next(iter(listing.checkpoints.get(start, ())), None)
    commits = [file for at, file in listing.commits.items() if start < at <= version]
    compared = (listing.checksums.get(version), listing.last_checkpoint)
    files.expect((*(checkpoint.files if checkpoint else ()), *reversed(commits), *compared))


def _existing(listing: Listing, version: int | None) -> int:
    if version is None:
        return listing.latest
    if not 0 <= version <= listing.latest:
        raise LiveError(
            f"{listing.uri}: version {version} does not exist, the latest is {listing.latest}",
            help="Versions count from 0.",
        )
    return version


def _table(files: LogFiles, requested: int, version: int, state: TableActions, *, history: bool) -> LiveTable:
    metadata = metadata_of(state)
    if metadata is None or state.protocol is None:
        missing = "metaData" if metadata is None else "protocol"
        raise LiveError(
            f"{files.store.uri}: there is no {missing} action in the log up to version {version}",
            help="The log is damaged: the first commit of every table has this action.",
        )
    of_state = tuple(files.defects)
    entries = _history(files, version, state) if history else History(known_from=version)
    pointer = pointer_warnings(files) if history else ()
    of_history = files.defects[len(of_state) :]
    defects = (
        *of_state,
        *(replace(defect, only_history=True) for defect in of_history),
        *gap_defects(files, requested, version),
        *sidecar_defects(files, requested, state),
        *checksum_defects(files, version, state),
        *metadata_defects(files, state),
        *timestamp_defects(files, version, state),
    )
    left_out = _left_out(files, entries) if history else ()
    warnings = (*pointer, *_warnings(state.protocol), *left_out, *files.warnings)
    return LiveTable(
        files.store.uri,
        version,
        state.protocol,
        metadata,
        entries,
        warnings,
        _limited(sorted(defects, key=_order)),
        transactions=state.transactions,
        writers=files.writers(),
    )


def _history(files: LogFiles, version: int, state: TableActions) -> History:
    """Read the history; only if its schemas may not fit older files, find out which files are live."""
    entries = read_history(files, version, state)
    if not may_misfit_files(entries):
        return entries
    return replace(entries, file_versions=file_versions(files.store, files.listing, entries, version))


def _limited(defects: Iterable[LogDefect]) -> tuple[LogDefect, ...]:
    """Keep some defects of each kind; the last defect of a kind counts those left out."""
    by_kind = grouped((defect.kind, defect) for defect in defects)
    kept = (defect for same_kind in by_kind.values() for defect in _shortened(same_kind))
    return tuple(sorted(kept, key=_order))


def _shortened(defects: Sequence[LogDefect]) -> Sequence[LogDefect]:
    more = len(defects) - log_limits.MAX_DEFECTS
    if more <= 0:
        return defects
    *first, last = defects[: log_limits.MAX_DEFECTS]
    return *first, replace(
        last, message=f"{last.message}; and {more} more like this, up to {defects[-1].file}"
    )


def _left_out(files: LogFiles, history: History) -> Iterator[str]:
    if files.newest_dropped >= 0:
        yield (
            f"the history before version {history.known_from} is left out: the metadata of the whole history "
            f"exceeds {log_limits.MAX_HISTORY >> 20} MiB"
        )


def _order(defect: LogDefect) -> tuple[str, int, str]:
    return defect.file, defect.line or 0, defect.message


def _warnings(protocol: Protocol) -> Iterator[str]:
    if unknown := sorted(protocol.reader_features - FEATURES.keys() - OTHER_NAMES.keys()):
        yield (
            f"the table requires the reader features {', '.join(unknown)}, of a newer Delta and not known "
            "here: schemalint may misread the log"
        )
    if CATALOG_MANAGED in protocol.reader_features:
        yield POSSIBLY_STALE


class _OlderCommits:
    """The commits of a log up to a version, whose files are read when they are asked for."""

    def __init__(
        self,
        files: LogFiles,
        version: int,
        state: TableActions,
        reopen: Callable[[], LogStore] | None,
    ) -> None:
        """Give up the log until something is asked for: many tables would keep what was read ahead.

        Args:
            files: The files that were read.
            version: The newest version.
            state: The state at that version.
            reopen: Opens the log again; None keeps it open.
        """
        self._files, self._version, self._state, self._reopen = files, version, state, reopen
        self._histories: dict[int, History] = {}
        files.release(reopen)

    def history_since(self, version: int) -> History:
        """Return the history since a version, or from the oldest version on that all later commits follow.

        Raises:
            LiveError: The log cannot be fetched.
        """
        if version not in self._histories:
            try:
                self._histories[version] = self._read(version)
            finally:
                self._files.release(self._reopen)
        return self._histories[version]

    def writers_since(self, at: int) -> Mapping[str, int]:
        """Return who wrote since a time (milliseconds), by ``engineInfo``, and when last.

        Beside the commits that were read, the newest of the older ones count, up to
        `log_limits.MAX_OLDER_COMMITS`. A file that was stored before the time is none of them.
        """
        try:
            checkpoint = self._files.listing.checkpoint_before(self._version)
            self._files.widen(max(0, checkpoint - log_limits.MAX_OLDER_COMMITS))
            newest_first = sorted(self._files.listing.commits.items(), reverse=True)
            older = [
                (version, file)
                for version, file in newest_first
                if version <= checkpoint and (file.modified_ms is None or file.modified_ms >= at)
            ][: log_limits.MAX_OLDER_COMMITS]
            self._files.expect(file for _, file in older)
            for version, _ in older:
                self._files.commit(version, metadata=False)
        except LiveError:
            pass  # others write meanwhile, and the log is cleaned up: what is known stays
        finally:
            self._files.release(self._reopen)
        return self._files.writers()

    def _read(self, version: int) -> History:
        # The files at hand may suffice, then those since the version; only the whole log has every state.
        if not version:
            self._files.widen(0)
            return read_history(self._files, self._version, self._state)
        for first in (self._files.listing.first, version, 0):
            if first <= version:
                self._files.widen(first)
                history = history_since(self._files, version, self._version, self._state)
                if history is not None:
                    return history
        return read_history(self._files, self._version, self._state, version)
