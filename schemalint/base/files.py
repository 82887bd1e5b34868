"""Write files: the only module that does, so that no file is ever left half-written.

A reader of the file, now or after a crash, sees the old content or the new one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Lock
from typing import Final

from schemalint.base.errors import UsageError
from schemalint.base.printable import SafeText, visible

unfinished: Final[set[Path]] = set()
"""Temporary files and folders of this process; whatever ends the process early deletes them."""

_LINKS: Final = 40  # as Linux: more are a loop
# The streams of this process: the shell has opened their files, and a new file would not be what it reads.
_STREAMS: Final = ("/dev/", "/proc/")


def write_text(file: Path, text: str, *, parents: bool = False) -> None:
    """Write a text in UTF-8 with the line ends that it has; keep the mode of an existing file.

    A symbolic link stays, and the file that it leads to is written. A link in a repository that leads out
    of it is refused: whoever can commit a link must not choose what the user overwrites.

    Raises:
        UsageError: The file cannot be written; what was there is as it was.
    """
    write_bytes(file, text.encode(), parents=parents)


def write_bytes(file: Path, content: bytes, *, parents: bool = False) -> None:
    """Write a file as `write_text` does.

    Raises:
        UsageError: The file cannot be written; what was there is as it was.
    """
    try:
        _write(file, content, parents=parents)
    except OSError as error:
        raise UsageError(f"{shown(file)} cannot be written: {error.strerror}") from error


def write_all(files: Mapping[Path, tuple[str | None, str]]) -> None:
    """Write several files; if one of them cannot be written, the others are as they were.

    Args:
        files: By path, the text of the file, None if there is none, and the new text.

    Raises:
        UsageError: See `write_text` and `rewrite_text`.
    """
    with ExitStack() as undo:
        for file, (before, after) in files.items():
            if before is None:
                _require_new(file)
                write_text(file, after, parents=True)
                undo.callback(file.unlink, missing_ok=True)
            else:
                rewrite_text(file, before, after)
                undo.callback(rewrite_text, file, after, before)
        undo.pop_all()


def _require_new(file: Path) -> None:
    if os.path.lexists(file):
        raise UsageError(f"{shown(file)} exists", help="run the command again")


class LineFile:
    """A file that grows by whole lines: what a program or a person reads while the command runs.

    The file is emptied first. Each line is one system call. A process that is killed leaves whole lines, but
    for the last: Linux can end a write between two pages.
    A line that cannot be written is kept in `problem`, and no further ones are written: the work that the
    lines are about goes on.

    Raises:
        UsageError: The file cannot be opened; what was there is as it was.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = Lock()
        self.problem: UsageError | None = None
        try:
            is_stream = os.path.abspath(file).startswith(_STREAMS) or _is_other_than_file(file)  # noqa: PTH100
            target, empties = (file, 0) if is_stream else (_target(file), os.O_TRUNC)
            # 0o666: as in `_write`
            self._descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND | empties, 0o666)
        except OSError as error:
            raise UsageError(f"{shown(file)} cannot be written: {error.strerror}") from error

    def write(self, line: SafeText) -> None:
        """Append a line, with the line break at its end; from several threads too."""
        with self._lock:
            rest = b"" if self.problem is not None else line.encode()
            try:
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError as error:
                self.problem = UsageError(f"{shown(self._file)} cannot be written: {error.strerror}")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


def rewrite_text(file: Path, before: str, after: str) -> None:
    """Replace the text of a file, where git may convert line ends (``core.autocrlf``).

    Args:
        file: The file.
        before: Its text as git stores it, or as it is on disk.
        after: The new text, with the line ends of ``before``.

    Raises:
        UsageError: The file has another text now, or cannot be written; what was there is as it was.
    """
    if _is_other_than_file(file):  # reading a pipe or a device need not end
        raise UsageError(f"{shown(file)} is not a regular file any more")
    try:
        on_disk = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{shown(file)} cannot be read: {error.strerror}") from error
    if on_disk == before.encode():
        write_text(file, after)
    elif on_disk.replace(b"\r\n", b"\n") == before.encode():
        write_text(file, after.replace("\n", "\r\n"))
    else:
        raise UsageError(
            f"{shown(file)} no longer has the text that was read, or git converts it",
            help="run the command again; with --head index stage or stash the file's other changes first; "
            "edit a file with a filter or another encoding by hand",
        )


def _is_other_than_file(file: Path) -> bool:
    """Whether a path names a pipe or a device."""
    return file.exists() and not file.is_file()


def _write(file: Path, content: bytes, *, parents: bool) -> None:
    try:
        status = file.stat()
    except FileNotFoundError:
        status = None
    is_stream = status is not None and not stat.S_ISREG(status.st_mode)
    if is_stream or os.path.abspath(file).startswith(_STREAMS):  # noqa: PTH100 (`resolve` follows links)
        file.write_bytes(content)
        return
    target = _target(file)
    if status is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    if parents:
        target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".schemalint-{os.getpid()}-{os.urandom(4).hex()}.part")
    unfinished.add(draft)
    try:
        # 0o666: without the bits of the umask this is the mode of any new file.
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as opened:  # noqa: PTH123
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        if status is not None:
            _keep_owner_and_mode(draft, status)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
        unfinished.discard(draft)


def _keep_owner_and_mode(draft: Path, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(PermissionError):  # only root can give files away
            os.chown(draft, status.st_uid, status.st_gid)
    draft.chmod(stat.S_IMODE(status.st_mode))


def _target(file: Path) -> Path:
    """Follow the links of a path, those of its folders too, one at a time."""
    folder, rest = _split(Path.cwd() / file)
    links = 0
    while rest:
        name, *rest = rest
        if name == os.pardir:
            folder = folder.parent
            continue
        step = folder / name
        if not step.is_symlink():
            folder = step
            continue
        links += 1
        if links > _LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        _require_inside(folder, step)
        folder, rest = _split(folder / step.readlink(), rest)
    return folder


def _split(path: Path, rest: list[str] | None = None) -> tuple[Path, list[str]]:
    anchor = Path(path.anchor)
    return anchor, [*path.relative_to(anchor).parts, *(rest or ())]


def _require_inside(folder: Path, link: Path) -> None:
    """Refuse a link out of the innermost repository of its folder, which has no links in its path."""
    root = next((place for place in (folder, *folder.parents) if os.path.lexists(place / ".git")), None)
    if root is None:
        return
    target = link.resolve()
    if not target.is_relative_to(root) or ".git" in target.relative_to(root).parts:
        raise OSError(errno.EPERM, f"the symbolic link {shown(link)} leads out of the repository")


def shown(file: Path) -> str:
    """Return a file's name for messages: relative to the working directory, or absolute if shorter."""
    return visible(min(os.path.relpath(file), os.path.abspath(file), key=len))  # noqa: PTH100 (follows no link)
