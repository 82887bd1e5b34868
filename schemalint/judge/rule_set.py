"""The rules of one configuration, and those that judge a table: of each configuration that decides."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TypeAlias

from schemalint.base.values import Itself, frozen
from schemalint.model.contract import table_key
from schemalint.model.finding import Finding
from schemalint.plugin import Rule

TableIgnores: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Globs of table names, each with the patterns of the rules that are ignored for these tables."""


@frozen
class RuleSet:
    """The rules of one configuration, and those of them that are ignored for some tables."""

    rules: tuple[Rule, ...]
    table_ignores: TableIgnores = ()

    def reports(self, finding: Finding) -> bool:
        """Return whether the rule of a finding is selected, and not ignored for its table."""
        rule = next((rule for rule in self.rules if rule.code == finding.code), None)
        return rule is not None and not self.ignores(rule, finding.table)

    def ignores(self, rule: Rule, table: str) -> bool:
        """Return whether a rule is ignored for a table."""
        key = table_key(table)
        return any(
            fnmatchcase(key, table_key(glob)) and matches(rule, patterns)
            for glob, patterns in self.table_ignores
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
        return sets[0].rules
    return _united(Itself(sets), table if any(each.table_ignores for each in sets) else "")


@lru_cache(maxsize=256)  # the sets of some folders, and of each table if some tables have settings
def _united(sets: Itself[tuple[RuleSet, ...]], table: str) -> tuple[Rule, ...]:
    variants: dict[str, list[Rule]] = {}
    ignored: dict[str, Rule] = {}
    for rule_set in sets.value:
        for rule in rule_set.rules:
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
