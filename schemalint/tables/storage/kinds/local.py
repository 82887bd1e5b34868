"""Tables in the file system, by path or ``file:`` URI."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import BinaryIO, Final
from urllib.parse import unquote

from schemalint.base.errors import LiveError
from schemalint.base.phrases import affixed
from schemalint.base.untrusted_files import is_path
from schemalint.base.values import frozen
from schemalint.delta.stream_settings import local_path
from schemalint.tables.delta_log import log_limits
from schemalint.tables.delta_log.footer import FooterError
from schemalint.tables.delta_log.store import DamagedFile, FileEntry, MissingFile, NoTable, too_large
from schemalint.tables.storage import MOST_LEVELS

SCHEMES: Final = ("file",)
IS_REMOTE: Final = False

# A scheme has at least two letters, so that a Windows drive is part of a path.
_URI: Final = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_FILE: Final = re.compile(r"file:(?://(?P<host>[^/]*))?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)
_NOT_A_FILE: Final = {
    errno.ELOOP: "it is a symbolic link to itself",
    errno.ENXIO: "it is not a regular file",  # a missing device, such as /dev/tty without a terminal
}
# Hadoop's clients hide these files in local folders (ChecksumFileSystem.isChecksumFile).
_CHECKSUM: Final = re.compile(r"\..*\.crc", re.DOTALL)


@frozen
class PathStore:
    """The log of a table in a folder."""

    table: Path

    @property
    def uri(self) -> str:
        """The table's folder."""
        return str(self.table)

    def list(self, folder: str = "", *, first: str = "") -> Iterator[FileEntry]:
        """List the files directly in the log, or in a folder in it."""
        prefix = affixed("", folder, "/")
        try:
            with os.scandir(self._in_log(folder)) as entries:
                matching = (entry for entry in entries if entry.name >= first)
                yield from (file for entry in matching if (file := _file_entry(entry, prefix)))
        except (FileNotFoundError, NotADirectoryError):
            if not folder:
                help_text = "name the folder of a table; --target finds declared tables by name"
                if (number := re.search(r"@([0-9]+)\Z", str(self.table))) is not None:
                    help_text = f"write a version with v: @v{number[1]}"
                raise NoTable(
                    f"{self.table}: there is no Delta table: no folder _delta_log", help=help_text
                ) from None
        except OSError as error:
            raise self._failed(self._in_log(folder), error) from None

    def expect(self, names: Iterable[str]) -> None:
        """Do nothing: a local file is read when it is asked for."""

    def find(self, name: str) -> bytes | None:
        """Read a file of the log; None if there is no such file."""
        try:
            Path(self._in_log(name)).lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._failed(self._in_log(name), error) from None
        return self.read(name)

    def read(self, name: str) -> bytes:
        """Read a file of the log."""
        with self.open(name) as file:
            try:
                if os.fstat(file.fileno()).st_size > log_limits.MAX_SIZE:
                    raise too_large(self.uri, name)
                return file.read()
            except OSError as error:
                raise self._failed(self._in_log(name), error) from None

    def open(self, name: str) -> BinaryIO:
        """Open a file of the log for random access."""
        try:
            return _open_file(self._in_log(name))
        except _NotAFileError as error:
            raise DamagedFile(self.uri, name, str(error)) from None
        except OSError as error:
            raise self._failed(self._in_log(name), error) from None

    def open_data(self, path: str) -> BinaryIO:
        """Open a data file for random access; its path is absolute or relative to the table."""
        file = self.table / path
        try:
            return _open_file(file)
        except FileNotFoundError:
            raise MissingFile(f"{file}: there is no such file") from None
        except _NotAFileError as error:
            raise FooterError(str(error)) from None
        except OSError as error:
            raise self._failed(file, error) from None

    @cached_property
    def _log(self) -> str:
        return str(self.table / "_delta_log")

    def _in_log(self, name: str) -> str:
        # Text: a log can have many files, and with `Path` a tenth of the time would make their paths.
        if name:
            return f"{self._log}/{name}"
        return self._log

    def _failed(self, path: Path | str, error: OSError) -> LiveError:
        is_denied = isinstance(error, PermissionError)
        return LiveError(
            f"{path}: {_reason(error)}",
            help="Grant read access to the table's folder and its _delta_log." if is_denied else "",
        )


@frozen
class LocalFolder:
    """The files below a folder.

    Attributes:
        folder: The folder.
        roots: The folders that nothing is opened outside of, without links.
    """

    folder: Path
    roots: tuple[Path, ...]

    @property
    def uri(self) -> str:
        """The folder."""
        return str(self.folder)

    def files(self, folder: str) -> Iterator[str]:
        """Yield the names of the files directly in a folder."""
        yield from (entry.name for entry in self._entries(folder) if not entry.is_dir())

    def folders(self, folder: str) -> Iterator[str]:
        """Yield the names of the folders directly in a folder."""
        yield from (entry.name for entry in self._entries(folder) if entry.is_dir())

    def read(self, name: str) -> bytes | None:
        """Read a file."""
        path = self._inside(name)
        try:
            with _open_file(path) as file:
                content = file.read(log_limits.MAX_SIZE + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (_NotAFileError, OSError) as error:
            raise LiveError(f"{self.folder / name}: {_reason(error)}") from None
        if len(content) > log_limits.MAX_SIZE:
            raise LiveError(f"{self.folder / name}: the file is larger than {log_limits.MAX_SIZE >> 20} MiB")
        return content

    def _entries(self, folder: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(self._inside(folder)) as entries:
                yield from entries
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise LiveError(f"{self.folder / folder}: {_reason(error)}") from None

    def _inside(self, name: str) -> Path:
        if not is_path(name):
            raise LiveError(f"{name!r} is not a path on this machine")
        path = Path(os.path.realpath(self.folder / name))
        if not any(path.is_relative_to(root) for root in self.roots):
            raise LiveError(
                f"{self.folder / name} is a link out of the target's root and its allowed_locations",
                help="Remove the link, or allow where it leads in the target's allowed_locations.",
            )
        return path


def _reason(error: _NotAFileError | OSError) -> str:
    if isinstance(error, PermissionError):
        return "access is denied"
    return (isinstance(error, OSError) and error.strerror) or str(error)


def handles(reference: str) -> bool:
    """Whether the reference is a path or a ``file:`` URI."""
    return not _URI.match(reference) or reference.lower().startswith("file:/")


def open_store(reference: str, storage: Mapping[str, str] | None = None) -> PathStore:  # noqa: ARG001
    """Open the log of a table.

    Percent signs in a path are literal: Spark writes partitions and tables with them. A URI is decoded once.

    Raises:
        LiveError: The URI names another host, or the path is empty.
    """
    if not _URI.match(reference):
        path = reference
    elif (match := _FILE.fullmatch(reference)) and (match["host"] or "localhost").lower() == "localhost":
        path = unquote(match["path"])
    else:
        raise LiveError(f"{reference}: a file on another host cannot be read", help="Write file:///path.")
    if not path or not is_path(path):
        raise LiveError(f"{reference!r} is not a valid table path")
    return PathStore(Path(path))


def open_folder(
    reference: str,
    roots: Sequence[str],
    storage: Mapping[str, str] | None = None,  # noqa: ARG001
) -> LocalFolder | None:
    """Open a folder at or below one of the roots.

    Raises:
        LiveError: The path cannot be one of this machine.
    """
    path = local_path(reference)
    if path is None or not is_path(path):
        raise LiveError(f"{reference!r} is not a path on this machine")
    allowed = tuple(Path(os.path.realpath(root)) for root in roots if root.startswith("/"))
    folder = Path(os.path.realpath(path))
    if any(map(folder.is_relative_to, allowed)):
        return LocalFolder(Path(path), allowed)
    return None


def location_key(reference: str, storage: Mapping[str, str] | None = None) -> str:
    """Return the absolute path without symbolic links."""
    try:
        return os.path.realpath(open_store(reference, storage).table)
    except LiveError:  # another host: whoever opens the table reports it
        return reference.rstrip("/")


def holds_files(reference: str, storage: Mapping[str, str] | None = None) -> bool:
    """Whether the path is a file or a non-empty folder.

    Raises:
        LiveError: The folder cannot be listed.
    """
    folder = open_store(reference, storage).table
    try:
        with os.scandir(folder) as entries:
            return any(not _CHECKSUM.fullmatch(entry.name) for entry in entries)
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        return True
    except OSError as error:
        raise LiveError(f"{folder}: {error.strerror or 'it cannot be listed'}") from None


def holds_tables(reference: str, storage: Mapping[str, str] | None = None) -> bool:
    """Whether a table is found at or below a folder.

    Raises:
        LiveError: There is no such folder.
    """
    return next(find_tables(reference, storage), None) is not None


def find_tables(reference: str, storage: Mapping[str, str] | None = None) -> Iterator[str]:
    """Yield the paths of the tables at or below a folder.

    The search follows links, and enters each folder once.

    Raises:
        LiveError: There is no such folder; or folders below it cannot be listed, after the tables that
            were found.
    """
    root = open_store(reference, storage).table
    if not root.is_dir():
        raise LiveError(f"{root}: there is no such folder", help="Mount it, or look for a spelling mistake.")
    failed: list[str] = []
    yield from map(str, _tables(root, MOST_LEVELS, set(), failed))
    if failed:
        raise LiveError(
            f"{root}: tables may be missing, these folders cannot be listed: {', '.join(failed)}",
            help="Grant read access to all folders below the root.",
        )


def _tables(folder: Path, levels: int, entered: set[tuple[int, int]], failed: list[str]) -> Iterator[Path]:
    try:
        status = folder.stat()
        with os.scandir(folder) as entries:
            names = sorted(
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and _is_folder(entry, failed)
            )
    except OSError:
        failed.append(str(folder))
        return
    if (status.st_dev, status.st_ino) in entered:
        return
    entered.add((status.st_dev, status.st_ino))
    if "_delta_log" in names:
        yield folder
    elif levels:
        for name in names:
            yield from _tables(folder / name, levels - 1, entered, failed)


def _is_folder(entry: os.DirEntry[str], failed: list[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # such as a link to itself, which does not hide the folders beside it
        failed.append(entry.path)
        return False


class _NotAFileError(Exception):
    """A path in the log is not a regular file: reading a pipe would block, and a device has no end."""


def _open_file(path: Path | str) -> BinaryIO:
    try:
        file = open(path, "rb", opener=_open_nonblocking)  # noqa: SIM115 (the caller closes it)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise _NotAFileError(_NOT_A_FILE[error.errno]) from None
        raise
    except ValueError:
        raise _NotAFileError("its name has a NUL character") from None
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _NotAFileError("it is not a regular file")
    return file


def _open_nonblocking(path: str, flags: int) -> int:
    """Open a path; a pipe does not wait for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _file_entry(entry: os.DirEntry[str], prefix: str) -> FileEntry | None:
    """Return None for folders; list pipes and devices too, so that reading them reports an error."""
    try:
        status = entry.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return FileEntry(f"{prefix}{entry.name}")
        raise
    if stat.S_ISDIR(status.st_mode):
        return None
    return FileEntry(f"{prefix}{entry.name}", status.st_size, status.st_mtime_ns // 1_000_000)
