"""A table as its log tells it: the snapshot at a version, and how it came to be."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from schemalint.delta.feature import FEATURES
from schemalint.delta.table import History, LiveTable
from schemalint.delta_log import limits
from schemalint.delta_log.crosscheck import checksum_defects, gap_defects, pointer_warnings, schema_defects
from schemalint.delta_log.files import LogFiles
from schemalint.delta_log.history import read_commits, read_history
from schemalint.delta_log.segment import list_log
from schemalint.delta_log.snapshot import metadata_of
from schemalint.delta_log.state import newest_state, state_at
from schemalint.delta_log.timetravel import version_at
from schemalint.errors import LiveError
from schemalint.values import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from schemalint.delta.protocol import Protocol
    from schemalint.delta.table import LogDefect, LogDefectKind
    from schemalint.delta_log.actions import TableActions
    from schemalint.delta_log.segment import Listing
    from schemalint.delta_log.store import LogStore

POSSIBLY_STALE: Final = "the table is managed by a catalog: its log may be older than what the catalog holds"
"""The warning about a log of which the newest commits may be known to a catalog only."""

_CATALOG_MANAGED: Final = "catalogManaged"


def read_table(
    store: LogStore, *, version: int | None = None, at: int | None = None, history: bool = True
) -> LiveTable:
    """Read a table's log.

    What another reader would refuse is read as far as it is known, and noted in ``LiveTable.defects``.

    Args:
        store: The log.
        version: The version to read, the latest by default: the newest that is known, if a commit is missing.
        at: In place of a version, an instant in milliseconds since the epoch: the newest version that was
            committed by then.
        history: Whether all commits up to it are read, as far back as they go without a gap or a damage. If
            that is not version 0, the history's first entry is the oldest state that is known, without a time
            and an operation. Without history only what leads to the snapshot is read.

    Raises:
        NoTable: There is no log.
        DamagedFile: A file without which the version is not known cannot be understood.
        LiveError: The version does not exist, or is not known, or the log cannot be fetched.
    """
    listing = list_log(store)
    files = LogFiles(store, listing)
    if at is not None:
        _version, newest = newest_state(files, listing.latest)
        version = version_at(store, listing, newest, at)
    asked = _existing(listing, version)
    if history:
        read_commits(files, asked)
    found, state = newest_state(files, asked) if version is None else (asked, state_at(files, asked))
    return _table(files, asked, found, state, history=history)


def _existing(listing: Listing, version: int | None) -> int:
    if version is None:
        return listing.latest
    if not 0 <= version <= listing.latest:
        raise LiveError(
            f"{listing.uri}: version {version} does not exist, the latest is {listing.latest}",
            help="Versions count from 0.",
        )
    return version


def _table(files: LogFiles, asked: int, version: int, state: TableActions, *, history: bool) -> LiveTable:
    metadata = metadata_of(state)
    if metadata is None or state.protocol is None:
        lacking = "metaData" if metadata is None else "protocol"
        raise LiveError(
            f"{files.store.uri}: there is no {lacking} action in the log up to version {version}",
            help="The log is damaged: every table has one from its first commit on.",
        )
    known = read_history(files, version, state) if history else History(known_from=version)
    pointer = pointer_warnings(files) if history else ()
    defects = (
        *files.defects,
        *gap_defects(files.listing, asked, version),
        *checksum_defects(files, version, state),
        *schema_defects(files, state),
    )
    warnings = (*pointer, *_warnings(state.protocol), *_forgotten(files, known), *files.warnings)
    return LiveTable(
        files.store.uri,
        version,
        state.protocol,
        metadata,
        known,
        warnings,
        _first_ones(sorted(defects, key=_order)),
    )


def _first_ones(defects: Iterable[LogDefect]) -> tuple[LogDefect, ...]:
    """Some defects of each kind; the last one says how many more there are."""
    by_kind: defaultdict[LogDefectKind, list[LogDefect]] = defaultdict(list)
    for defect in defects:
        by_kind[defect.kind].append(defect)
    kept = (defect for found in by_kind.values() for defect in _shortened(found))
    return tuple(sorted(kept, key=_order))


def _shortened(found: Sequence[LogDefect]) -> Sequence[LogDefect]:
    more = len(found) - limits.MAX_DEFECTS
    if more <= 0:
        return found
    *others, last = found[: limits.MAX_DEFECTS]
    return *others, replace(
        last, message=f"{last.message}; and {more} more like this, up to {found[-1].file}"
    )


def _forgotten(files: LogFiles, known: History) -> Iterator[str]:
    if files.forgotten >= 0:
        yield (
            f"the history before version {known.known_from} is left out: with it there are more than "
            f"{limits.MAX_HISTORY >> 20} MiB of metadata"
        )


def _order(defect: LogDefect) -> tuple[str, int, str]:
    return defect.file, defect.line or 0, defect.message


def _warnings(protocol: Protocol) -> Iterator[str]:
    if unknown := sorted(protocol.reader_features - FEATURES.keys()):
        yield (
            f"readers of the table must support {', '.join(unknown)}, which this version of schemalint does "
            "not know: the log may mean something else"
        )
    if _CATALOG_MANAGED in protocol.reader_features:
        yield POSSIBLY_STALE
