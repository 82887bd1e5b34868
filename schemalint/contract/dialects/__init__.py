"""The contract formats: one module or package per format, discovered by walking this package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Protocol, cast

from schemalint.base.document import Document
from schemalint.base.document.excerpt import Excerpt
from schemalint.base.errors import ContractError
from schemalint.delta.table import TableState
from schemalint.model.contract import Contract
from schemalint.model.finding import Edit


class Part(Protocol):
    """Edits that are made together in an excerpt."""

    @property
    def edits(self) -> Sequence[Edit]:
        """The edits, in order."""

    @property
    def excerpt(self) -> Excerpt:
        """The excerpt."""


class Division(Protocol):
    """Divides edits of one contract among excerpts."""

    def parts(self, edits: Sequence[Edit]) -> Iterable[Part]:
        """Return the parts; raise a LookupError if the edits need the whole document."""

    def proves(self, text: str, made: Sequence[tuple[Part, str]]) -> bool:
        """Whether a text is the edited one: made are the parts with the edited texts of their excerpts."""


class Excerpts(Protocol):
    """Makes the excerpts of one contract."""

    def of(self, edits: Sequence[Edit]) -> Excerpt | None:
        """Return all that the edits of a contract read; None if they need the whole document."""

    def division(self) -> Division:
        """Return what divides edits among excerpts."""


class Dialect(Protocol):
    """The functions that a format's module provides."""

    def handles(self, document: Document) -> bool:
        """Whether the document is a contract in this format."""

    def read(self, document: Document) -> Contract | tuple[ContractError, ...]:
        """Return the contract, or all of its errors."""

    def read_beside(self, text: str, older: Contract) -> Contract | None:
        """Return the only contract of a text, of which `older` is the only one in an older text of the file.

        Columns with the same text are read once, and are the very same values on both sides. The result is
        that of `read`; None if it has errors, or if the whole text must be read to know it.
        """

    def table_names(self, text: str) -> Iterable[str]:
        """Return the tables that a text declares, without reading it; see `contract.reading.table_keys`."""

    def edited(self, document: Document, edits: Iterable[Edit], target: str | None) -> str:
        """Return the file's text after edits; target None edits the settings shared by all targets."""

    def excerpts(self, document: Document, state: TableState) -> Excerpts:
        """Return what makes excerpts of a contract, which declares this state."""


def dialect_of(document: Document) -> Dialect | None:
    """Return the format of a document, or None if it is not a contract."""
    return next((dialect for dialect in dialects() if dialect.handles(document)), None)


@cache
def dialects() -> tuple[Dialect, ...]:
    """Return all formats, sorted by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(cast("Dialect", importlib.import_module(f"{__name__}.{name}")) for name in names)
