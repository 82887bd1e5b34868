"""Output formats of plans: one module per format, each with a function `render`."""

from __future__ import annotations

import sys
from typing import Protocol

from schemalint.base.modules import module_names
from schemalint.base.printable import SafeText
from schemalint.deploy.deploy_input import Deployment
from schemalint.report.formats import format_module


class Format(Protocol):
    """The interface of a format's module."""

    def render(self, deployment: Deployment, *, color: bool = False) -> SafeText:
        """Render the whole plan, with a line break at the end; only formats for terminals use ``color``."""


def names() -> tuple[str, ...]:
    """Return the names of all formats, sorted."""
    return module_names(sys.modules[__name__])


def get(name: str) -> Format:
    """Return the format with the given name; see `format_module`."""
    return format_module(sys.modules[__name__], name, Format)
