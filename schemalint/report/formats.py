"""The output format that a user names: a module of a package of formats."""

from __future__ import annotations

from types import ModuleType
from typing import TypeVar

from schemalint.base.errors import UsageError
from schemalint.base.modules import module_names, module_of

P = TypeVar("P")


def format_module(package: ModuleType, name: str, interface: type[P]) -> P:
    """Import the format with the given name, and no other format.

    Raises:
        UsageError: There is no such format.
    """
    names = module_names(package)
    if name not in names:
        raise UsageError(f"there is no output format {name!r}", help=f"choose one of {', '.join(names)}")
    return module_of(package, name, interface)
