"""Output formats, found by walking a package: one module per format, with a function ``render``.

A new format is a new module there and nothing else. Modules whose names begin with an underscore are what the
formats of a package share.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

from schemalint.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType


def format_names(package: ModuleType) -> tuple[str, ...]:
    """The names of a package's formats, sorted: ``json_lines.py`` is the format ``json-lines``."""
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    return tuple(sorted(name.replace("_", "-") for name in modules if not name.startswith("_")))


def format_module(package: ModuleType, name: str) -> Any:  # noqa: ANN401 (a module)
    """The format of that name; no other one is imported.

    Raises:
        UsageError: There is no such format.
    """
    known = format_names(package)
    if name not in known:
        raise UsageError(f"there is no output format {name!r}", help=f"choose one of {', '.join(known)}")
    return importlib.import_module(f"{package.__name__}.{name.replace('-', '_')}")
