"""The table of a write, from its log: read once, and again only after a commit.

A store that hangs costs the job its time limit and no more: the guard then knows nothing, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, Thread
from typing import Final, TypeVar

from schemalint.base.errors import LiveError
from schemalint.delta.table import LiveTable
from schemalint.guard.session import NotSeen, SeenTable
from schemalint.tables.delta_log.store import NoTable
from schemalint.tables.storage import open_store, read_table

T = TypeVar("T")

_MOST_KEPT: Final = 1_000
"""Tables that are remembered; a driver writes few."""

_kept: dict[str, LiveTable] = {}
_lock: Final = Lock()

CATALOG_MANAGED: Final = "the table is catalog-managed: commits that only its catalog knows are not seen"


def table_at(location: str, seconds: float) -> SeenTable | None:
    """Return the table at a location; None if there is none.

    Args:
        location: A path or a URI.
        seconds: How long the store may take.

    Raises:
        NotSeen: The log cannot be read, or not in time.
    """
    try:
        live = _in_time(lambda: _newest(location), seconds)
    except NoTable:
        _forget(location)
        return None
    except LiveError as error:
        raise NotSeen(f"the table cannot be read: {error.message}") from None
    unseen = (CATALOG_MANAGED,) if "catalogManaged" in live.protocol.features else ()
    return SeenTable(live, unseen)


def _newest(location: str) -> LiveTable:
    """Return the newest version: the known one, after one request for the commit that would follow it."""
    with _lock:
        known = _kept.get(location)
    if known is not None and open_store(location).find(f"{known.version + 1:020}.json") is None:
        return known
    live = read_table(location, history=False)
    with _lock:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[location] = live
    return live


def _forget(location: str) -> None:
    with _lock:
        _kept.pop(location, None)


def _in_time(read: Callable[[], T], seconds: float) -> T:
    """Return what a function returns, or raise what it raises, if it does so in time.

    Raises:
        NotSeen: It takes longer. Its thread goes on alone, and ends with the process.
    """
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(read())
        except Exception as error:  # noqa: BLE001 (handed to the caller)
            errors.append(error)

    thread = Thread(target=run, name="schemalint-guard", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise NotSeen(f"the table was not read within {seconds:g} s")
    return results[0]
