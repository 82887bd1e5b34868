"""Go through the tables of a run side by side, and tell how far it has come.

To read, to plan and to apply are work for the same helper: it returns the results in order. Where no request
can overlap, as for local tables, there are no threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Final, TypeAlias, TypeVar

from schemalint.base.values import field, frozen
from schemalint.tables.storage.concurrency import MOST_CONCURRENT, in_order

T = TypeVar("T")
R = TypeVar("R")

_AHEAD: Final = 4
"""Results that may wait to be taken, for each job: one slow table does not stop the others at once."""

Tell: TypeAlias = Callable[[str, int, int, str], None]
"""Called with the stage of a run, the number of its tables that are done, the number of all, and the name of
the table that has been worked on for longest, empty after the last one; in any thread, one at a time."""


@frozen
class TableWorkers:
    """The number of tables that a run works on at the same time.

    Attributes:
        jobs: How many tables may be worked on at a time.
        tell: Called whenever the work on a table begins or ends.
    """

    jobs: int = MOST_CONCURRENT
    tell: Tell = field(default=lambda _stage, _done, _total, _table: None, repr=False, compare=False)

    def each(
        self, stage: str, function: Callable[[T], R], items: Iterable[T], name: Callable[[T], str]
    ) -> list[R]:
        """Call the function on each item, and return the results in order.

        One job uses no threads. The first error in the order of the items ends the work.

        Args:
            stage: What is done with the tables, such as ``reading``.
            function: The work on one table; with more than one job it runs in several threads.
            items: The tables.
            name: Returns the name of a table, for `tell`.
        """
        work = list(items)
        return list(self._results(stage, function, work, name, max(1, len(work))))

    def stream(
        self, stage: str, function: Callable[[T], R], items: Iterable[T], name: Callable[[T], str]
    ) -> Iterator[R]:
        """Yield the results of `each`; few of them wait in memory, however many items there are."""
        return self._results(stage, function, list(items), name, _AHEAD * self.jobs)

    def _results(
        self, stage: str, function: Callable[[T], R], work: Sequence[T], name: Callable[[T], str], ahead: int
    ) -> Iterator[R]:
        count = _Count(self.tell, stage, len(work))

        def counted(item: T) -> R:
            with count.working_on(name(item)):
                return function(item)

        if self.jobs == 1:
            return map(counted, work)
        return in_order(counted, work, self.jobs, ahead)


SIDE_BY_SIDE: Final = TableWorkers()
"""As many tables at a time as requests, without telling anybody."""


class _Count:
    """The tables of one stage that are done, and those that are worked on."""

    def __init__(self, tell: Tell, stage: str, total: int) -> None:
        self._tell, self._stage, self._total = tell, stage, total
        self._lock = Lock()
        self._done = 0
        self._current: dict[object, str] = {}

    @contextmanager
    def working_on(self, table: str) -> Iterator[None]:
        """Count a table as done at the end, even if it fails."""
        work = object()
        with self._lock:
            self._current[work] = table
            self._tell_now()
        try:
            yield
        finally:
            with self._lock:
                self._done += 1
                del self._current[work]
                self._tell_now()

    def _tell_now(self) -> None:
        self._tell(self._stage, self._done, self._total, next(iter(self._current.values()), ""))
