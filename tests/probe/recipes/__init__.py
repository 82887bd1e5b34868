"""One module per reader that a probe knows; a module added here is found by listing the package.

A recipe runs as a program of its own (`probe.reader`), with the Python that has the reader. It
imports the reader, and nothing of schemalint.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

ReadTable: TypeAlias = Callable[[str], Iterable[Mapping[str, Any]]]
"""Returns the rows of the table at a path or URI; any exception is the reader's refusal."""


class Recipe(Protocol):
    """What a recipe module provides."""

    READ_PATHS: Mapping[str, ReadTable]
    """The read paths by their names in the client table; a reader with one has it under an empty name."""

    @staticmethod
    def version() -> str:
        """Return the version of the reader, as the client table has it."""


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes: those of their clients in the client table."""
    return tuple(sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(__path__)))


def recipe_file(name: str) -> Path:
    """Return the file of a recipe."""
    return Path(__path__[0], f"{name.replace('-', '_')}.py")
