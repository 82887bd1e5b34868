"""The targets: one module each, with `run`, `seeds`, the words of its language, and its longest input."""

from __future__ import annotations

import pkgutil

NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
