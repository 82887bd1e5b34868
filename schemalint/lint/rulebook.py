"""Which rules there are: found by walking the packages that the entry-point group names."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from schemalint.config import Config
from schemalint.errors import InternalError, PluginError, SchemalintError, UsageError
from schemalint.model.contract import table_key
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import ATTRIBUTE, OptionValue, Rule
from schemalint.values import field, frozen, replace

GROUP = "schemalint.rules"
BUILT_IN = "schemalint"

TableIgnores: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Globs over names of tables, each with patterns of rules that say nothing of them."""


@frozen
class Selection:
    """Which rules run, and how bad they are: by code or by its beginning.

    Attributes:
        select: None for all that are stable.
        severity: Another severity, by code, its beginning or name: the longest one counts.
        options: Values of a rule's options, by its code.
        local: Files of rules outside of any package: code of the working tree, where that is allowed.
    """

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Mapping[str, Severity] = field(default_factory=dict)
    preview: bool = False
    options: Mapping[str, Mapping[str, OptionValue]] = field(default_factory=dict)
    local: tuple[Path, ...] = ()


@frozen
class _Origin:
    """Where rules come from: a distribution, or a file."""

    name: str
    what: str
    load: Callable[[], list[ModuleType]]

    def failed(self, what: str) -> SchemalintError:
        message = f"the rules of {self.name} ({self.what}) cannot be used: {what}"
        if self.name == BUILT_IN:
            return InternalError(message)
        return PluginError(message, help=f"repair or remove {self.name}")


def load_rules(selection: Selection | None = None) -> tuple[Rule, ...]:
    """All rules that are installed, those selected of them, in the order of their codes.

    Raises:
        PluginError: A package cannot be imported, or two rules have one code.
        UsageError: The selection names what there is not.
    """
    rules: dict[str, Rule] = {}
    for origin in _origins(selection.local if selection else ()):
        for rule in _rules_of(origin):
            if (other := rules.get(rule.code)) is not None and other.check is not rule.check:
                raise origin.failed(f"rule {rule.code} of {rule.module} is {other.module}'s already")
            rules[rule.code] = rule
    ordered = tuple(rules[code] for code in sorted(rules))
    return _selected(ordered, selection) if selection else ordered


def selection_of(settings: Config, repository: Path | None = None) -> Selection:
    """What the configuration selects.

    Args:
        settings: The configuration.
        repository: Where its local files of rules are; None where they may not be run.

    Raises:
        UsageError: Local files are configured, and may not be run.
    """
    if settings.plugins and repository is None:
        raise UsageError(
            f"the configuration names local rules ({', '.join(settings.plugins)}): code of the working tree",
            help="--allow-local-plugins runs it; without it nothing is judged, so that nothing is missed",
        )
    return Selection(
        select=settings.select,
        extend_select=settings.extend_select,
        ignore=settings.ignore,
        severity=settings.severity,
        preview=settings.preview,
        options=settings.options,
        local=tuple(repository / name for name in settings.plugins) if repository else (),
    )


def rules_for_apply(selection: Selection) -> tuple[Rule, ...]:
    """The selected rules and all of our own: what Delta refuses stays refused, whatever is ignored."""
    selected = load_rules(selection)
    codes = {rule.code for rule in selected}
    own = (rule for rule in load_rules() if rule.distribution == BUILT_IN and rule.status == "stable")
    return (*selected, *(rule for rule in own if rule.code not in codes))


def _selected(rules: Sequence[Rule], selection: Selection) -> tuple[Rule, ...]:
    if selection.select == ():
        raise UsageError("select names no rule, so that nothing would be judged", help='select = ["ALL"]')
    named = (*(selection.select or ()), *selection.extend_select, *selection.ignore, *selection.severity)
    require_known((*named, *selection.options), rules)
    return tuple(
        _with_options(_with_severity(rule, selection.severity), selection.options.get(rule.code, {}))
        for rule in rules
        if _wanted(rule, selection) and not matches(rule, selection.ignore)
    )


def require_known(patterns: Iterable[str], rules: Sequence[Rule]) -> None:
    """Raise a UsageError for a pattern that names no rule; an empty one would name all."""
    for pattern in patterns:
        if not pattern or not any(matches(rule, [pattern]) for rule in rules):
            raise UsageError(f"there is no rule {pattern!r}", help="`schemalint rules` lists them all")


def matches(rule: Rule, patterns: Iterable[str]) -> bool:
    """Whether one of the patterns names a rule: by its code or how that begins, by its name, or as ALL."""
    return any(
        pattern == "ALL" or rule.code.startswith(pattern) or rule.name == pattern for pattern in patterns
    )


def is_ignored(finding: Finding, rules: Sequence[Rule], table_ignores: TableIgnores) -> bool:
    """Whether the rule of a finding is to say nothing of its table."""
    rule = next(rule for rule in rules if rule.code == finding.code)
    table = table_key(finding.table)
    return any(
        fnmatchcase(table, table_key(glob)) and matches(rule, patterns) for glob, patterns in table_ignores
    )


def _with_options(rule: Rule, wanted: Mapping[str, OptionValue]) -> Rule:
    for name, value in wanted.items():
        if name not in rule.options:
            known = ", ".join(rule.options) or "none"
            raise UsageError(f"rule {rule.code} has no option {name!r}", help=f"its options: {known}")
        if type(value) is not type(rule.options[name]):
            kind = type(rule.options[name]).__name__
            raise UsageError(f"option {name} of rule {rule.code} must be of type {kind}")
    return replace(rule, options={**rule.options, **wanted}) if wanted else rule


def _with_severity(rule: Rule, wanted: Mapping[str, Severity]) -> Rule:
    """The rule with the severity that the longest pattern that names it asks for, if one does."""
    patterns = [pattern for pattern in wanted if matches(rule, [pattern])]
    if not patterns:
        return rule
    return replace(rule, severity=wanted[max(patterns, key=len)], severity_is_set=True)


def _wanted(rule: Rule, selection: Selection) -> bool:
    if matches(rule, selection.extend_select):
        return True
    if selection.select is not None and not matches(rule, selection.select):
        return False
    return rule.status == "stable" or selection.preview or rule.code in (selection.select or ())


def _origins(local: Iterable[Path]) -> Iterator[_Origin]:
    # Our own come first, so that another package that takes one of their codes is the one that is named.
    for one in sorted(entry_points(group=GROUP), key=lambda one: _distribution(one) != BUILT_IN):
        yield _Origin(_distribution(one), one.value, lambda module=one.module: _package(module))  # type: ignore[misc]
    for path in local:
        yield _Origin(path.name, str(path), lambda path=path: [_file(path)])  # type: ignore[misc]


def _rules_of(origin: _Origin) -> Iterator[Rule]:
    try:
        modules = origin.load()
    # A stranger's package may raise anything while it is imported, or exit.
    except (Exception, SystemExit) as error:
        raise origin.failed(f"cannot be imported: {type(error).__name__}: {error}") from error
    for module in modules:
        for value in vars(module).values():
            rule = getattr(value, ATTRIBUTE, None)
            if isinstance(rule, Rule) and rule.module == module.__name__:
                yield replace(rule, distribution=origin.name)


def _package(name: str) -> list[ModuleType]:
    package = importlib.import_module(name)
    below = pkgutil.walk_packages(getattr(package, "__path__", []), package.__name__ + ".")
    return [package, *(importlib.import_module(info.name) for info in below)]


def _file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"schemalint_local_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _distribution(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist else entry_point.name
