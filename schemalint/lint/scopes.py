"""The rules for the contracts of a file: those of the configuration, and of the nested files around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from schemalint.base.errors import ConfigError, Location, UsageError
from schemalint.base.values import frozen, replace
from schemalint.lint.rulebook import TableIgnores, matches
from schemalint.lint.stricter import RuleSet, rules_of_all
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import Rule
from schemalint.project.config import Config, Nested
from schemalint.project.config.nested import location_of

RuleSetOf: TypeAlias = Callable[[Config], RuleSet]
"""Return the rules of one configuration."""


@frozen
class Scope:
    """The rules for some contracts: what one of the sets reports counts."""

    rules: tuple[Rule, ...]
    sets: tuple[RuleSet, ...]

    def reports(self, finding: Finding) -> bool:
        """Return whether one of the sets selects the rule of a finding, and does not ignore it."""
        return any(rule_set.reports(finding) for rule_set in self.sets)


class Scopes:
    """The rules of the configurations that decide, for the contracts of each file."""

    def __init__(
        self,
        deciding: Sequence[Config],
        rule_sets: Sequence[RuleSet],
        nested: RuleSetOf = lambda _config: RuleSet(()),
    ) -> None:
        """Make the rules of all nested files, so that an invalid one ends the run.

        Args:
            deciding: The configurations.
            rule_sets: The rules of each of them.
            nested: Returns the rules of the merged settings of a nested file.

        Raises:
            ConfigError: A nested file names an unknown rule.
        """
        self._deciding = deciding
        self.everywhere = Scope(rules_of_all(rule_sets), tuple(rule_sets))
        self._sets = {id(config): rule_set for config, rule_set in zip(deciding, rule_sets, strict=True)} | {
            id(each.merged): _locked(rule_set, each, nested)
            for config, rule_set in zip(deciding, rule_sets, strict=True)
            for each in config.nested.values()
        }
        self._scopes: dict[tuple[int, ...], Scope] = {}

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of all contracts."""
        return rules_of_all(tuple(self._sets.values()))

    def of(self, *files: str | None) -> Scope:
        """Return the rules for a contract that is in a file, and was in another one at the base.

        A change must not take a contract out of the strict folder that it was in.
        """
        if not any(config.nested for config in self._deciding):
            return self.everywhere
        key = tuple(map(id, configurations_of(self._deciding, *files)))
        if key not in self._scopes:
            sets = tuple(self._sets[number] for number in key)
            self._scopes[key] = Scope(rules_of_all(sets), sets)
        return self._scopes[key]


def configurations_of(deciding: Sequence[Config], *files: str | None) -> tuple[Config, ...]:
    """Return the settings that decide for the contracts of files: those of the last file of the head last."""
    found = [config.at(file) for config in deciding for file in files if file is not None] or list(deciding)
    return tuple({id(config): config for config in found}.values())


def is_locked(code: str, name: str, configurations: Iterable[Config]) -> bool:
    """Return whether a configuration locks a rule: then nothing but that configuration makes it less strict.

    Args:
        code: The rule's code.
        name: Its name.
        configurations: Those that decide.
    """
    return any(
        pattern in ("ALL", name) or code.startswith(pattern)
        for config in configurations
        for pattern in config.locked
    )


def lock_faults(config: Config, rules: Sequence[Rule]) -> Iterator[ConfigError]:
    """Yield an error for each setting of a nested file that loosens a locked rule.

    Args:
        config: The configuration.
        rules: Its rules.
    """
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


def _fault(
    config: Config, nested: Nested, path: tuple[str, ...], pattern: str, rules: Sequence[Rule]
) -> Iterator[ConfigError]:
    if rules:
        key = "severity" if path[0] == "severity" else ".".join(path)
        yield ConfigError(
            f"{key} names {pattern}, and {rules[0].code} is locked",
            help=f"remove it; {config.file} locks the rule",
            location=location_of(nested, path, pattern),
        )


def _is_as_strict(severity: Severity, rule: Rule) -> bool:
    """Whether a severity is not below that of a rule; one that is not set may differ by problem."""
    return severity is Severity.ERROR or (rule.severity_is_set and severity >= rule.severity)


def _locked(outer: RuleSet, nested: Nested, rule_set_of: RuleSetOf) -> RuleSet:
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
    found = {rule.code: rule for rule in own.rules}
    for code, rule in locked.items():
        other = found.get(code)
        is_kept = other is not None and other.severity_is_set and _is_as_strict(other.severity, rule)
        found[code] = other if other is not None and is_kept else rule
    others = [rule for rule in found.values() if rule.code not in locked]
    added: TableIgnores = tuple(
        (glob, tuple(rule.name for rule in others if matches(rule, ignored)))
        for glob, ignored in own.table_ignores[len(outer.table_ignores) :]
    )
    return RuleSet(tuple(found[code] for code in sorted(found)), (*outer.table_ignores, *added))
