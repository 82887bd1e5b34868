"""Run requests concurrently, so that Ctrl-C interrupts them.

A call of obstore blocks its thread until the server answers or a time limit expires, and Python handles
Ctrl-C only in the main thread (measured on obstore 0.12.1: 30 seconds). Therefore requests run in daemon
threads, which do not delay the end of the process, and the caller waits in Python. obstore's asynchronous
calls do not help: the client's threads deliver their answers while the process ends, and abort it (measured:
one of 60 runs).
"""

from __future__ import annotations

import atexit
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar

if TYPE_CHECKING:
    Task: TypeAlias = tuple[Future[Any], Callable[[], Any]]

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")

MOST_CONCURRENT: Final = 16
"""Calls of `concurrently` that are in progress at the same time, and tables unless the user wishes another
number."""

MOST_REQUESTS: Final = 128
"""Requests in progress at the same time, each with a thread and a connection: macOS lets a process open
256 files."""

_GRACE_SECONDS: Final = 1.0
"""How long the end of the process waits for interrupted requests.

A thread that returns from a call during the shutdown of the interpreter aborts the process.
"""

_POLL_SECONDS: Final = 0.5
"""How often waiting checks for Ctrl-C: the signal may reach any thread, and wakes only that one."""


def start(request: Callable[P, T], *args: P.args, **options: P.kwargs) -> Future[T]:
    """Start a request."""
    return _request_workers().submit(partial(request, *args, **options))


def finish(request: Future[T], seconds: float | None = None) -> T:
    """Wait for a request, and return its answer or raise its error.

    Raises:
        TimeoutError: The request did not end within the seconds; it goes on in its thread.
    """
    try:
        return _wait_for(request, seconds)
    finally:
        request.cancel()


def concurrently(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Call the function on up to `MOST_CONCURRENT` items at a time; return the results in order."""
    work = list(items)
    return list(in_order(function, work, MOST_CONCURRENT, len(work)))


def in_order(function: Callable[[T], R], items: Sequence[T], most: int, ahead: int) -> Iterator[R]:
    """Call the function on up to so many items at a time, each in a thread; yield the results in order.

    The first error in the order of the items ends the work.

    Args:
        function: Called in several threads.
        items: The items.
        most: How many items may be worked on at a time.
        ahead: How many results may wait for that of an earlier item; then no further item is begun.
    """
    workers = _Workers("schemalint-table", most)
    calls = (workers.submit(partial(function, item)) for item in items)
    waiting = deque(islice(calls, ahead))
    try:
        while waiting:
            yield _wait_for(waiting.popleft())
            waiting += islice(calls, 1)
    finally:
        workers.close()


def _wait_for(future: Future[T], seconds: float | None = None) -> T:
    end = math.inf if seconds is None else time.monotonic() + seconds
    while not future.done():
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        wait((future,), min(left, _POLL_SECONDS))
    return future.result()


class _Workers:
    """Daemon threads that run submitted calls; the process ends without waiting for them."""

    def __init__(self, name: str, most: int) -> None:
        """Start no thread yet.

        Args:
            name: The name of the threads.
            most: Their largest number.
        """
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._running: set[Future[Any]] = set()
        self._name = name
        self._most = most
        self._lock = threading.Lock()
        self._number = 0
        self._free = 0  # the threads that wait for a call, less the calls that wait for a thread

    def submit(self, call: Callable[[], T]) -> Future[T]:
        """Run the call as soon as a thread is free."""
        task: tuple[Future[T], Callable[[], T]] = Future(), call
        self._tasks.put(task)
        with self._lock:
            self._free -= 1
            if self._free < 0 and self._number < self._most:
                self._free += 1
                self._number += 1
                threading.Thread(target=self._work, name=self._name, daemon=True).start()
        return task[0]

    def close(self) -> None:
        """Drop waiting calls; the threads end after their current call."""
        with suppress(Empty):
            while True:
                self._tasks.get_nowait()
        for _ in range(self._number):
            self._tasks.put(None)

    def settle(self) -> None:
        """Close, and wait briefly for the running calls."""
        self.close()
        wait(tuple(self._running), _GRACE_SECONDS)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            future, call = task
            if future.set_running_or_notify_cancel():
                self._running.add(future)
                self._run(future, call)
                self._running.discard(future)
            with self._lock:
                self._free += 1

    @staticmethod
    def _run(future: Future[T], call: Callable[[], T]) -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 (the waiting caller gets it)
            # A panic of the client is not an Exception, and no caller handles it as an error of the store.
            failure = error if isinstance(error, Exception) else OSError(f"aborted: {type(error).__name__}")
            future.set_exception(failure)


@cache
def _create_request_workers() -> _Workers:
    workers = _Workers("schemalint-request", MOST_REQUESTS)
    atexit.register(workers.settle)
    return workers


_LOCK: Final = threading.Lock()


def _request_workers() -> _Workers:
    with _LOCK:
        return _create_request_workers()
