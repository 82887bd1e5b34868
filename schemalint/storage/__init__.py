"""Where tables lie. Each kind of place is a module of `schemalint.storage.kinds`; see `ReferenceKind`."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Mapping
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, cast

from schemalint.delta_log import reader
from schemalint.errors import LiveError
from schemalint.storage.reference import TableReference, is_place, parse_reference
from schemalint.storage.requests import concurrently

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta.table import LiveTable
    from schemalint.delta_log.store import TableStore

__all__ = [
    "MOST_LEVELS",
    "NO_OPTIONS",
    "ReferenceKind",
    "TableReference",
    "find_tables",
    "holds_files",
    "is_place",
    "is_remote",
    "open_store",
    "parse_reference",
    "read_many",
    "read_table",
]

NO_OPTIONS: Final[Mapping[str, str]] = MappingProxyType({})

MOST_LEVELS: Final = 12
"""Of folders between a root and the tables that are found below it."""


class ReferenceKind(Protocol):
    """What a module of `schemalint.storage.kinds` is.

    Attributes:
        IS_REMOTE: Whether reading waits for a network, so that several tables are read at the same time.
    """

    IS_REMOTE: bool

    def handles(self, reference: str) -> bool:
        """Whether the reference is of this kind."""

    def open_store(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> TableStore:
        """The log of the table; `LiveError` if the reference makes no sense."""

    def holds_files(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
        """Whether anything lies at a place; see `holds_files` of the package."""

    def find_tables(self, reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> Iterator[str]:
        """The tables at or below a place, by reference; see `find_tables` of the package."""


def read_table(
    reference: str,
    *,
    version: int | None = None,
    at: int | None = None,
    history: bool = True,
    storage: Mapping[str, str] = NO_OPTIONS,
) -> LiveTable:
    """Read a table wherever it lies, as `schemalint.delta_log.reader.read_table` does.

    Args:
        reference: A path or a URI.
        version: See `read_table`; `parse_reference` takes it out of a reference.
        at: Likewise.
        history: See `read_table`.
        storage: What opens the store, with the values themselves: see `schemalint.config.resolve_storage`.
            Whatever is not in it comes from the environment.

    Raises:
        NoTable: There is no table.
        LiveError: It cannot be reached or read, or its kind of reference is not known.
    """
    return reader.read_table(open_store(reference, storage), version=version, at=at, history=history)


def read_many(
    references: Iterable[str],
    *,
    history: bool = True,
    storage: Mapping[str, str] = NO_OPTIONS,
) -> tuple[LiveTable | LiveError, ...]:
    """Read the latest version of many tables, those that lie somewhere else at the same time.

    Returns:
        For each reference, in their order, the table, or why it could not be read (`NoTable`: there is none).
    """
    read_one = partial(_read_or_error, history=history, storage=storage)
    wanted = tuple(references)
    remote = tuple(dict.fromkeys(one for one in wanted if is_remote(one)))
    found = dict(zip(remote, concurrently(read_one, remote), strict=True))
    return tuple(found[one] if one in found else read_one(one) for one in wanted)


def open_store(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> TableStore:
    """The log of a table, and its data files.

    Raises:
        LiveError: The kind of reference is not known, or the reference makes no sense.
    """
    return _kind_of(reference).open_store(reference, storage)


def holds_files(reference: str, storage: Mapping[str, str] = NO_OPTIONS) -> bool:
    """Whether anything lies at a place: Delta makes a table in an empty one only.

    Anything counts, an empty folder too (TABLE_OR_VIEW_ALREADY_EXISTS, measured on Delta 4.4.0).

    Raises:
        LiveError: The place cannot be looked at, or its kind of reference is not known.
    """
    return _kind_of(reference).holds_files(reference, storage)


def find_tables(root: str, storage: Mapping[str, str] = NO_OPTIONS) -> Iterator[str]:
    """The references of all tables at or below a place, in order: folders that hold a ``_delta_log``.

    Nothing is looked for inside of a table, in hidden folders, and more than `MOST_LEVELS` below the root.

    Raises:
        LiveError: The place cannot be listed, or a part of it: then after all that could be found.
    """
    yield from _kind_of(root).find_tables(root, storage)


def is_remote(reference: str) -> bool:
    """Whether reading there waits for a network; what no kind handles counts as remote."""
    kind = _find_kind(reference)
    return kind is None or kind.IS_REMOTE


def _read_or_error(reference: str, *, history: bool, storage: Mapping[str, str]) -> LiveTable | LiveError:
    try:
        return read_table(reference, history=history, storage=storage)
    except LiveError as error:
        return error


def _kind_of(reference: str) -> ReferenceKind:
    if (kind := _find_kind(reference)) is not None:
        return kind
    raise LiveError(
        f"{reference}: this version of schemalint does not read tables there",
        help="Give a path, or a URI that begins with file:, s3:, gs:, az: or abfss:.",
    )


def _find_kind(reference: str) -> ReferenceKind | None:
    from schemalint.storage import kinds  # noqa: PLC0415 (they build on this module)

    for module in pkgutil.iter_modules(kinds.__path__):
        kind = cast("ReferenceKind", import_module(f"{kinds.__name__}.{module.name}"))
        if kind.handles(reference):
            return kind
    return None
