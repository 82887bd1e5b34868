"""Tables in the file system, by path or ``file:`` URI."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import unquote

from schemalint.delta_log.store import FileEntry, NoTable
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

# A scheme has two letters at least, so that a drive of Windows is a path.
_URI: Final = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_FILE: Final = re.compile(r"file:(?://(?P<host>[^/]*))?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
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
                yield from (_entry(entry) for entry in entries if entry.is_file())
        except (FileNotFoundError, NotADirectoryError):
            raise NoTable(f"{self.table}: there is no Delta table: no folder _delta_log") from None
        except OSError as error:
            raise self._failed(self._log, error) from None

    def read(self, name: str) -> bytes:
        """A file's content."""
        try:
            return self._log.joinpath(name).read_bytes()
        except OSError as error:
            raise self._failed(self._log / name, error) from None

    def open(self, name: str) -> BinaryIO:
        """A file to seek in."""
        try:
            return self._log.joinpath(name).open("rb")
        except OSError as error:
            raise self._failed(self._log / name, error) from None

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


def open_store(reference: str) -> PathStore:
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


def _entry(entry: os.DirEntry[str]) -> FileEntry:
    status = entry.stat()
    return FileEntry(entry.name, status.st_size, status.st_mtime_ns // 1_000_000)
