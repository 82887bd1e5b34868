"""The rules that come with schemalint, and how a package of rules is read."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from types import ModuleType
from typing import Final

from schemalint.base.values import replace
from schemalint.plugin import ATTRIBUTE, Rule

BUILT_IN: Final = "schemalint"
BUILT_IN_PACKAGE: Final = "schemalint_rules"


def modules_of(package: str) -> list[ModuleType]:
    """Import a package with all modules in it."""
    top = importlib.import_module(package)
    submodules = pkgutil.walk_packages(getattr(top, "__path__", []), top.__name__ + ".")
    return [top, *(importlib.import_module(info.name) for info in submodules)]


def rules_in(modules: Iterable[ModuleType], distribution: str) -> Iterator[Rule]:
    """Yield the rules that modules define, as those of a distribution."""
    for module in modules:
        for value in vars(module).values():
            rule = getattr(value, ATTRIBUTE, None)
            if isinstance(rule, Rule) and rule.module == module.__name__:
                yield replace(rule, distribution=distribution)


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """Return the rules that come with schemalint, in the order of their codes."""
    return tuple(sorted(rules_in(modules_of(BUILT_IN_PACKAGE), BUILT_IN), key=lambda rule: rule.code))


def with_built_in(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return rules with the built-in ones that they lack: Delta refuses a change whatever is selected."""
    codes = {rule.code for rule in rules}
    return (*rules, *(rule for rule in built_in_rules() if rule.default and rule.code not in codes))
