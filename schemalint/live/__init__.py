"""Where live tables are found: one module per kind of reference, found by walking this package.

Such a module has two functions: ``handles(reference) -> bool`` and ``open_store(reference) -> LogStore``.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from schemalint.delta_log.reader import read_table
from schemalint.errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.delta_log.store import LogStore
    from schemalint.model.table import LiveTable


class ReferenceKind(Protocol):
    """What a module of this package is."""

    def handles(self, reference: str) -> bool:
        """Whether the reference is of this kind."""

    def open_store(self, reference: str) -> LogStore:
        """The log of the table; `LiveError` if the reference makes no sense."""


def read(reference: str, *, version: int | None = None, history: bool = True) -> LiveTable:
    """Read a table wherever it lies, as `schemalint.delta_log.reader.read_table` does.

    Raises:
        NoTable: There is no table.
        LiveError: It cannot be reached or read, or its kind of reference is not known.
    """
    return read_table(open_store(reference), version=version, history=history)


def open_store(reference: str) -> LogStore:
    """The log of a table.

    Raises:
        LiveError: The kind of reference is not known, or the reference makes no sense.
    """
    for kind in _kinds():
        if kind.handles(reference):
            return kind.open_store(reference)
    raise LiveError(
        f"{reference}: this version of schemalint does not read tables there: no object stores, no catalogs",
        help="Give a local path or a file: URI.",
    )


def _kinds() -> Iterator[ReferenceKind]:
    for module in pkgutil.iter_modules(__path__):
        yield cast("ReferenceKind", import_module(f"{__name__}.{module.name}"))
