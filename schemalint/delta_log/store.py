"""Where the files of a log come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

from schemalint.delta_log import limits
from schemalint.errors import LiveError
from schemalint.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable


_DAMAGED: Final = "The log is damaged: restore the file, or repair the table with Delta's own tools."
_BEYOND: Final = (
    "The file may be healthy: schemalint reads no more than this of a table, to be safe from hostile ones. "
    "Where the table is what Delta wrote, report it as a bug."
)


class NoTable(LiveError):  # noqa: N818 - an answer more than an error: the table is to be created
    """There is no Delta table: no log, or one without a commit and a checkpoint."""


class MissingFile(LiveError):  # noqa: N818 - the file is what is missing
    """A data file that the log names is not there."""


class DamagedFile(LiveError):  # noqa: N818 - the file is what is wrong
    """A file of the log that could be fetched, and not be understood, or is more than is read.

    Attributes:
        file: Relative to ``_delta_log``.
        reason: A sentence, without the name of the file.
        line: From 1, in a file of JSON lines.
        delta_error: What Spark says if it has to read the file, as far as it was measured.
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
        reason = f"{limits.BEYOND}: {reason}" if is_limit else reason
        place = f"{uri}/_delta_log/{file}" + (f", line {line}" if line else "")
        super().__init__(
            f"{place}: {reason}",
            help=_BEYOND if is_limit else _DAMAGED,
        )
        self.file = file
        self.reason = reason
        self.line = line
        self.delta_error = delta_error


@frozen
class FileEntry:
    """A file in the log.

    Attributes:
        name: Relative to ``_delta_log``, with ``/``.
        size: In bytes.
        modified_ms: Milliseconds since the epoch, where the store knows.
    """

    name: str
    size: int = 0
    modified_ms: int | None = None


class LogStore(Protocol):
    """Access to one table's ``_delta_log``; every method raises `LiveError` if it fails."""

    @property
    def uri(self) -> str:
        """The table, for people."""

    def list(self) -> Iterable[FileEntry]:
        """The files directly in the log, in any order; `NoTable` if there is no such folder."""

    def read(self, name: str) -> bytes:
        """A file's content; `DamagedFile` if it is no file, or larger than `limits.MAX_SIZE`."""

    def open(self, name: str) -> BinaryIO:
        """A file to seek in, for Parquet and for what is large."""


class TableStore(LogStore, Protocol):
    """Access to the data files too."""

    def open_data(self, path: str) -> BinaryIO:
        """A data file to seek in, by its decoded path in the table's folder.

        Raises:
            MissingFile: It is gone.
            FooterError: It is no file.
        """


def too_large(uri: str, name: str) -> DamagedFile:
    """The error for a file that is not read at once."""
    return DamagedFile(uri, name, f"the file is larger than {limits.MAX_SIZE >> 20} MiB", is_limit=True)
