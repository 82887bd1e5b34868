"""Output formats of findings: one module per format, each with a function `render`.

A new module adds a format. Modules with a leading underscore are helpers of the formats.
"""

from __future__ import annotations

import sys
from typing import Protocol

from schemalint.base.modules import module_names
from schemalint.base.printable import SafeText
from schemalint.model.finding import CheckResult
from schemalint.report.formats import format_module


class Format(Protocol):
    """The interface of a format's module.

    Attributes:
        SHOWS_TABLES: Whether the format shows the tables of an audit, which take memory.
    """

    SHOWS_TABLES: bool

    def render(self, result: CheckResult, *, color: bool = False, show_existing: bool = False) -> SafeText:
        """Render the whole report, with a line break at the end.

        Args:
            result: The result of the run, with sorted findings.
            color: Style the text for a terminal; only formats for terminals use it.
            show_existing: Show findings that the base has too, instead of only their number. Formats for
                programs always contain them, marked as existing.
        """
        ...


def names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    return module_names(sys.modules[__name__])


def get(name: str) -> Format:
    """Return the format with the given name; see `format_module`."""
    return format_module(sys.modules[__name__], name, Format)
