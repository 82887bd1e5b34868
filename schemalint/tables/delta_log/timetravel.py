"""Find the version at an instant (Delta's DeltaHistoryManager.scala), and the versions of live data files.

Commits that lack the time by which versions are found are defects of the log.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Final
from urllib.parse import unquote

from schemalint.base.errors import LiveError
from schemalint.delta import properties
from schemalint.delta.table import History, LogDefect, LogDefectKind
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.actions import ActionError, TableActions
from schemalint.tables.delta_log.datafiles import live_files
from schemalint.tables.delta_log.file_names import LogFile
from schemalint.tables.delta_log.json_lines import damage_in, read_commit_info, read_paths
from schemalint.tables.delta_log.log_files import LogFiles
from schemalint.tables.delta_log.log_listing import Listing
from schemalint.tables.delta_log.store import DamagedFile, LogStore

_ENABLED: Final = "delta.enableInCommitTimestamps"
_SINCE: Final = "delta.inCommitTimestampEnablementVersion"
_VERSION: Final = re.compile("[0-9]{1,19}")


def version_at(store: LogStore, listing: Listing, newest: TableActions, instant: int) -> int:
    """Return the newest version committed at or before an instant.

    A commit's time is its in-commit timestamp if the table has them, otherwise the time of its file. If a
    file is not newer than the previous one, its commit counts as one millisecond later.

    Args:
        store: The log.
        listing: The log's files.
        newest: The newest state of the table.
        instant: Milliseconds since the epoch.

    Raises:
        LiveError: All remaining commits are newer, or a file's time is unknown.
    """
    timed, untimed = _split_by_clock(listing, newest)
    if timed and _in_commit_time(store, listing.commits[timed[0]]) <= instant:
        index = bisect_right(
            timed, instant, key=lambda version: _in_commit_time(store, listing.commits[version])
        )
        return timed[index - 1]
    times = _file_times([listing.commits[at] for at in untimed], listing.uri)
    index = bisect_right(times, instant)
    if not index:
        raise _too_early(listing, instant)
    return untimed[index - 1]


def _split_by_clock(listing: Listing, newest: TableActions) -> tuple[Sequence[int], Sequence[int]]:
    """Return the commits with in-commit timestamps, and the commits before them."""
    versions, start = list(listing.commits), _timed_since(newest)
    if start is None:
        return [], versions
    index = bisect_right(versions, start - 1)
    return versions[index:], versions[:index]


def _timed_since(newest: TableActions) -> int | None:
    """Return the first version with an in-commit timestamp; None if the table has none."""
    configuration: Mapping[str, str] = newest.metadata.configuration if newest.metadata else {}
    if not properties.is_true(configuration.get(_ENABLED)):
        return None
    since = configuration.get(_SINCE, "")
    return int(since) if _VERSION.fullmatch(since) else 0


def timestamp_defects(files: LogFiles, version: int, state: TableActions) -> Iterator[LogDefect]:
    """Report commits without the timestamp that the table's properties require.

    Of the newest commit Delta Spark needs it for the next one, of older ones only for their history (measured
    on Delta 4.4.0).
    """
    since = _timed_since(state)
    if since is None:
        return
    files.commit(version)
    for at, file in files.listing.commits.items():
        commit = files.known(file)
        if commit is None or not since <= at <= version or commit.info.in_commit_timestamp is not None:
            continue
        error = "DELTA_MISSING_COMMIT_INFO" if commit.info.is_missing else "DELTA_MISSING_COMMIT_TIMESTAMP"
        effect = "writes and ALTER TABLE fail" if at == version else f"DESCRIBE HISTORY fails ({error})"
        yield LogDefect(
            LogDefectKind.NO_COMMIT_TIMESTAMP,
            f"the commit has no inCommitTimestamp, and {_ENABLED} is on: {effect}",
            file.name,
            delta_error=error if at == version else None,
        )


def _in_commit_time(store: LogStore, file: LogFile) -> int:
    with damage_in(store, file):
        timestamp = read_commit_info(store, file).in_commit_timestamp
    if timestamp is None:
        raise DamagedFile(store.uri, file.name, "the commit has no in-commit timestamp")
    return timestamp


def _file_times(files: Sequence[LogFile], uri: str) -> list[int]:
    times: list[int] = []
    for file in files:
        if file.modified_ms is None:
            raise LiveError(f"{uri}: the time of _delta_log/{file.name} is unknown", help="Give a version.")
        times.append(max(file.modified_ms, times[-1] + 1) if times else file.modified_ms)
    return times


def _too_early(listing: Listing, instant: int) -> LiveError:
    try:
        time = datetime.fromtimestamp(instant / 1000, tz=UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        time = f"{instant} ms"
    return LiveError(
        f"{listing.uri}: no commit is as old as {time}; the log's first commit is "
        f"{min(listing.commits, default='missing')}",
        help="Give a later instant.",
    )


def file_versions(store: LogStore, listing: Listing, history: History, version: int) -> frozenset[int] | None:
    """Return the versions of the history's entries under which the live files of a version were written.

    A file was written by the first commit that adds it: later ones change its deletion vector or its
    statistics, or restore it. A file that no commit of the history adds is older than the history.

    Returns:
        None if a file of the log cannot be read, or if the table has more than `log_limits.MAX_LIVE_FILES`.
    """
    entries = [entry.version for entry in history.entries]
    try:
        missing = set(islice(live_files(store, version), log_limits.MAX_LIVE_FILES + 1))
        if len(missing) > log_limits.MAX_LIVE_FILES:
            return None
        versions: set[int] = set()
        commits = range(history.known_from + (history.known_from > 0), version + 1)
        store.expect(listing.commits[at].name for at in commits)
        for at in commits:
            if not missing:
                break
            added = {unquote(path) for name, path in read_paths(store, listing.commits[at]) if name == "add"}
            if added & missing:
                missing -= added
                versions.add(entries[bisect_right(entries, at) - 1])
    except (LiveError, ActionError):
        return None
    return frozenset(versions | {entries[0]} if missing else versions)
