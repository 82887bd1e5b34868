"""Running git: the only place that starts it, with the options, environment and errors it gets.

Only plumbing commands are run (and ``git status --porcelain``). They read no ``diff.external``,
``diff.renames`` or text conversion from the configuration, start no pager, and keep their output over
versions. That no stranger's text becomes an option is their callers' business, hence the suppressed S603.
"""

from __future__ import annotations

import re
import subprocess
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from schemalint.errors import GitError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_GIT = (
    "git",
    "--no-pager",
    # A program that git would start for each listing, named by the repository's own configuration.
    *("-c", "core.fsmonitor=false"),
    # A fetch brings what was asked for: no submodules, no housekeeping in the background.
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "maintenance.auto=false"),
    *("-c", "gc.auto=0"),
)


def run_git(
    *arguments: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", statuses: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[bytes]:
    """Run one git command to its end.

    Args:
        arguments: The command and its arguments; no text of a stranger may stand where an option could.
        cwd: Where it runs.
        env: Its whole environment.
        stdin: What it reads.
        statuses: The exit statuses that are answers and not failures.

    Raises:
        GitError: git is not installed, or ended with any other status.
    """
    with _failures(cwd):
        answer = subprocess.run(  # noqa: S603
            [*_GIT, *arguments], cwd=cwd, env=env, input=stdin, capture_output=True, check=False
        )
    if answer.returncode not in statuses:
        raise _error(arguments[0], answer.returncode, answer.stderr.decode(errors="replace").strip())
    return answer


@contextmanager
def talk_to_git(
    *arguments: str, lines: Iterable[bytes], cwd: Path, env: Mapping[str, str]
) -> Iterator[IO[bytes]]:
    """Feed lines to one git command while its output is read.

    The lines are written by a thread: each side blocks once the other's pipe is full.

    Raises:
        GitError: git is not installed, or failed.
    """
    with _failures(cwd):
        # Errors go to standard error as they are: a third pipe could fill up unread.
        process = subprocess.Popen(  # noqa: S603
            [*_GIT, *arguments], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    with process:
        if process.stdin is None or process.stdout is None:
            raise GitError(f"git {arguments[0]} cannot be talked to")
        writer = threading.Thread(target=_feed, args=(process.stdin, lines), daemon=True)
        writer.start()
        try:
            yield process.stdout
        finally:
            # What is not read to its end is not wanted any more, and would keep git waiting.
            process.stdout.close()
            writer.join()
    if process.returncode != 0:
        raise _error(arguments[0], process.returncode, "")


def _feed(pipe: IO[bytes], lines: Iterable[bytes]) -> None:
    try:
        with pipe:
            pipe.writelines(lines)
    except BrokenPipeError:
        pass  # git ended early; its status says why


@contextmanager
def _failures(cwd: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        if error.filename != _GIT[0]:
            raise GitError(f"no such directory: {cwd}") from error
        raise GitError("git is not installed", help="install git, or put it on the PATH") from error
    except OSError as error:
        raise GitError(f"git cannot be started in {cwd}: {error.strerror}") from error


def _error(command: str, status: int, text: str) -> GitError:
    for pattern, message, hint in _KNOWN_FAILURES:
        found = re.search(pattern, text)
        if found:
            return GitError(message, help=found.expand(hint))
    reason = text.splitlines()[-1] if text else f"status {status}"
    return GitError(f"git {command} failed: {reason.removeprefix('fatal: ')}")


_KNOWN_FAILURES = (
    # setup.c, die_upon_dubious_ownership(): git prints the command, with the path as it wants it.
    (
        r"dubious ownership[\s\S]*?(git config --global --add safe\.directory .+)",
        "git refuses a repository that belongs to another user",
        r"if you trust it: \1",
    ),
    (
        r"not a git repository",
        "not a git repository",
        "run schemalint in a git repository, or make one with: git init",
    ),
)
