"""Find the installed packages with rules and load them: walk each package, and apply the selection."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final

from schemalint.base.errors import ConfigError, InternalError, PluginError, SchemalintError, UsageError
from schemalint.base.values import frozen, replace
from schemalint.judge.built_in_rules import (
    BUILT_IN,
    BUILT_IN_PACKAGE,
    built_in_rules,
    modules_of,
    rules_in,
    with_built_in,
)
from schemalint.judge.rule_set import matches
from schemalint.model.finding import Severity
from schemalint.model.option_value import OptionError, OptionValue
from schemalint.plugin import Rule
from schemalint.project.config import Config
from schemalint.project.config.toml_text import find_word
from schemalint.project.config.trust import RuleFiles

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


_CODE: Final = r"([A-Z]{2,})-?([0-9]{1,9})"
GROUP: Final = "schemalint.rules"
_METADATA: Final = (".dist-info", ".egg-info")
_OWN_METADATA: Final = rf"{BUILT_IN}(-\d[^-]*)?\.(dist|egg)-info"


@frozen
class _Origin:
    """A source of rules: a distribution or a file.

    Attributes:
        name: The name of either.
        what: The entry point or the path, for messages.
        load: Imports its modules and returns their rules.
    """

    name: str
    what: str
    load: Callable[[], Iterable[Rule]]

    def failed(self, why: str) -> SchemalintError:
        message = f"the rules of {self.name} ({self.what}) cannot be used: {why}"
        if self.name == BUILT_IN:
            return InternalError(message)
        return PluginError(message, help=f"repair or remove {self.name}")


def load_rules(local: RuleFiles | None = None) -> tuple[Rule, ...]:
    """Return all installed rules, and those of local files that may run, in the order of their codes.

    Raises:
        PluginError: A package cannot be imported, or two rules have the same code.
    """
    rules: dict[str, Rule] = {}
    for origin in _origins(local or ()):
        for rule in _rules_of(origin):
            if (other := rules.get(rule.code)) is not None and other.check is not rule.check:
                raise origin.failed(f"rule {rule.code} of {rule.module} is already in {other.module}")
            rules[rule.code] = rule
    return tuple(rules[code] for code in sorted(rules))


def rules_of(settings: Config, local: RuleFiles | None = None) -> tuple[Rule, ...]:
    """Return the rules that a configuration selects.

    Raises:
        PluginError: See `load_rules`.
        UsageError: The configuration names an unknown rule or option, or rule files that must not run.
    """
    require_local(settings, local)
    return selected(load_rules(local), settings)


def require_local(settings: Config, local: RuleFiles | None) -> None:
    """Refuse rule files of the configuration that must not run: a check without them could miss problems."""
    if settings.plugins and local is None:
        raise UsageError(
            f"the configuration names local rules ({', '.join(settings.plugins)}): code of the repository",
            help="allow them with --allow-local-plugins; a check without them could miss problems",
        )


def rules_for_apply(settings: Config, local: RuleFiles | None = None) -> tuple[Rule, ...]:
    """Return the selected and the built-in rules: Delta refuses a change even if a rule is ignored."""
    return with_built_in(rules_of(settings, local))


def selected(rules: Sequence[Rule], settings: Config) -> tuple[Rule, ...]:
    """Return the rules that a configuration selects, with its severities and options.

    Raises:
        UsageError: The configuration names an unknown rule or option.
    """
    if settings.select == ():
        raise UsageError("select names no rule", help='select = ["ALL"] selects all rules')
    patterns = (
        *(settings.select or ()),
        *settings.extend_select,
        *settings.ignore,
        *settings.severity,
        *settings.locked,
    )
    require_known(patterns, rules, settings.sources)
    _require_codes(settings, rules)
    return tuple(
        _with_options(_with_severity(rule, settings.severity), settings)
        for rule in rules
        if _is_selected(rule, settings) and not matches(rule, settings.ignore)
    )


def _require_codes(settings: Config, rules: Sequence[Rule]) -> None:
    """Refuse options of a rule that is named by anything but its code: they would have no effect."""
    codes = {rule.code for rule in rules}
    written: list[tuple[str | None, Iterable[str]]] = [(None, settings.options)]
    written += [(entry.match, entry.options) for entry in settings.tables]
    for match, options in written:
        for code in options:
            if code in codes:
                continue
            section = ("options",) if match is None else ("tables", "options")
            close = nearest_rules(code, rules)
            raise ConfigError(
                f"options are those of a rule by its code, and {code!r} is none",
                help=f"did you mean {' or '.join(close)}?" if close else "`schemalint rules` lists all rules",
                location=settings.line_of_option((*section, code), code, match),
            )


def require_known(
    patterns: Iterable[str], rules: Sequence[Rule], sources: Sequence[tuple[str, str]] = ()
) -> None:
    """Raise a UsageError for a pattern that names no rule; an empty pattern would match all rules.

    Args:
        patterns: Codes, code prefixes and names.
        rules: All rules.
        sources: The names and texts of the files that may write them.
    """
    for pattern in patterns:
        if not pattern or not any(matches(rule, [pattern]) for rule in rules):
            close = nearest_rules(pattern, rules)
            raise UsageError(
                f"there is no rule {pattern!r}",
                help=f"did you mean {' or '.join(close)}?" if close else "`schemalint rules` lists all rules",
                location=find_word(sources, pattern),
            )


def nearest_rules(pattern: str, rules: Sequence[Rule]) -> list[str]:
    """Return what a pattern that matches no rule probably means: codes, a prefix, or names with codes."""
    upper, kebab = pattern.upper(), pattern.lower().replace("_", "-")
    if pattern and any(rule.code.startswith(upper) for rule in rules):
        return [upper]
    names = {rule.name: f"{rule.name} ({rule.code})" for rule in rules}
    if kebab in names:
        return [names[kebab]]
    if number := re.fullmatch(_CODE, upper.replace("O", "0")):
        code = f"{number[1]}{int(number[2]):03}"
        if any(rule.code == code for rule in rules):
            return [code]
    codes = get_close_matches(upper, [rule.code for rule in rules], n=2, cutoff=0.75)
    return codes or [names[name] for name in get_close_matches(kebab, names, n=1, cutoff=0.6)]


def _with_options(rule: Rule, settings: Config) -> Rule:
    """Return the rule with the values of a configuration's options."""
    written = settings.options.get(rule.code)
    if written is None:
        return rule
    return with_values(rule, written, settings, ("options",))


def with_values(
    rule: Rule,
    written: Mapping[str, OptionValue],
    settings: Config,
    section: tuple[str, ...],
    match: str | None = None,
) -> Rule:
    """Return a rule with written values of its options.

    Args:
        rule: The rule.
        written: The values by name.
        settings: The configuration that has them.
        section: The keys that lead to the options of rules, for the line of an error.
        match: The glob of the tables that they are for.

    Raises:
        ConfigError: The rule has no such option, or not with this value.
    """
    options = {each.name: each for each in rule.declared_options}
    values: dict[str, object] = {}
    for name, value in written.items():
        path = (*section, rule.code, name)
        if name not in options:
            known = ", ".join(options) or "none"
            close = get_close_matches(name, options, n=1)
            hint = f"did you mean {close[0]}? " if close else ""
            raise ConfigError(
                f"rule {rule.code} has no option {name!r}",
                help=f"{hint}its options: {known}",
                location=settings.line_of_option(path, name, match),
            )
        try:
            values[name] = options[name].value(value)
        except OptionError as error:
            raise ConfigError(
                f"option {name} of rule {rule.code} must be {error}",
                help=error.help,
                location=settings.line_of_option(path, error.entry, match),
            ) from None
    return replace(rule, options={**rule.options, **values})


def _with_severity(rule: Rule, severities: Mapping[str, Severity]) -> Rule:
    """Return the rule with the severity of the longest matching pattern, if any matches."""
    patterns = [pattern for pattern in severities if matches(rule, [pattern])]
    if not patterns:
        return rule
    return replace(rule, severity=severities[max(patterns, key=len)], severity_is_set=True)


def _is_selected(rule: Rule, settings: Config) -> bool:
    if matches(rule, settings.extend_select):
        return True
    if settings.select is None:
        return rule.default
    return matches(rule, settings.select)


def _origins(local: Iterable[Path]) -> Iterator[_Origin]:
    yield from _rule_packages()
    for path in local:
        yield _Origin(path.name, str(path), partial(_rules_of_file, path))


def _rules_of(origin: _Origin) -> Iterable[Rule]:
    try:
        return tuple(origin.load())
    # A foreign package may raise any exception during import, or exit.
    except (Exception, SystemExit) as error:
        raise origin.failed(f"cannot be imported: {type(error).__name__}: {error}") from error


def _rules_of_package(package: str, distribution: str) -> Iterable[Rule]:
    if package == BUILT_IN_PACKAGE:
        return built_in_rules()
    return rules_in(modules_of(package), distribution)


def _rules_of_file(path: Path) -> Iterable[Rule]:
    return rules_in([_module(path)], path.name)


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"schemalint_local_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _rule_packages() -> list[_Origin]:
    """Return the packages of the entry-point group.

    The built-in ones come first, so an error about a duplicate code names the other package.
    """
    if not _others_may_have_rules():
        return [_Origin(BUILT_IN, BUILT_IN_PACKAGE, built_in_rules)]
    from importlib.metadata import entry_points  # noqa: PLC0415 (only with other packages of rules)

    packages: list[_Origin] = []
    for entry in entry_points(group=GROUP):
        name = _distribution(entry)
        packages.append(_Origin(name, entry.value, partial(_rules_of_package, entry.module, name)))
    return sorted(packages, key=lambda package: package.name != BUILT_IN)


def _others_may_have_rules() -> bool:
    """Return whether `importlib.metadata` may find more rules than the built-in ones.

    Few environments have more, and a look at the files costs a fraction: that module imports the package
    `email`, and parses the entry points of all packages.
    """
    finders = (finder for finder in sys.meta_path if finder is not PathFinder)
    return any(hasattr(finder, "find_distributions") for finder in finders) or any(
        _may_have_rules(Path(folder).absolute()) for folder in sys.path
    )


@cache
def _may_have_rules(folder: Path) -> bool:
    try:
        names = os.listdir(folder)  # noqa: PTH208 (`iterdir` takes longer)
    except FileNotFoundError:
        return False
    except OSError:  # such as an archive
        return True
    if folder.suffix.lower() == ".egg":
        return True
    metadata = (name for name in names if name.lower().endswith(_METADATA))
    return any(
        _mentions_rules(f"{folder}/{name}") for name in metadata if not re.fullmatch(_OWN_METADATA, name)
    )


def _mentions_rules(metadata: str) -> bool:
    try:
        # A `Path` takes longer than the file.
        with open(f"{metadata}/entry_points.txt", "rb") as file:  # noqa: PTH123
            return GROUP.encode() in file.read()
    except OSError:  # most packages have no entry points
        return False


def _distribution(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist else entry_point.name
