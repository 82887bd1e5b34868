"""The result of a run as text: one module per output format, each with a function `render`.

A new format is a new module here and nothing else. Modules whose names begin with an underscore are what
the formats share.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Protocol, cast

from schemalint.errors import UsageError

if TYPE_CHECKING:
    from schemalint.model.finding import Problems


class Format(Protocol):
    """What the module of a format provides.

    Attributes:
        SHOWS_FIXES: Whether the changes of the text that a fix makes are shown; working them out takes time.
    """

    SHOWS_FIXES: bool

    def render(self, result: Problems, *, color: bool = False, show_existing: bool = False) -> str:
        """The whole report, ending with a line end.

        Args:
            result: What the run found; its findings are in order.
            color: Style the text for a terminal, where the format is read in one.
            show_existing: Show also the findings that the base has, which are otherwise only counted. A
                format for programs always holds them, marked.
        """
        ...


def names() -> tuple[str, ...]:
    """The names of all formats, sorted: ``json_lines.py`` is the format ``json-lines``."""
    modules = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(name.replace("_", "-") for name in modules if not name.startswith("_")))


def get(name: str) -> Format:
    """The format of that name; no other one is imported.

    Raises:
        UsageError: There is no such format.
    """
    if name not in names():
        raise UsageError(f"there is no output format {name!r}", help=f"choose one of {', '.join(names())}")
    return cast("Format", importlib.import_module(f"{__name__}.{name.replace('-', '_')}"))
