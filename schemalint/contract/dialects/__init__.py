"""The formats of contracts: one module or package each, found by walking this package."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Protocol, cast

from schemalint.document import Document
from schemalint.errors import ContractError
from schemalint.model.contract import Contract
from schemalint.model.finding import Edit


class Dialect(Protocol):
    """What a module does for its format."""

    def handles(self, document: Document) -> bool:
        """Whether the document is a contract in this format."""

    def read(self, document: Document) -> Contract | tuple[ContractError, ...]:
        """The contract, or all that is wrong with it."""

    def edited(self, document: Document, edit: Edit, target: str | None) -> str:
        """The text of the whole file after an edit; None is the contract that all targets share."""


def dialect_of(document: Document) -> Dialect | None:
    """The format of a document; None if it is no contract."""
    return next((dialect for dialect in dialects() if dialect.handles(document)), None)


@cache
def dialects() -> tuple[Dialect, ...]:
    """All formats, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(cast("Dialect", importlib.import_module(f"{__name__}.{name}")) for name in names)
