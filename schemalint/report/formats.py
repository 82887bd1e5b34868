"""Output formats: each module of a package is a format with a function ``render``.

A new module in the package adds a format. Modules with a leading underscore are helpers of the formats.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from schemalint.base.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType


def format_names(package: ModuleType) -> tuple[str, ...]:
    """Return the names of a package's formats, sorted: ``json_lines.py`` is the format ``json-lines``."""
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name.replace("_", "-") for name in modules if not name.startswith("_")))


def format_module(package: ModuleType, name: str) -> Any:  # noqa: ANN401 (a module)
    """Import the format with the given name, and no other format.

    Raises:
        UsageError: There is no such format.
    """
    names = format_names(package)
    if name not in names:
        raise UsageError(f"there is no output format {name!r}", help=f"choose one of {', '.join(names)}")
    return importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")
