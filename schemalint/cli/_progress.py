"""How far a run has come, on standard error: one rewritten line in a terminal, else a line now and then."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

import click

from schemalint.base.phrases import plural
from schemalint.cli._options import F, together
from schemalint.cli._output import draw_status, erase_status, is_full_terminal, print_note
from schemalint.cli._typed import Connection

if TYPE_CHECKING:
    from schemalint.tables.storage.table_workers import TableWorkers, Tell

_TERMINAL_SECONDS: Final = 0.2
_LOG_SECONDS: Final = 10.0
"""Fewer lines than anybody minds, and enough of them that no CI service takes the job for dead."""


JOBS: Final = 16
"""Tables that are read at the same time, unless the user wishes another number."""

READ_IN_PARALLEL: Final = f"Read N tables in parallel, {JOBS} by default"


def workers_options(jobs_help: str = READ_IN_PARALLEL) -> Callable[[F], F]:
    """Add ``--jobs`` and ``--no-progress``."""
    return together(
        click.option("--jobs", type=click.IntRange(1, 64), metavar="N", help=jobs_help),
        click.option("--no-progress", is_flag=True, help="Hide progress"),
    )


@contextmanager
def table_workers(options: Connection) -> Iterator[TableWorkers]:
    """Provide the workers that the options ask for; while they work, the progress is shown."""
    with shown_progress(options) as tell:
        yield workers_of(options, tell)


def workers_of(options: Connection, tell: Tell) -> TableWorkers:
    """Return the workers that the options ask for."""
    from schemalint.tables.storage.table_workers import TableWorkers  # noqa: PLC0415 (only with live tables)

    return TableWorkers(options.jobs or JOBS, tell)


@contextmanager
def shown_progress(options: Connection) -> Iterator[Tell]:
    """Provide what tells how far the run has come, and show it, unless the options ask for silence."""
    if options.no_progress or options.quiet:
        yield lambda _stage, _done, _total, _table: None
        return
    progress = Progress(in_terminal=is_full_terminal(err=True))
    with progress.shown():
        yield progress.tell


class Progress:
    """What a run does now; `draw` prints it.

    Args:
        in_terminal: Whether lines can be rewritten.
    """

    def __init__(self, *, in_terminal: bool) -> None:
        self._in_terminal = in_terminal
        self._lock = Lock()
        self._text = ""

    def tell(self, stage: str, done: int, total: int, table: str) -> None:
        """Note how far a stage of the run has come; nothing is shown once it is done."""
        left = f"{done:,} of {total:,} {plural(total, 'table')} done, {total - done:,} left"
        with self._lock:
            self._text = f"{stage}: {left}, now {table}" if done < total and table else ""

    def draw(self) -> None:
        """Print what the run does, unless it is between two stages."""
        with self._lock:
            text = self._text
        if not self._in_terminal:
            if text:
                print_note(text)
        elif text:
            from shutil import get_terminal_size  # noqa: PLC0415 (only in a terminal)

            draw_status(text, get_terminal_size().columns)
        else:
            erase_status()

    @contextmanager
    def shown(self, wait: Callable[[Event, float], bool] = Event.wait) -> Iterator[None]:
        """Draw again and again in a thread.

        Args:
            wait: Waits so many seconds, and returns whether the run has ended.
        """
        ended = Event()
        seconds = _TERMINAL_SECONDS if self._in_terminal else _LOG_SECONDS

        def draw_until_ended() -> None:
            with suppress(OSError, ValueError):  # nobody reads standard error any more
                while not wait(ended, seconds):
                    self.draw()

        thread = Thread(target=draw_until_ended, name="schemalint-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            erase_status()
