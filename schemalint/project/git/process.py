"""Run git with fixed options, and turn its failures into `GitError`.

Only plumbing commands are run (and ``git status --porcelain``). They ignore ``diff.external``,
``diff.renames`` and text conversion in the configuration, start no pager or editor, check no signatures,
and keep a stable output format across versions. `_OPTIONS` and `schemalint.project.git.repository`
disable the other programs that a repository's configuration can name. Callers make sure that untrusted text
never becomes an option, so S603 is suppressed.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from schemalint.base import limits
from schemalint.base.errors import GitError

_OPTIONS = (
    "--no-pager",
    # Files of a commit can form a bare repository, whose configuration a stranger wrote (git 2.38 and later;
    # `open_repository` refuses it with every git).
    *("-c", "safe.bareRepository=explicit"),
    # The repository's own configuration could name programs: for each listing, for each written index or
    # reference, for each transport.
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "protocol.ext.allow=never"),
    # Fetch only what is requested: no submodules, no background maintenance.
    *("-c", "fetch.recurseSubmodules=false"),
    *("-c", "maintenance.auto=false"),
    *("-c", "gc.auto=0"),
)


class NoRepositoryError(GitError):
    """The folder is in no repository."""


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
        GitError: git is not installed, exits with another status, or exceeds a limit of time or output.
    """
    errors = bytearray()
    with _running(arguments, (stdin,), cwd, env, stderr=subprocess.PIPE) as process:
        reader = threading.Thread(target=_keep_last, args=(_pipe(process.stderr), errors), daemon=True)
        reader.start()
        out = _bounded_output(process, arguments[0])
        # A program that git started may keep the pipe open.
        reader.join(_GRACE_SECONDS)
    text = errors.decode(errors="replace").strip()
    if process.returncode not in statuses:
        raise _error(arguments[0], process.returncode, text)
    return subprocess.CompletedProcess(arguments, process.returncode, out, bytes(errors))


@contextmanager
def talk_to_git(
    *arguments: str, lines: Iterable[bytes], cwd: Path, env: Mapping[str, str]
) -> Iterator[IO[bytes]]:
    """Write lines to one git command while the caller reads its output.

    Raises:
        GitError: git is not installed, fails, or exceeds the limit of time.
    """
    # git writes errors directly to our standard error: a third pipe could fill up unread.
    with _running(arguments, lines, cwd, env, stderr=None) as process:
        yield _pipe(process.stdout)
    if process.returncode not in (0, -signal.SIGPIPE):  # the caller did not read all of the output
        raise _error(arguments[0], process.returncode, "")


@contextmanager
def _running(
    arguments: tuple[str, ...], lines: Iterable[bytes], cwd: Path, env: Mapping[str, str], stderr: int | None
) -> Iterator[subprocess.Popen[bytes]]:
    """Start git with a deadline, and wait for its end after the caller has read the output.

    A thread writes the lines: a single thread would block as soon as one of the pipes is full.
    """
    seconds = limits.FETCH_SECONDS if arguments[0] == "fetch" else limits.GIT_SECONDS
    with _failures(cwd):
        process = subprocess.Popen(  # noqa: S603
            [_program(env), *_OPTIONS, *map(_encoded, arguments)],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
    overdue = threading.Event()

    def stop() -> None:
        overdue.set()
        process.kill()

    deadline = threading.Timer(seconds, stop)
    deadline.daemon = True
    deadline.start()
    writer = threading.Thread(target=_feed, args=(_pipe(process.stdin), lines), daemon=True)
    writer.start()
    try:
        yield process
        # The caller may stop before the end of the output; an open pipe would keep git waiting.
        _pipe(process.stdout).close()
        process.wait()
    except BaseException:
        process.kill()
        process.wait()
        if not overdue.is_set():
            raise
    finally:
        deadline.cancel()
        _pipe(process.stdout).close()
        writer.join(_GRACE_SECONDS)
    if overdue.is_set():
        message = f"git {arguments[0]} did not end within {seconds:.0f} seconds, a limit of schemalint"
        raise GitError(message, help="look for a server, a file system or a credential helper that hangs")


_GRACE_SECONDS = 1.0  # for threads that have nothing left to read or write


def _bounded_output(process: subprocess.Popen[bytes], command: str) -> bytes:
    out = bytearray()
    while chunk := _pipe(process.stdout).read(_CHUNK):
        out += chunk
        if len(out) > limits.MAX_GIT_OUTPUT:
            raise GitError(
                f"git {command} prints more than {limits.MAX_GIT_OUTPUT >> 20} MiB, a limit of schemalint",
                help="name the folders of the contracts in `contracts` of the configuration",
            )
    return bytes(out)


_CHUNK = 1 << 16


def _keep_last(pipe: IO[bytes], kept: bytearray) -> None:
    with pipe:
        while chunk := pipe.read(_CHUNK):
            kept += chunk
            del kept[: -limits.MAX_GIT_ERRORS]


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise GitError("git has no standard input or output")
    return pipe


def _feed(pipe: IO[bytes], lines: Iterable[bytes]) -> None:
    try:
        with pipe:
            pipe.writelines(lines)
    except BrokenPipeError:
        pass  # git exited early; its status is checked later


def _program(env: Mapping[str, str]) -> str:
    """Return the path of git, never one of the working directory, which Windows searches first."""
    for folder in absolute_folders(env):
        for name in ("git", "git.exe"):
            program = os.path.join(folder, name)  # noqa: PTH118 (eight times in each check)
            if os.access(program, os.X_OK) and os.path.isfile(program):  # noqa: PTH113
                return program
    raise GitError("git is not installed", help="install git, or put it on the PATH")


def _encoded(argument: str) -> bytes:
    """Return an argument as bytes: the names of files as they are, and all texts whatever the locale."""
    try:
        return os.fsencode(argument)
    except UnicodeEncodeError:
        return argument.encode(errors="surrogateescape")


def absolute_folders(env: Mapping[str, str]) -> list[str]:
    """Return the absolute folders on the PATH: for git the others lie in the repository."""
    folders = env.get("PATH", os.defpath).split(os.pathsep)
    return [folder for folder in folders if os.path.isabs(folder)]  # noqa: PTH117 (as above)


@contextmanager
def _failures(cwd: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise GitError(f"no such directory: {cwd}") from error
    except OSError as error:
        raise GitError(f"git cannot be started in {cwd}: {error.strerror}") from error
    except ValueError as error:
        raise GitError("git takes no argument with a NUL character") from error


def _error(command: str, status: int, text: str) -> GitError:
    for kind, pattern, message, hint in _KNOWN_FAILURES:
        match = re.search(pattern, text)
        if match:
            return kind(message, help=match.expand(hint))
    reason = text.splitlines()[-1] if text else f"status {status}"
    return GitError(f"git {command} failed: {reason.removeprefix('fatal: ')}")


_KNOWN_FAILURES = (
    # setup.c, die_upon_dubious_ownership(): git prints the command to run, with the quoted path.
    (
        GitError,
        r"dubious ownership[\s\S]*?(git config --global --add safe\.directory .+)",
        "git refuses a repository that belongs to another user",
        r"if you trust it: \1",
    ),
    (
        GitError,
        r"safe\.bareRepository",
        "git refuses a bare repository that nobody named",
        "if it is yours, name it: GIT_DIR=DIRECTORY schemalint ...",
    ),
    (
        GitError,
        r"lazy fetching disabled|promisor remote",
        "this partial clone lacks an object",
        "--fetch fetches it",
    ),
    (
        NoRepositoryError,
        r"not a git repository",
        "not a git repository",
        "run schemalint in a git repository, or create one with: git init",
    ),
)
