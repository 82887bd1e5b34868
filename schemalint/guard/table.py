"""The table of a write, from its log: read once, and again only after a commit.

A store that hangs costs the job its time limit and no more: the guard then knows nothing, and says so.
"""

from __future__ import annotations

import time
from threading import Lock, Thread
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen
from schemalint.delta.table import LiveTable
from schemalint.guard.session import NotSeen, SeenTable
from schemalint.tables.delta_log.file_names import commit_name
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import open_store, read_table

CATALOG_MANAGED: Final = "the table is catalog-managed: commits that only its catalog knows are not seen"

_MOST_KEPT: Final = 1_000
"""Tables that are remembered; a driver writes few."""

_FRESH: Final = 300.0
"""Seconds after which a table is read whole again: somebody may have dropped it and made another one."""


@frozen
class _Known:
    live: LiveTable
    at: float


class _Reading(Thread):
    """A read of a table, which may never end; the process does not wait for it."""

    def __init__(self, location: str) -> None:
        super().__init__(name="schemalint-guard", daemon=True)
        self.location = location
        self.live: LiveTable | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        """Read the table; keep it, or the error."""
        try:
            self.live = _newest(self.location)
        except Exception as error:  # noqa: BLE001 (handed to whoever waits)
            self.error = error


_kept: dict[str, _Known] = {}
_readings: dict[str, _Reading] = {}
_lock: Final = Lock()


def table_at(location: str, seconds: float) -> SeenTable | None:
    """Return the table at a location; None if there is none.

    Args:
        location: A path or a URI.
        seconds: How long the store may take.

    Raises:
        NotSeen: The log cannot be read, or not in time.
    """
    try:
        live = _in_time(location, seconds)
    except NoTable:
        with _lock:
            _kept.pop(location, None)
        return None
    except LiveError as error:
        raise NotSeen(f"the table cannot be read: {error.message}") from None
    unseen = (CATALOG_MANAGED,) if "catalogManaged" in live.protocol.features else ()
    return SeenTable(live, unseen)


def _in_time(location: str, seconds: float) -> LiveTable:
    """Return the table, or raise what reading it raises, if that does not take too long.

    Calls that come while a store hangs wait for the same read, so that their number costs nothing.
    """
    with _lock:
        reading = _readings.get(location)
        if reading is None or not reading.is_alive():
            reading = _readings[location] = _Reading(location)
            reading.start()
    reading.join(seconds)
    if reading.error is not None:
        raise reading.error
    if reading.live is None:
        raise NotSeen(f"the table was not read within {seconds:g} s")
    return reading.live


def _newest(location: str) -> LiveTable:
    """Return the newest version: the known one, after one request for the commit that would follow it."""
    with _lock:
        known = _kept.get(location)
    now = time.monotonic()
    if known is not None and now - known.at < _FRESH:
        following = commit_name(known.live.version + 1)
        if open_store(location).find(following) is None:
            return known.live
    live = read_table(location, history=False)
    with _lock:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[location] = _Known(live, now)
    return live
