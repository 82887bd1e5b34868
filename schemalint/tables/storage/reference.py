"""A reference to a table at a point in time: ``<table>@v12``, ``<table>@2026-11-01``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

# The first two forms are Delta's own (DeltaTimeTravelSpec.scala): a version, and yyyyMMddHHmmssSSS.
_VERSION: Final = re.compile(r"(?P<table>.+)@[vV](?P<version>[0-9]{1,19})", re.DOTALL)
_DIGITS: Final = re.compile(r"(?P<table>.+)@(?P<instant>[0-9]{17})", re.DOTALL)
_DIGITS_TO_ISO: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})")
_ISO: Final = re.compile(
    r"(?P<table>.+)@(?P<instant>[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.+Z-]+)?)", re.DOTALL
)
_PATH_OR_URI: Final = re.compile(r"[/\\]|^\.|^[A-Za-z][A-Za-z0-9+.-]*:")
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


@frozen
class TableReference:
    """A table at a version or an instant; the latest version if neither is set.

    Attributes:
        table: A path, a URI or a name.
        at: Milliseconds since the epoch.
    """

    table: str
    version: int | None = None
    at: int | None = None


def parse_reference(reference: str, exists: Callable[[str], bool] = lambda _table: False) -> TableReference:
    """Split a reference into the table and its version or instant.

    A reference without such an ending means the latest version. A date means its first instant; a time
    without an offset is in UTC.

    Args:
        reference: A path, a URI or a name, optionally followed by ``@`` and a version or an instant.
        exists: Whether a table has exactly this reference, because a path may itself end in ``@v1``.

    Raises:
        LiveError: The instant is not a valid date or time.
    """
    if match := _VERSION.fullmatch(reference):
        parsed = TableReference(match["table"], version=int(match["version"]))
    elif match := _DIGITS.fullmatch(reference) or _ISO.fullmatch(reference):
        parsed = TableReference(match["table"], at=_milliseconds(match["instant"], reference))
    else:
        return TableReference(reference)
    return TableReference(reference) if exists(reference) else parsed


def is_path_or_uri(reference: str) -> bool:
    """Whether a reference is a path or a URI; a single word is a name unless a folder has that name."""
    return bool(_PATH_OR_URI.search(reference)) or Path(reference).is_dir()


def _milliseconds(text: str, reference: str) -> int:
    try:
        instant = datetime.fromisoformat(_DIGITS_TO_ISO.sub(r"\1-\2-\3T\4:\5:\6.\7", text))
    except ValueError as error:
        raise LiveError(
            f"{reference}: {text!r} is not a valid date or time: {error}",
            help="Write @v12, @2026-11-01, @2026-11-01T10:00:00Z or @20261101100000000.",
        ) from None
    utc_instant = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
    return (utc_instant - _EPOCH) // timedelta(milliseconds=1)
