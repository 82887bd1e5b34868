"""Which rules there are: found by walking the packages that the entry-point group names."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType

from schemalint.errors import InternalError, PluginError, SchemalintError, UsageError
from schemalint.model.finding import Severity
from schemalint.plugin import ATTRIBUTE, Rule

GROUP = "schemalint.rules"
BUILT_IN = "schemalint"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rules run, and how bad they are: by code or by its beginning.

    Attributes:
        select: None for all that are stable.
        severity: Another severity, by code, its beginning or name: the longest one counts.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    preview: bool = False


def load_rules(selection: Selection | None = None) -> tuple[Rule, ...]:
    """All rules that are installed, those selected of them, in the order of their codes.

    Raises:
        PluginError: A package cannot be imported, or two rules have one code.
        UsageError: The selection names what there is not.
    """
    rules: dict[str, Rule] = {}
    # Our own come first, so that another package that takes one of their codes is the one that is named.
    for entry_point in sorted(entry_points(group=GROUP), key=lambda one: _distribution(one) != BUILT_IN):
        for rule in _rules_of(entry_point):
            if (other := rules.get(rule.code)) is not None and other.check is not rule.check:
                raise _blamed(entry_point, f"rule {rule.code} of {rule.module} is {other.module}'s already")
            rules[rule.code] = rule
    ordered = tuple(rules[code] for code in sorted(rules))
    return _selected(ordered, selection) if selection else ordered


def _selected(rules: Sequence[Rule], selection: Selection) -> tuple[Rule, ...]:
    named = (*(selection.select or ()), *selection.extend_select, *selection.ignore, *selection.severity)
    for pattern in named:
        if not any(_matches(rule, [pattern]) for rule in rules):
            raise UsageError(f"there is no rule {pattern!r}", help="`schemalint rules` lists them all")
    return tuple(
        replace(rule, severity=_severity(rule, selection.severity))
        for rule in rules
        if _wanted(rule, selection) and not _matches(rule, selection.ignore)
    )


def _severity(rule: Rule, wanted: Mapping[str, Severity]) -> Severity:
    """What the longest pattern that names the rule says, if one does."""
    patterns = [pattern for pattern in wanted if _matches(rule, [pattern])]
    return wanted[max(patterns, key=len)] if patterns else rule.severity


def _wanted(rule: Rule, selection: Selection) -> bool:
    if _matches(rule, selection.extend_select):
        return True
    if selection.select is not None and not _matches(rule, selection.select):
        return False
    return rule.status == "stable" or selection.preview or rule.code in (selection.select or ())


def _matches(rule: Rule, patterns: Iterable[str]) -> bool:
    return any(
        pattern == "ALL" or rule.code.startswith(pattern) or rule.name == pattern for pattern in patterns
    )


def _rules_of(entry_point: EntryPoint) -> Iterator[Rule]:
    distribution = _distribution(entry_point)
    try:
        package = importlib.import_module(entry_point.module)
        modules = [package, *_below(package)]
    # A stranger's package may raise anything while it is imported, or exit.
    except (Exception, SystemExit) as error:
        raise _blamed(entry_point, f"cannot be imported: {type(error).__name__}: {error}") from error
    for module in modules:
        for value in vars(module).values():
            rule = getattr(value, ATTRIBUTE, None)
            if isinstance(rule, Rule) and rule.module == module.__name__:
                yield replace(rule, distribution=distribution)


def _below(package: ModuleType) -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(getattr(package, "__path__", []), package.__name__ + "."):
        yield importlib.import_module(info.name)


def _blamed(entry_point: EntryPoint, what: str) -> SchemalintError:
    distribution = _distribution(entry_point)
    message = f"the rules of {distribution} ({entry_point.value}) cannot be used: {what}"
    if distribution == BUILT_IN:
        return InternalError(message)
    return PluginError(message, help=f"repair or uninstall {distribution}")


def _distribution(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist else entry_point.name
