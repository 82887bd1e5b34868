"""The rules that judge a contract, of each configuration that decides and of the nested files around it.

In CI the configurations of base and head both judge, and what either of them finds counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from schemalint.base.errors import ConfigError, Location, UsageError
from schemalint.base.values import frozen, replace
from schemalint.judge.rule_set import RuleSet, TableRules, is_named, matches
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Rule
from schemalint.project.config import Config, NestedSettings
from schemalint.project.config.nested_settings import location_of
from schemalint.project.config.toml_text import find_option
from schemalint.project.config.trust import RuleFiles
from schemalint.review.lost_options import lost_options
from schemalint.review.rulebook import (
    load_rules,
    require_known,
    require_local,
    rules_for_apply,
    rules_of,
    selected,
    with_values,
)


@frozen
class RuleOptions:
    """Which rules run, by their codes, prefixes and names; what is empty is as the configuration says."""

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()


class RuleSets:
    """The rules of a run, for the contracts of each file."""

    def __init__(self, deciding: Sequence[Config], rule_set_of: Callable[[Config], RuleSet]) -> None:
        """Make the rules of all nested files too, so that an invalid one ends the run.

        Args:
            deciding: The configurations.
            rule_set_of: Returns the rules of one of them, or of the merged settings of a nested file.

        Raises:
            ConfigError: A nested file names an unknown rule.
        """
        self._deciding = deciding
        self._sets: dict[int, RuleSet] = {}
        self._of: dict[tuple[int, ...], tuple[RuleSet, ...]] = {}
        for config in deciding:
            outer = self._sets[id(config)] = rule_set_of(config)
            for nested in config.nested.values():
                self._sets[id(nested.merged)] = _locked(outer, nested, rule_set_of)

    @property
    def everywhere(self) -> tuple[RuleSet, ...]:
        """The rules of each configuration, without nested files."""
        return self._of_configurations(self._deciding)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of all contracts, each once."""
        by_code = {rule.code: rule for rule_set in reversed(self._sets.values()) for rule in rule_set.rules}
        return tuple(by_code[code] for code in sorted(by_code))

    def of(self, *files: str | None) -> tuple[RuleSet, ...]:
        """Return the rules for a contract that is in a file, and was in another one at the base.

        A change must not take a contract out of the strict folder that it was in.
        """
        return self._of_configurations(configurations_of(self._deciding, *files))

    def _of_configurations(self, configurations: Iterable[Config]) -> tuple[RuleSet, ...]:
        key = tuple(map(id, configurations))
        return self._of.setdefault(key, tuple(self._sets[number] for number in key))


def rule_sets_of(
    deciding: Sequence[Config],
    *,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    local: RuleFiles | None = None,
) -> RuleSets:
    """Return the rules of the configurations that decide; the command line overrides each of them.

    Args:
        deciding: The configurations.
        select: The rules from the command line; empty for those of the configuration.
        extend_select: Additional rules.
        ignore: Rules to leave out.
        local: The local rule files; None if they are not allowed.

    Raises:
        UsageError: A configuration names an unknown rule, or local rule files that are not allowed.
    """
    available = load_rules(local)

    def rule_set_of(config: Config) -> RuleSet:
        require_local(config, local)
        is_known = local is None or (local and config is deciding[0])
        settings = config if is_known else _without_unknown(config, available)
        own = replace(
            settings,
            select=select or settings.select,
            extend_select=(*settings.extend_select, *extend_select),
            ignore=(*settings.ignore, *ignore),
        )
        return RuleSet(selected(available, own), _table_rules(settings, available))

    return RuleSets(deciding, rule_set_of)


def rule_sets_for_apply(settings: Config, rules: Sequence[Rule], local: RuleFiles | None) -> RuleSets:
    """Return the rules of `plan` and `apply`; see `rules_for_apply`."""
    available = load_rules(local)

    def rule_set_of(config: Config) -> RuleSet:
        own = tuple(rules) if config is settings else rules_for_apply(config, local)
        return RuleSet(own, _table_rules(config, (*available, *own)))

    return RuleSets([settings], rule_set_of)


def rules_about_configuration(
    settings: Config, local: RuleFiles | None, ignore: tuple[str, ...]
) -> tuple[Rule, ...]:
    """Return the rules about changes of the configuration, which run whatever is selected.

    Args:
        settings: The configuration, which may ignore them.
        local: The local rule files; None if they are not allowed.
        ignore: The rules that the command line ignores.
    """
    config = _without_unknown(settings, load_rules()) if local == () else settings
    return rules_of(
        replace(config, select=("CF",), extend_select=(), ignore=(*config.ignore, *ignore)), local
    )


def configurations_of(deciding: Sequence[Config], *files: str | None) -> tuple[Config, ...]:
    """Return the settings that decide for the contracts of files: those of the last file of the head last."""
    configurations = [config.at(file) for config in deciding for file in files if file is not None] or list(
        deciding
    )
    return tuple({id(config): config for config in configurations}.values())


def is_locked(finding: Finding, configurations: Iterable[Config]) -> bool:
    """Return whether one of these locks the rule of a finding: then nothing else makes it less strict."""
    return any(is_named(finding.code, finding.rule, config.locked) for config in configurations)


def lock_faults(config: Config, rules: Sequence[Rule]) -> Iterator[ConfigError]:
    """Yield an error for each setting of a nested file that loosens a locked rule."""
    locked = [rule for rule in rules if matches(rule, config.locked)] if config.nested else []
    for nested in config.nested.values() if locked else ():
        ignored: list[tuple[tuple[str, ...], str]] = [(("ignore",), pattern) for pattern in nested.own.ignore]
        ignored += [(("tables", "ignore"), pattern) for each in nested.own.tables for pattern in each.ignore]
        for path, pattern in ignored:
            yield from _fault(
                config, nested, path, pattern, [rule for rule in locked if matches(rule, [pattern])]
            )
        for pattern, severity in nested.own.severity.items():
            lowered = [
                rule for rule in locked if matches(rule, [pattern]) and not _is_as_strict(severity, rule)
            ]
            yield from _fault(config, nested, ("severity", pattern), pattern, lowered)
        by_code = {rule.code: rule for rule in locked}
        for lost in lost_options(nested.outer, nested.merged, locked):
            if lost.code in by_code:
                path = ("tables", "options", lost.code, lost.name)
                yield from _fault(config, nested, path, lost.match or "", [by_code[lost.code]])


def _fault(
    config: Config, nested: NestedSettings, path: tuple[str, ...], pattern: str, rules: Sequence[Rule]
) -> Iterator[ConfigError]:
    if not rules:
        return
    location = location_of(nested, path, pattern)
    match path:
        case ("severity", _):
            what = f"severity names {pattern}"
        case ("tables", "options", _, name):
            what = f"tables.{pattern} has a looser value of the option {name}"
            location = find_option([(nested.file, nested.text)], path, "", pattern) or location
        case _:
            what = f"{'.'.join(path)} names {pattern}"
    yield ConfigError(
        f"{what}, and {rules[0].code} is locked",
        help=f"remove it; {config.file} locks the rule",
        location=location,
    )


def _is_as_strict(severity: Severity, rule: Rule) -> bool:
    """Whether a severity is not below that of a rule; one that is not set may differ by problem."""
    return severity is Severity.ERROR or (rule.severity_is_set and severity >= rule.severity)


def _locked(outer: RuleSet, nested: NestedSettings, rule_set_of: Callable[[Config], RuleSet]) -> RuleSet:
    """Return the rules of a nested file: the locked ones as the configuration has them, or stricter."""
    merged = nested.merged
    locked = {rule.code: rule for rule in outer.rules if matches(rule, merged.locked)}
    names = tuple(rule.name for rule in locked.values())
    try:
        own = rule_set_of(replace(merged, extend_select=(*merged.extend_select, *names)))
    except UsageError as error:
        raise ConfigError(error.message, help=error.help, location=Location(nested.file)) from None
    if not locked:
        return own
    by_code = {rule.code: rule for rule in own.rules}
    for code, rule in locked.items():
        other = by_code.get(code)
        is_kept = other is not None and other.severity_is_set and _is_as_strict(other.severity, rule)
        by_code[code] = other if other is not None and is_kept else rule
    others = [rule for rule in by_code.values() if rule.code not in locked]
    loosened = {lost.code for lost in lost_options(nested.outer, merged, locked.values())}
    added = tuple(
        TableRules(
            entry.match,
            tuple(rule.name for rule in others if matches(rule, entry.ignore)),
            {
                code: values
                for code, values in entry.options.items()
                if code not in locked or code not in loosened
            },
        )
        for entry in own.tables[len(outer.tables) :]
    )
    return RuleSet(tuple(by_code[code] for code in sorted(by_code)), (*outer.tables, *added))


def _table_rules(settings: Config, available: Sequence[Rule]) -> tuple[TableRules, ...]:
    """Return what the entries of ``[[tables]]`` say of rules.

    Raises:
        UsageError: One of them ignores an unknown rule, as on the command line.
        ConfigError: One of them has an option that its rule has not, or not with this value.
    """
    by_code = {rule.code: rule for rule in available}
    entries: list[TableRules] = []
    for entry in settings.tables:
        require_known(entry.ignore, available, settings.sources)
        options: dict[str, Mapping[str, object]] = {}
        for code, written in entry.options.items():
            rule = with_values(by_code[code], written, settings, ("tables", "options"), entry.match)
            options[code] = {name: rule.options[name] for name in written}
        entries.append(TableRules(entry.match, entry.ignore, options))
    return tuple(entries)


def _without_unknown(settings: Config, available: Sequence[Rule]) -> Config:
    """Return a configuration without the settings of rules in its files that may not run yet.

    Those of a change under review do not: the local rules are the base's.
    """
    if not settings.plugins:
        return settings

    def known(patterns: Iterable[str]) -> tuple[str, ...]:
        return tuple(pattern for pattern in patterns if any(matches(rule, [pattern]) for rule in available))

    return replace(
        settings,
        select=None if settings.select is None else known(settings.select) or None,
        extend_select=known(settings.extend_select),
        ignore=known(settings.ignore),
        locked=known(settings.locked),
        severity={pattern: settings.severity[pattern] for pattern in known(settings.severity)},
        options={code: settings.options[code] for code in known(settings.options)},
        tables=tuple(
            replace(
                entry,
                ignore=known(entry.ignore),
                options={code: entry.options[code] for code in known(entry.options)},
            )
            for entry in settings.tables
        ),
    )
