"""Run git with fixed options, and turn its failures into `GitError`.

Only plumbing commands are run (and ``git status --porcelain``). They ignore ``diff.external``,
``diff.renames`` and text conversion in the configuration, start no pager, and keep a stable output format
across versions. Callers make sure that untrusted text never becomes an option, so S603 is suppressed.
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
    # The repository's own configuration could name a program that git starts for each listing.
    *("-c", "core.fsmonitor=false"),
    # Fetch only what is requested: no submodules, no background maintenance.
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "maintenance.auto=false"),
    *("-c", "gc.auto=0"),
)


def run_git(
    *arguments: str, cwd: Path, env: Mapping[str, str], stdin: bytes = b"", statuses: tuple[int, ...] = (0,)
) -> subprocess.CompletedProcess[bytes]:
    """Run one git command to its end.

    Args:
        arguments: The command and its arguments, without untrusted text where git accepts an option.
        cwd: The working directory.
        env: The whole environment.
        stdin: The standard input.
        statuses: The exit statuses that do not count as failures.

    Raises:
        GitError: git is not installed, or exits with another status.
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
    """Write lines to one git command while the caller reads its output.

    A thread writes the lines: a single thread would block as soon as one of the pipes is full.

    Raises:
        GitError: git is not installed, or fails.
    """
    with _failures(cwd):
        # git writes errors directly to our standard error: a third pipe could fill up unread.
        process = subprocess.Popen(  # noqa: S603
            [*_GIT, *arguments], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    with process:
        if process.stdin is None or process.stdout is None:
            raise GitError(f"git {arguments[0]} has no standard input or output")
        writer = threading.Thread(target=_feed, args=(process.stdin, lines), daemon=True)
        writer.start()
        try:
            yield process.stdout
        finally:
            # The caller may stop before the end of the output; an open pipe would keep git waiting.
            process.stdout.close()
            writer.join()
    if process.returncode != 0:
        raise _error(arguments[0], process.returncode, "")


def _feed(pipe: IO[bytes], lines: Iterable[bytes]) -> None:
    try:
        with pipe:
            pipe.writelines(lines)
    except BrokenPipeError:
        pass  # git exited early; its status is checked later


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
        match = re.search(pattern, text)
        if match:
            return GitError(message, help=match.expand(hint))
    reason = text.splitlines()[-1] if text else f"status {status}"
    return GitError(f"git {command} failed: {reason.removeprefix('fatal: ')}")


_KNOWN_FAILURES = (
    # setup.c, die_upon_dubious_ownership(): git prints the command to run, with the quoted path.
    (
        r"dubious ownership[\s\S]*?(git config --global --add safe\.directory .+)",
        "git refuses a repository that belongs to another user",
        r"if you trust it: \1",
    ),
    (
        r"not a git repository",
        "not a git repository",
        "run schemalint in a git repository, or create one with: git init",
    ),
)
