"""Access to the files of a log, independent of the store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import BinaryIO, Final, Protocol

from schemalint.base.errors import LiveError
from schemalint.base.phrases import affixed
from schemalint.base.values import frozen
from schemalint.tables.delta_log import log_limits

DAMAGED: Final = "The log is damaged: restore the file, or repair the table with Delta's own tools."
"""What to do about a file of a log that is missing or cannot be parsed."""

_BEYOND: Final = (
    "The file may be healthy: schemalint limits what it reads, to be safe from hostile files. "
    "If Delta wrote this table, report a bug."
)


class NoTable(LiveError):  # noqa: N818 - an answer more than an error: apply creates the table
    """There is no Delta table: no log, or a log with neither commits nor checkpoints."""


class MissingFile(LiveError):  # noqa: N818 - the file is what is missing
    """A data file that the log names does not exist."""


class DamagedFile(LiveError):  # noqa: N818 - the file is what is wrong
    """A file of the log was fetched, but cannot be parsed or exceeds a limit.

    Attributes:
        file: Path relative to ``_delta_log``.
        reason: A sentence without the file's name.
        line: Line in a file of JSON lines, from 1.
        delta_error: The error that Spark raises if it has to read the file, where measured.
    """

    def __init__(
        self,
        uri: str,
        file: str,
        reason: str,
        line: int | None = None,
        *,
        delta_error: str | None = None,
        is_limit: bool = False,
    ) -> None:
        if is_limit:
            reason = f"{log_limits.BEYOND}: {reason}"
        location = f"{uri}/_delta_log/{file}{affixed(', line ', line)}"
        super().__init__(
            f"{location}: {reason}",
            help=_BEYOND if is_limit else DAMAGED,
        )
        self.file = file
        self.reason = reason
        self.line = line
        self.delta_error = delta_error


@frozen
class FileEntry:
    """A file in the log.

    Attributes:
        name: Path relative to ``_delta_log``, with ``/``.
        size: Size in bytes. Limits depend on it: a store whose listing has no sizes must ask for them.
        modified_ms: Milliseconds since the epoch, None if the store does not know.
    """

    name: str
    size: int = 0
    modified_ms: int | None = None


class LogStore(Protocol):
    """Access to one table's ``_delta_log``; every method raises `LiveError` if it fails."""

    @property
    def uri(self) -> str:
        """The table's URI for messages."""

    def list(self, folder: str = "", *, first: str = "") -> Iterable[FileEntry]:
        """List the files directly in the log, or in a folder in it, in any order.

        Args:
            folder: The folder.
            first: Files whose names come before it are not needed; a store leaves them out if it can list
                from a name on.

        Raises:
            NoTable: There is no log; a folder in the log may be missing.
        """

    def expect(self, names: Iterable[str]) -> None:
        """Note listed files that are read next, in this order; a remote store requests them at once."""

    def find(self, name: str) -> bytes | None:
        """Return a file's content as `read` does; None if there is no such file."""

    def read(self, name: str) -> bytes:
        """Return a file's content; `DamagedFile` if it is no regular file, or over `log_limits.MAX_SIZE`."""

    def open(self, name: str) -> BinaryIO:
        """Open a seekable file, for Parquet and for large files."""


class TableStore(LogStore, Protocol):
    """Access to the log and the data files of a table."""

    def open_data(self, path: str) -> BinaryIO:
        """Open a seekable data file by its decoded path in the table's folder.

        Raises:
            MissingFile: The file does not exist.
            FooterError: The path is not a file.
        """


class FolderStore(Protocol):
    """Access to the small files below a folder that is not a table; `LiveError` if it fails.

    It opens nothing outside of the folders that it was allowed, whatever links say.
    """

    @property
    def uri(self) -> str:
        """The folder's URI for messages."""

    def files(self, folder: str) -> Iterable[str]:
        """Yield the names of the files directly in a folder; none if it is missing."""

    def folders(self, folder: str) -> Iterable[str]:
        """Yield the names of the folders directly in a folder; none if it is missing."""

    def read(self, name: str) -> bytes | None:
        """Return a file's content; None if there is no such file."""


def too_large(uri: str, name: str) -> DamagedFile:
    """Return the error for a file that is too large to read at once."""
    return DamagedFile(uri, name, f"the file is larger than {log_limits.MAX_SIZE >> 20} MiB", is_limit=True)
