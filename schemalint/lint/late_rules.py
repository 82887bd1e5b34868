"""The built-in rules, made from their manifest: the module of a rule is imported when a fact asks for it.

A changed column asks less than half of the rules. The tests write the manifest from the modules.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, get_args

from schemalint.errors import RuleImportError
from schemalint.lint.rule_packages import BUILT_IN, BUILT_IN_PACKAGE
from schemalint.model.fact import Fact
from schemalint.model.finding import Severity
from schemalint.plugin import Check, Problem, Rule, RuleContext

MANIFEST: Final = "manifest.json"


class LateCheck:
    """The function of a rule whose module is imported when the function is needed."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    @cached_property
    def function(self) -> Check:
        """The function.

        Raises:
            RuleImportError: The module cannot be imported.
        """
        try:
            function: Check = getattr(importlib.import_module(self._module), self._name)
        except (Exception, SystemExit) as error:
            raise RuleImportError(unusable(BUILT_IN, BUILT_IN_PACKAGE, not_imported(error))) from error
        return function

    def __call__(self, fact: Any, ctx: RuleContext) -> Iterable[Problem]:  # noqa: ANN401 (as `Check`)
        return self.function(fact, ctx)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self.function.__doc__


def function_of(rule: Rule) -> Check:
    """Return the function of a rule, imported."""
    return rule.check.function if isinstance(rule.check, LateCheck) else rule.check


def unusable(name: str, what: str, why: str) -> str:
    """Return the message for the rules of a distribution or file that cannot be used."""
    return f"the rules of {name} ({what}) cannot be used: {why}"


def not_imported(error: BaseException) -> str:
    """Return the reason if the import of a module ends with an error."""
    return f"cannot be imported: {type(error).__name__}: {error}"


@cache
def listed_rules() -> tuple[Rule, ...]:
    """Return the rules of the manifest; none if the package has other files, or files of other sizes.

    So no rule that was added or edited is overlooked. Line endings that git has changed cost time only.
    """
    package = importlib.import_module(BUILT_IN_PACKAGE)
    try:
        (folder,) = package.__path__
        manifest = json.loads(Path(folder, MANIFEST).read_bytes())
        if manifest["files"] != dict(file_sizes(folder)):
            return ()
    except (OSError, ValueError):
        # In an archive, or without a manifest.
        return ()
    kinds = {kind.__name__: kind for kind in get_args(Fact)}
    return tuple(_rule(row, kinds) for row in manifest["rules"])


def file_sizes(folder: str, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Yield the files of a package and their sizes, without the manifest and bytecode."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from file_sizes(entry.path, f"{prefix}{entry.name}/")
            elif entry.name != MANIFEST:
                yield f"{prefix}{entry.name}", entry.stat().st_size


def _rule(row: dict[str, Any], kinds: dict[str, type]) -> Rule:
    values = {
        **row,
        "severity": Severity[row["severity"]],
        "subjects": tuple(kinds[kind] for kind in row["subjects"]),
        "delta_errors": tuple(row.get("delta_errors", ())),
        "options": MappingProxyType(row.get("options", {})),
        "check": LateCheck(row["module"], row["name"].replace("-", "_")),
        "distribution": BUILT_IN,
    }
    return Rule(**values)
