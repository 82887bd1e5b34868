"""The values that a line of JSON holds."""

from __future__ import annotations

import datetime as dt
from typing import Final

from schemalint.base.errors import LiveError
from schemalint.base.json_object import JsonObject
from schemalint.base.values import frozen
from schemalint.delta.table import LiveTable

FORMAT: Final = 1
"""The version of the format; it changes when the meaning of a key changes."""


class TableJsonError(LiveError):
    """The JSON was not written by ``show --output-format json``."""


@frozen
class TableDocument:
    """A live table with the time of reading.

    Attributes:
        read_at: The time of reading, with a time zone.
        table: The table's name, if it was requested by name.
        target: The target in which the name was looked up.
        is_latest: Whether this is the latest version at that time, and not an older version.
    """

    live: LiveTable
    read_at: dt.datetime
    table: str | None = None
    target: str | None = None
    is_latest: bool = True

    @property
    def uri(self) -> str:
        """The table's URI."""
        return self.live.uri


@frozen
class TableFailure:
    """A table that could not be read; ``missing`` if the reason is that it does not exist."""

    uri: str
    message: str
    read_at: dt.datetime
    help: str = ""
    table: str | None = None
    target: str | None = None
    missing: bool = False


def written_by_show(value: object) -> JsonObject:
    """Return the JSON object of a line; its methods raise `TableJsonError`."""
    return JsonObject.of(value, _refused)


def _refused(path: str, expected: str, _found: object) -> TableJsonError:
    return TableJsonError(
        f"{path or 'a line'} must be {expected}",
        help="Write the file with `schemalint show --output-format json`.",
    )
