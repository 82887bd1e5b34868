"""Run the command line: ``schemalint`` and ``python -m schemalint``.

Signals are handled before anything else is imported, and the handler ends the process itself: an exception
could be raised in a callback or a destructor, and Python reports those and goes on.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys

# Nothing else is imported yet: an interruption of the import would end with a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

# Contracts and findings hold no reference cycles; searching for cycles takes a tenth of a check's time.
_OBJECTS_BEFORE_COLLECTION = 300_000  # a check of 1,000 changed contracts has 250,000
_LONGEST_WAIT = 3.0  # seconds for a child process to end by itself

_NAMES = {signal.SIGINT: b"interrupted\n", signal.SIGTERM: b"terminated\n"}


def run() -> NoReturn:
    """Run a command, and exit with its status; with 130 after Ctrl-C, and 143 after SIGTERM."""
    for number in _NAMES:
        # A shell lets its background processes ignore Ctrl-C.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    status: list[int] = []
    atexit.register(_end_at_once, status)
    from schemalint.cli import main  # noqa: PLC0415 (most of the start)

    status.append(main())
    sys.exit(status[0])


def _end_at_once(status: list[int]) -> None:
    """End the process without freeing its objects one by one, which takes a tenth of a check's time.

    This function is the first that is registered, so all others have run.
    """
    if status:
        from schemalint.cli import flush_streams  # noqa: PLC0415 (loaded already)

        flush_streams()
        os._exit(status[0])


def _end(number: int, _frame: FrameType | None) -> None:
    for name in _NAMES:
        signal.signal(name, signal.SIG_IGN)
    try:
        _delete_unfinished_files()
        _end_children()
        output = sys.modules.get("schemalint.cli._output")
        below = b"\n" if getattr(output, "status", None) else b""
        os.write(2, below + _NAMES[signal.Signals(number)])
    finally:
        os._exit(128 + number)


def _delete_unfinished_files() -> None:
    files = sys.modules.get("schemalint.base.files")
    for draft in () if files is None else tuple(files.unfinished):
        if draft.is_dir():
            import shutil  # noqa: PLC0415 (loaded already: who makes a folder imports it)

            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)


def _end_children() -> None:
    """End git and the JVM. Where there is no ``/proc``, they end as soon as their pipes are closed."""
    running = _descendants()
    if not running:
        return
    import time  # noqa: PLC0415 (only now)

    deadline = time.monotonic() + _LONGEST_WAIT
    _kill(running, signal.SIGTERM)
    while running and time.monotonic() < deadline:
        time.sleep(0.01)
        running &= set(_parents())
    _kill(running, signal.SIGKILL)


def _descendants() -> set[int]:
    parents = _parents()
    processes = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in processes} - processes:
        processes |= more
    return processes - {os.getpid()}


def _parents() -> dict[int, int]:
    """Return the parent of each process that runs."""
    parents = {}
    for name in _listed("/proc"):
        # proc_pid_stat(5): "pid (name) state parent …"; the name may have any character
        fields = _content(f"/proc/{name}/stat").rpartition(b")")[2].split() if name.isdecimal() else ()
        if fields and fields[0] != b"Z":
            parents[int(name)] = int(fields[1])
    return parents


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (pathlib is not imported yet)
    except OSError:
        return []


def _content(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 (as above)
            return opened.read()
    except OSError:
        return b""  # the process has ended


def _kill(processes: set[int], number: int) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except OSError:
            continue


if __name__ == "__main__":
    run()
