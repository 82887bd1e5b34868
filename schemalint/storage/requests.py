"""Requests that can be interrupted, and many at a time.

A call of obstore holds its thread until the server answers or a time limit ends it, and Python handles Ctrl-C
in the main thread alone (measured on obstore 0.12.1: 30 seconds). So requests run in threads of their own,
which do not hold up the end of the process, and whoever asked waits in Python. Nor are obstore's asynchronous
calls of help: their answers come by threads of the client that no end of the process waits for, and abort it
(measured: one of 60 runs).
"""

from __future__ import annotations

import atexit
import threading
from contextlib import suppress
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from concurrent.futures import Future

    Task: TypeAlias = tuple[Future[Any], Callable[[], Any]]

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

AT_A_TIME: Final = 16
"""Requests, and tables, that are under way together."""

_GRACE: Final = 1.0
"""Seconds at the end of the process for the answers of interrupted requests.

A thread that comes back from a call while the interpreter is taken down aborts the process.
"""

_TICK: Final = 0.5
"""Seconds between two looks for Ctrl-C: its signal may reach any thread, and wakes only that one."""


def start(request: Callable[P, T], *args: P.args, **options: P.kwargs) -> Future[T]:
    """Begin a request."""
    return _requests().begin(partial(request, *args, **options))


def finish(started: Future[T]) -> T:
    """Its answer, or the error that it ended with."""
    try:
        return _awaited(started)
    finally:
        started.cancel()


def concurrently(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """The function's result for each item, in their order, for `AT_A_TIME` items together."""
    work = list(items)
    workers = _Workers("schemalint-table", min(AT_A_TIME, len(work)))
    started = [workers.begin(partial(function, item)) for item in work]
    try:
        return [_awaited(one) for one in started]
    finally:
        workers.close()


def _awaited(started: Future[T]) -> T:
    from concurrent.futures import wait  # noqa: PLC0415 (loaded with the Future)

    while not started.done():
        wait((started,), _TICK)
    return started.result()


class _Workers:
    """Threads that carry out what is begun; the process ends without them."""

    def __init__(self, name: str, number: int) -> None:
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._under_way: set[Future[Any]] = set()
        self._number = number
        for _ in range(number):
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def begin(self, call: Callable[[], T]) -> Future[T]:
        """Carry it out as soon as a thread is free."""
        from concurrent.futures import Future  # noqa: PLC0415 (reading a local table does without)

        task: tuple[Future[T], Callable[[], T]] = Future(), call
        self._tasks.put(task)
        return task[0]

    def close(self) -> None:
        """Begin nothing more: the threads end when they are done with what they do."""
        with suppress(Empty):
            while True:
                self._tasks.get_nowait()
        for _ in range(self._number):
            self._tasks.put(None)

    def settle(self) -> None:
        """Close, and give what is under way a moment to end."""
        from concurrent.futures import wait  # noqa: PLC0415 (loaded with the Future)

        self.close()
        wait(tuple(self._under_way), _GRACE)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, call = task
            if future.set_running_or_notify_cancel():
                self._under_way.add(future)
                self._carry_out(future, call)
                self._under_way.discard(future)

    @staticmethod
    def _carry_out(future: Future[T], call: Callable[[], T]) -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 (it is raised where it is waited for)
            # A panic of the client is no Exception, and nobody would take it for an error of the store.
            failed = error if isinstance(error, Exception) else OSError(f"aborted: {type(error).__name__}")
            future.set_exception(failed)


@cache
def _created() -> _Workers:
    workers = _Workers("schemalint-request", AT_A_TIME)
    atexit.register(workers.settle)
    return workers


_LOCK: Final = threading.Lock()


def _requests() -> _Workers:
    with _LOCK:
        return _created()
