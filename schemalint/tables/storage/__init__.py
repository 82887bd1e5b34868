"""Storage of tables. Each kind of store is a module of `schemalint.tables.storage.kinds`; see `StoreKind`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

from schemalint.base.errors import LiveError
from schemalint.base.modules import module_names, module_of
from schemalint.base.values import frozen
from schemalint.delta.table import LiveTable
from schemalint.tables.delta_log import table_reader
from schemalint.tables.delta_log.store import FolderStore, TableStore

NO_OPTIONS: Final[Mapping[str, str]] = MappingProxyType({})

MOST_SEARCHED: Final = 100
"""Folders that `holds_tables` lists."""

MOST_LEVELS: Final = 12
"""Levels of folders that `find_tables` searches below a root."""


# The first two forms are Delta's own (DeltaTimeTravelSpec.scala): a version, and yyyyMMddHHmmssSSS.
_VERSION: Final = re.compile(r"(?P<table>.+)@[vV](?P<version>[0-9]{1,19})", re.DOTALL)
_DIGITS: Final = re.compile(r"(?P<table>.+)@(?P<instant>[0-9]{17})", re.DOTALL)
_DIGITS_TO_ISO: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d{3})")
_ISO: Final = re.compile(
    r"(?P<table>.+)@(?P<instant>[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9:.+Z-]+)?)", re.DOTALL
)
_PATH_OR_URI: Final = re.compile(r"[/\\]|^\.|^[A-Za-z][A-Za-z0-9+.-]*:")
_EPOCH: Final = datetime.fromtimestamp(0, UTC)


class StoreKind(Protocol):
    """The interface of a module in `schemalint.tables.storage.kinds`; no two handle the same references.

    Attributes:
        SCHEMES: The schemes of its URIs, for messages.
        IS_REMOTE: Whether reading uses a network; such tables are read side by side.
    """

    SCHEMES: tuple[str, ...]
    IS_REMOTE: bool

    def handles(self, reference: str) -> bool:
        """Whether this module reads the reference."""

    def open_store(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> TableStore:
        """Open the log of a table; raise `LiveError` if the reference is invalid."""

    def open_folder(
        self, reference: str, roots: Sequence[str], storage: Mapping[str, str] = NO_OPTIONS
    ) -> FolderStore | None:
        """Open a folder at or below one of the roots; see `open_folder` of the package."""

    def holds_files(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
        """Whether the location holds anything; see `holds_files` of the package."""

    def holds_tables(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
        """Whether a table is found below the location; see `holds_tables` of the package."""

    def find_tables(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> Iterator[str]:
        """Yield the references of the tables at or below a location; see `find_tables` of the package."""

    def location_key(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> str:
        """Return the key of a location without a request; see `location_key` of the package."""


def read_table(
    reference: str,
    *,
    version: int | None = None,
    at: int | None = None,
    history: bool = True,
    storage: Mapping[str, str] = NO_OPTIONS,
) -> LiveTable:
    """Read a table from any kind of store; see `schemalint.tables.delta_log.table_reader.read_table`.

    Args:
        reference: A path or a URI, without ``@version``: see `parse_reference`.
        version: The version to read; the latest if neither `version` nor `at` is given.
        at: Milliseconds since the epoch.
        history: Whether to read the table's whole history.
        storage: Settings of the store with resolved values: see
            `schemalint.project.config.trust.resolve_storage`. Missing settings come from the environment.

    Raises:
        NoTable: There is no table.
        LiveError: The table cannot be reached or read, or the kind of reference is unknown.
    """
    reopen = partial(open_store, reference, storage)
    return table_reader.read_table(reopen(), version=version, at=at, history=history, reopen=reopen)


def open_store(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> TableStore:
    """Open the log and the data files of a table.

    Raises:
        LiveError: The kind of reference is unknown, or the reference is invalid.
    """
    return _kind_of(reference).open_store(reference, storage)


def open_folder(
    reference: str, roots: Sequence[str], storage: Mapping[str, str] = NO_OPTIONS
) -> FolderStore | None:
    """Open a folder that a stranger may have chosen, at or below one of the roots.

    Args:
        reference: The folder, as Hadoop takes it: percent signs are literal, in a ``file:`` URI too.
        roots: Absolute paths and URIs. Links are followed as long as they do not lead out of the roots.
        storage: The settings of the roots' store.

    Returns:
        None if the folder is outside of all roots: nothing was opened.

    Raises:
        LiveError: The kind of reference is unknown, or the reference is invalid.
    """
    return _kind_of(reference).open_folder(reference, roots, storage)


def holds_files(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Whether a location holds anything: Delta creates a table only in an empty one.

    Anything counts, even an empty folder (TABLE_OR_VIEW_ALREADY_EXISTS, measured on Delta 4.4.0).

    Raises:
        LiveError: The location cannot be listed, or the kind of reference is unknown.
    """
    return _kind_of(reference).holds_files(reference, storage)


def holds_tables(root: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Whether a Delta table is found at or below a location, within the first `MOST_SEARCHED` folders.

    Raises:
        LiveError: The location cannot be listed, or the kind of reference is unknown.
    """
    return _kind_of(root).holds_tables(root, storage)


def find_tables(root: str, storage: Mapping[str, str] = NO_OPTIONS) -> Iterator[str]:
    """Yield the references of all tables at or below a location, sorted: folders with a ``_delta_log``.

    The search skips folders inside a table, hidden folders, and folders more than `MOST_LEVELS` levels below
    the root.

    Raises:
        LiveError: The location cannot be listed; or a folder below it cannot, after the tables that were
            found.
    """
    yield from _kind_of(root).find_tables(root, storage)


def location_key(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> str:
    """Return a text that two references share exactly if they lead to the same place of a store.

    Spellings do not count: ``file:///lake/t`` and ``/lake/t/``, ``s3://`` and ``s3a://``. A reference of an
    unknown kind is its own key.
    """
    kind = _find_kind(reference)
    if kind is None:
        return reference.rstrip("/")
    return kind.location_key(reference, storage)


def is_remote(reference: str) -> bool:
    """Whether reading the reference uses a network; references of unknown kinds count as remote."""
    kind = _find_kind(reference)
    return kind is None or kind.IS_REMOTE


def _kind_of(reference: str) -> StoreKind:
    if (kind := _find_kind(reference)) is not None:
        return kind
    schemes = ", ".join(f"{scheme}:" for kind in _kinds() for scheme in kind.SCHEMES)
    raise LiveError(
        f"{reference}: this version of schemalint cannot read tables from such a URI",
        help=f"Give a path, or a URI that begins with one of {schemes}.",
    )


def _find_kind(reference: str) -> StoreKind | None:
    return next((kind for kind in _kinds() if kind.handles(reference)), None)


@cache
def _kinds() -> tuple[StoreKind, ...]:
    from schemalint.tables.storage import kinds  # noqa: PLC0415 (its modules import this one)

    return tuple(module_of(kinds, name, StoreKind) for name in module_names(kinds))


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
    if exists(reference):
        return TableReference(reference)
    return parsed


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
