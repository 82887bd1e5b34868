"""A plan as text: one module per output format, each with a function `render`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Protocol, cast

from schemalint.report.formats import format_module, format_names

if TYPE_CHECKING:
    from schemalint.deploy import Deployment


class Format(Protocol):
    """What the module of a format provides."""

    def render(self, deployment: Deployment, *, color: bool = False) -> str:
        """The whole plan, ending with a line end; styled for a terminal, where the format is read in one."""


def names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return format_names(sys.modules[__name__])


def get(name: str) -> Format:
    """The format of that name; see `format_module`."""
    return cast("Format", format_module(sys.modules[__name__], name))
