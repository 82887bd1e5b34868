"""The numbered files of a stream: Spark's HDFSMetadataLog, which offsets, commits and schema logs use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from schemalint.tables.delta_log import limits
from schemalint.tables.delta_log.jsontext import JsonError, read_json

if TYPE_CHECKING:
    from schemalint.tables.delta_log.store import FolderStore

_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_VERSION: Final = re.compile(r"v([0-9]{1,9})")
_MOST_LINES: Final = 1_000
"""Lines of a file; a query has a source per line, and Spark plans no query with so many."""


class StreamFileError(Exception):
    """A file of a stream cannot be understood.

    Attributes:
        file: The path relative to the checkpoint.
        reason: A predicate that follows the name of the file.
        line: The line, from 1.
        delta_error: The error class with which the query fails, as measured on Delta 4.4.0.
    """

    def __init__(
        self, file: str, reason: str, line: int | None = None, *, delta_error: str | None = None
    ) -> None:
        super().__init__(f"{file}{f', line {line}' if line else ''} {reason}")
        self.file = file
        self.reason = reason
        self.line = line
        self.delta_error = delta_error


def newest(store: FolderStore, folder: str) -> int | None:
    """Return the highest number of the files in a folder; None without any.

    Raises:
        StreamFileError: The name is another spelling of the number, such as ``07``: Spark looks for ``7``.
        LiveError: The folder cannot be listed.
    """
    name = max((name for name in store.files(folder) if _NUMBER.fullmatch(name)), key=int, default=None)
    if name is None:
        return None
    if name != str(int(name)):
        raise StreamFileError(
            f"{folder}/{name}", f"is no file of a stream, but Spark takes it for {int(name)}"
        )
    return int(name)


def lines(store: FolderStore, file: str, newest_version: int, empty_error: str | None = None) -> list[str]:
    """Return the lines of a file after its first; see `parse_lines`.

    Raises:
        StreamFileError: There is no such file, or its lines cannot be read.
        LiveError: The file cannot be fetched.
    """
    data = store.read(file)
    if data is None:
        raise StreamFileError(file, "is missing: a later one needs it")
    return parse_lines(file, data, newest_version, empty_error)


def parse_lines(file: str, data: bytes, newest_version: int, empty_error: str | None = None) -> list[str]:
    """Return the lines after the first, which has the version of the format.

    Args:
        file: The path relative to the checkpoint.
        data: The content.
        newest_version: The newest version that Spark reads.
        empty_error: The error class with which the query fails if the file is empty.

    Raises:
        StreamFileError: There is no such line, or a version that Spark does not read.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise StreamFileError(file, "is no text in UTF-8") from None
    if text.count("\n") > _MOST_LINES:
        raise StreamFileError(file, f"has more than {_MOST_LINES:,} lines, a limit of schemalint")
    first, *others = text.split("\n")
    match = _VERSION.fullmatch(first.rstrip("\r"))
    if match is None or not int(match[1]):
        fault = "is empty" if not text else "does not begin with the version of its format, such as v1"
        raise StreamFileError(file, fault, 1, delta_error="MALFORMED_LOG_FILE" if text else empty_error)
    if int(match[1]) > newest_version:
        raise StreamFileError(
            file,
            f"has version {int(match[1])} of its format, newer than {newest_version}",
            1,
            delta_error="INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION",
        )
    return others


def json_object(file: str, line: int, text: str, delta_error: str | None = None) -> dict[str, object]:
    """Return the JSON object in a line.

    Raises:
        StreamFileError: There is no JSON object.
    """
    try:
        content = read_json(text, limits.MAX_ACTION)
    except JsonError as error:
        raise StreamFileError(file, str(error), line, delta_error=delta_error) from None
    if not isinstance(content, dict):
        raise StreamFileError(file, "is not a JSON object", line, delta_error=delta_error)
    return content


def whole_number(value: object) -> int | None:
    """Return a 64-bit integer, which Jackson also reads from a text; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,19}", value):
        value = int(value)
    return value if type(value) is int and -(2**63) <= value < 2**63 else None
