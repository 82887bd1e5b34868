"""Find the schemas under which the live data files were written."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import unquote

from schemalint.base.errors import LiveError
from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.actions import ActionError
from schemalint.tables.delta_log.commit import read_paths
from schemalint.tables.delta_log.datafiles import live_files

if TYPE_CHECKING:
    from schemalint.delta.table import History
    from schemalint.tables.delta_log.segment import Listing
    from schemalint.tables.delta_log.store import LogStore


def file_versions(store: LogStore, listing: Listing, history: History, version: int) -> frozenset[int] | None:
    """Return the versions of the history's entries under which the live files of a version were written.

    A file was written by the first commit that adds it: later ones change its deletion vector or its
    statistics, or restore it. A file that no commit of the history adds is older than the history.

    Returns:
        None if a file of the log cannot be read, or if the table has more than `limits.MAX_LIVE_FILES`.
    """
    entries = [entry.version for entry in history.entries]
    try:
        missing = set(islice(live_files(store, version), limits.MAX_LIVE_FILES + 1))
        if len(missing) > limits.MAX_LIVE_FILES:
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
