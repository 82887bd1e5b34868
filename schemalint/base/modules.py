"""The modules of a package that is listed, not registered: a new file adds a format, a store, a catalog.

A module with a leading underscore is a helper. The interface is a Protocol, which mypy cannot compare with a
module that is found by its name: `module_of` does.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import TypeVar, cast

from schemalint.base.errors import InternalError

P = TypeVar("P")


def module_names(package: ModuleType) -> tuple[str, ...]:
    """Return the names of a package's modules, sorted: ``json_lines.py`` is ``json-lines``."""
    names = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name.replace("_", "-") for name in names if not name.startswith("_")))


def module_of(package: ModuleType, name: str, interface: type[P]) -> P:
    """Import the module with a name of `module_names`, and no other one.

    Raises:
        InternalError: The module lacks a member of the interface.
    """
    module = import_module(f"{package.__name__}.{name.replace('-', '_')}")
    members = {*interface.__annotations__, *vars(interface)}
    missing = [member for member in sorted(members) if member[0] != "_" and not hasattr(module, member)]
    if missing:
        raise InternalError(f"{module.__name__} lacks {', '.join(missing)} of {interface.__name__}")
    return cast("P", module)
