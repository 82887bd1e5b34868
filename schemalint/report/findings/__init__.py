"""The result of a run as text: one module per output format, each with a function `render`.

A new format is a new module here and nothing else. Modules whose names begin with an underscore are what
the formats share.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol, cast

from schemalint.report.formats import format_module, format_names

if TYPE_CHECKING:
    from schemalint.model.finding import CheckResult


class Format(Protocol):
    """What the module of a format provides.

    Attributes:
        SHOWS_FIXES: Whether the changes of the text that a fix makes are shown; working them out takes time.
    """

    SHOWS_FIXES: bool

    def render(self, result: CheckResult, *, color: bool = False, show_existing: bool = False) -> str:
        """The whole report, ending with a line end.

        Args:
            result: What the run found; its findings are in order.
            color: Style the text for a terminal, where the format is read in one.
            show_existing: Show also the findings that the base has, which are otherwise only counted. A
                format for programs always holds them, marked.
        """
        ...


def names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return format_names(sys.modules[__name__])


def get(name: str) -> Format:
    """The format of that name; see `format_module`."""
    return cast("Format", format_module(sys.modules[__name__], name))
