"""Run a reader: the user's own command, with a limit of time and of output.

The command runs as the user gave it. A reader may start processes that outlive it, so each command has a
session of its own, and all of it ends with the command.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Final

from schemalint.base.errors import UsageError
from schemalint.base.values import frozen

MAX_OUTPUT: Final = 16 << 20
"""Bytes that a reader may print; the rows of all tables take less than 64 KiB."""

MAX_ERRORS: Final = 64 << 10
"""Bytes of standard error that are kept, the first ones."""

_GRACE_SECONDS: Final = 1.0  # for threads that have nothing left to read


@frozen
class Run:
    """What a command did.

    Attributes:
        output: Its standard output.
        errors: Its standard error.
        failed: Whether it exited with another status than 0.
        broken: Why it did not come to its own end, as a clause; empty if it did.
    """

    output: str
    errors: str
    failed: bool = False
    broken: str = ""


def run_command(command: Sequence[str], seconds: float) -> Run:
    """Run a command to its end, or until a limit.

    Raises:
        UsageError: The command cannot be started.
    """
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{command[0]!r} cannot be started: {reason}") from error
    output, errors = _Kept(MAX_OUTPUT), _Kept(MAX_ERRORS)
    readers = [
        threading.Thread(target=kept.read, args=(pipe,), daemon=True)
        for kept, pipe in ((output, process.stdout), (errors, process.stderr))
    ]
    for reader in readers:
        reader.start()
    broken = ""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        broken = f"it did not end within {seconds:g} seconds"
    finally:
        _kill(process)
        for reader in readers:
            reader.join(_GRACE_SECONDS)
    if not broken and output.overflowed:
        broken = f"it prints more than {MAX_OUTPUT >> 20} MiB"
    elif not broken and process.returncode < 0:
        broken = f"the signal {-process.returncode} ended it"
    return Run(output.text, errors.text, process.returncode != 0, broken)


class _Kept:
    """The first bytes of a pipe; the rest is read and dropped, since a full pipe would stop the command."""

    def __init__(self, limit: int) -> None:
        self.overflowed = False
        self._limit = limit
        self._content = bytearray()

    def read(self, pipe: IO[bytes]) -> None:
        with pipe:
            while chunk := pipe.read1(1 << 16):  # type: ignore[attr-defined]
                self._content += chunk[: self._limit - len(self._content)]
                self.overflowed |= len(self._content) == self._limit

    @property
    def text(self) -> str:
        return self._content.decode(errors="replace")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End all processes of the command's session."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
