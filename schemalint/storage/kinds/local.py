"""Tables in the file system, by path or ``file:`` URI."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import unquote

from schemalint.delta_log import limits
from schemalint.delta_log.footer import FooterError
from schemalint.delta_log.store import DamagedFile, FileEntry, MissingFile, NoTable, too_large
from schemalint.errors import LiveError
from schemalint.storage import MOST_LEVELS
from schemalint.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

IS_REMOTE: Final = False

# A scheme has two letters at least, so that a drive of Windows is a path.
_URI: Final = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_FILE: Final = re.compile(r"file:(?://(?P<host>[^/]*))?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)
_NO_FILE: Final = {
    errno.ELOOP: "it is a symbolic link to itself",
    errno.ENXIO: "it is no regular file",  # a device that is not there, as /dev/tty without a terminal
}
# What no client of Hadoop sees in a local folder (ChecksumFileSystem.isChecksumFile).
_CHECKSUM: Final = re.compile(r"\..*\.crc", re.DOTALL)


@frozen
class PathStore:
    """The log of a table in a folder."""

    table: Path

    @property
    def uri(self) -> str:
        """The folder."""
        return str(self.table)

    def list(self) -> Iterator[FileEntry]:
        """The files directly in the log."""
        try:
            with os.scandir(self._log) as entries:
                yield from (found for entry in entries if (found := _entry(entry)))
        except (FileNotFoundError, NotADirectoryError):
            raise NoTable(f"{self.table}: there is no Delta table: no folder _delta_log") from None
        except OSError as error:
            raise self._failed(self._log, error) from None

    def read(self, name: str) -> bytes:
        """A file's content."""
        with self.open(name) as file:
            try:
                if os.fstat(file.fileno()).st_size > limits.MAX_SIZE:
                    raise too_large(self.uri, name)
                return file.read()
            except OSError as error:
                raise self._failed(self._log / name, error) from None

    def open(self, name: str) -> BinaryIO:
        """A file to seek in."""
        try:
            return _opened(self._log / name)
        except _NoFileError as error:
            raise DamagedFile(self.uri, name, str(error)) from None
        except OSError as error:
            raise self._failed(self._log / name, error) from None

    def open_data(self, path: str) -> BinaryIO:
        """A data file to seek in, by its path in the table or an absolute one."""
        file = self.table / path
        try:
            return _opened(file)
        except FileNotFoundError:
            raise MissingFile(f"{file}: there is no such file") from None
        except _NoFileError as error:
            raise FooterError(str(error)) from None
        except OSError as error:
            raise self._failed(file, error) from None

    @property
    def _log(self) -> Path:
        return self.table / "_delta_log"

    def _failed(self, path: Path, error: OSError) -> LiveError:
        denied = isinstance(error, PermissionError)
        return LiveError(
            f"{path}: {'access is denied' if denied else error.strerror or 'it cannot be read'}",
            help="Read access to the table's folder and its _delta_log is needed." if denied else "",
        )


def handles(reference: str) -> bool:
    """A path, or a ``file:`` URI; not the URI of anything else."""
    return not _URI.match(reference) or reference.lower().startswith("file:/")


def open_store(reference: str, storage: Mapping[str, str] | None = None) -> PathStore:  # noqa: ARG001
    """The log of a table.

    A path is taken as it is, percent signs and all: Spark writes partitions and tables with them. A URI is
    decoded once.

    Raises:
        LiveError: A URI of another host, or an empty path.
    """
    if not _URI.match(reference):
        path = reference
    elif (match := _FILE.fullmatch(reference)) and (match["host"] or "localhost").lower() == "localhost":
        path = unquote(match["path"])
    else:
        raise LiveError(f"{reference}: a file of another host cannot be read", help="Write file:///path.")
    if not path or "\0" in path:
        raise LiveError(f"{reference!r} is no path of a table")
    return PathStore(Path(path))


def holds_files(reference: str, storage: Mapping[str, str] | None = None) -> bool:
    """Whether there is a file, or a folder with anything in it.

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


def find_tables(reference: str, storage: Mapping[str, str] | None = None) -> Iterator[str]:
    """The tables at or below a folder, by path.

    Links are followed, each folder is entered once.

    Raises:
        LiveError: There is no such folder; or folders below it cannot be listed, after all
            that could be found.
    """
    root = open_store(reference, storage).table
    if not root.is_dir():
        raise LiveError(f"{root}: there is no such folder", help="Mount it, or look for a spelling mistake.")
    failed: list[str] = []
    yield from map(str, _tables(root, MOST_LEVELS, set(), failed))
    if failed:
        raise LiveError(
            f"{root}: tables may be missing, these folders cannot be listed: {', '.join(failed)}",
            help="Read access to all folders below the root is needed.",
        )


def _tables(folder: Path, levels: int, entered: set[tuple[int, int]], failed: list[str]) -> Iterator[Path]:
    try:
        status = folder.stat()
        with os.scandir(folder) as found:
            names = sorted(entry.name for entry in found if entry.is_dir() and not entry.name.startswith("."))
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


class _NoFileError(Exception):
    """What has the name of a file and is none: a pipe would be waited for, and a device has no end."""


def _opened(path: Path) -> BinaryIO:
    try:
        file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 (whoever reads it closes it)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise _NoFileError(_NO_FILE[error.errno]) from None
        raise
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise _NoFileError("it is no regular file")
    return file


def _open_at_once(path: str, flags: int) -> int:
    """A pipe's end is opened without waiting for the other one."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _entry(entry: os.DirEntry[str]) -> FileEntry | None:
    """What is no file and no folder is listed: whoever needs it is told so."""
    try:
        status = entry.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return FileEntry(entry.name)
        raise
    if stat.S_ISDIR(status.st_mode):
        return None
    return FileEntry(entry.name, status.st_size, status.st_mtime_ns // 1_000_000)
