"""The rules of one configuration, and those that judge a table: of each configuration that decides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache

from schemalint.base.values import Itself, field, frozen, replace
from schemalint.model.contract import table_key
from schemalint.model.finding import Finding
from schemalint.plugin import Rule


@frozen
class TableRules:
    """What an entry of ``[[tables]]`` says of rules.

    Attributes:
        match: A glob of table names.
        ignore: The patterns of the rules that are ignored for these tables.
        options: The values of options for these tables, by the rule's code.
    """

    match: str
    ignore: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@frozen
class RuleSet:
    """The rules of one configuration, and what differs for some tables.

    Attributes:
        rules: The rules that it selects, with its options for all tables.
        tables: What differs for some tables: of the entries that match a table, each ignores rules, and the
            last one that has a value for an option counts.
    """

    rules: tuple[Rule, ...]
    tables: tuple[TableRules, ...] = ()

    def entries_for(self, table: str) -> tuple[TableRules, ...]:
        """Return the entries that match a table."""
        key = table_key(table)
        return tuple(entry for entry in self.tables if fnmatchcase(key, table_key(entry.match)))

    def with_options(self, table: str) -> tuple[Rule, ...]:
        """Return the rules with their options for a table; tables of the same options have the same rules."""
        entries = tuple(entry for entry in self.entries_for(table) if entry.options)
        key = tuple(map(id, entries))
        if key not in self._by_entries:
            self._by_entries[key] = _with_options(self.rules, entries) if entries else self.rules
        return self._by_entries[key]

    @cached_property
    def _by_entries(self) -> dict[tuple[int, ...], tuple[Rule, ...]]:
        return {}

    def reports(self, finding: Finding) -> bool:
        """Return whether the rule of a finding is selected, and not ignored for its table."""
        rule = next((rule for rule in self.rules if rule.code == finding.code), None)
        return rule is not None and not self.ignores(rule, finding.table)

    def ignores(self, rule: Rule, table: str) -> bool:
        """Return whether a rule is ignored for a table."""
        return any(matches(rule, entry.ignore) for entry in self.entries_for(table))


def _with_options(rules: Iterable[Rule], entries: Iterable[TableRules]) -> tuple[Rule, ...]:
    values: dict[str, dict[str, object]] = {}
    for entry in entries:
        for code, options in entry.options.items():
            values.setdefault(code, {}).update(options)
    return tuple(
        replace(rule, options={**rule.options, **values[rule.code]}) if rule.code in values else rule
        for rule in rules
    )


def reports(sets: Iterable[RuleSet], finding: Finding) -> bool:
    """Return whether one of the configurations reports a finding."""
    return any(rule_set.reports(finding) for rule_set in sets)


def rules_for(sets: tuple[RuleSet, ...], table: str) -> tuple[Rule, ...]:
    """Return the rules that judge a table, in the order of their codes; a rule that differs has variants.

    A rule that each configuration ignores for the table judges all the same: what it refuses is not asked for
    anything else.
    """
    if len(sets) == 1:
        return sets[0].with_options(table)
    return _united(Itself(sets), table if any(each.tables for each in sets) else "")


@lru_cache(maxsize=256)  # the sets of some folders, and of each table if some tables have settings
def _united(sets: Itself[tuple[RuleSet, ...]], table: str) -> tuple[Rule, ...]:
    variants: dict[str, list[Rule]] = {}
    ignored: dict[str, Rule] = {}
    for rule_set in sets.value:
        for rule in rule_set.with_options(table):
            if rule_set.ignores(rule, table):
                ignored.setdefault(rule.code, rule)
            elif rule not in variants.setdefault(rule.code, []):
                variants[rule.code].append(rule)
    by_code = {code: [rule] for code, rule in ignored.items()} | variants
    return tuple(rule for code in sorted(by_code) for rule in by_code[code])


def matches(rule: Rule, patterns: Iterable[str]) -> bool:
    """Return whether a pattern matches a rule: its code, a prefix of its code, its name, or ALL."""
    return is_named(rule.code, rule.name, patterns)


def is_named(code: str, name: str, patterns: Iterable[str]) -> bool:
    """Return whether a pattern matches the rule with this code and this name; see `matches`."""
    return any(pattern in ("ALL", name) or code.startswith(pattern) for pattern in patterns)
