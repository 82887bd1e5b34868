"""The rules of several configurations at once: what any of them finds counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from schemalint.base.limits import MAX_PROBLEMS
from schemalint.base.values import frozen, replace
from schemalint.lint.judge import severity_of
from schemalint.lint.rulebook import TableIgnores, is_ignored_for
from schemalint.model.finding import Finding
from schemalint.plugin import Problem, Rule, RuleContext


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
        return is_ignored_for(rule, table, self.table_ignores)


def rules_of_all(rule_sets: Sequence[RuleSet]) -> tuple[Rule, ...]:
    """Return the rules of all sets, in the order of their codes.

    A rule that differs between sets judges with the options of each, and with the highest severity.
    """
    found: dict[str, list[tuple[RuleSet, Rule]]] = {}
    for rule_set in rule_sets:
        for rule in rule_set.rules:
            found.setdefault(rule.code, []).append((rule_set, rule))
    return tuple(_combined(found[code]) for code in sorted(found))


def _combined(variants: Sequence[tuple[RuleSet, Rule]]) -> Rule:
    first = variants[0][1]
    if all(rule == first for _, rule in variants):
        return first

    def check(fact: Any, ctx: RuleContext) -> Iterator[Problem]:  # noqa: ANN401 (any fact, as every rule)
        table = ctx.contract.table
        rules = [rule for rule_set, rule in variants if not rule_set.ignores(rule, table)]
        yield from _problems(rules or [first], fact, ctx)

    return replace(first, check=check, severity_is_set=False)


def _problems(rules: Sequence[Rule], fact: object, ctx: RuleContext) -> Iterator[Problem]:
    """Yield the problems under each variant's options once, with the highest severity of equal options."""
    known: set[object] = set()
    judged: list[Rule] = []
    for rule in rules:
        if any(other.options == rule.options for other in judged):
            continue
        judged.append(rule)
        same = [other for other in rules if other.options == rule.options]
        found = islice(rule.check(fact, replace(ctx, options=rule.options)), MAX_PROBLEMS + 1)
        problems = [
            replace(problem, severity=max(severity_of(other, problem) for other in same)) for problem in found
        ]
        yield from (problem for problem in problems if _key(problem) not in known)
        known |= {_key(problem) for problem in problems}


def _key(problem: Problem) -> tuple[object, ...]:
    return problem.message, problem.path, problem.object, problem.part, problem.severity
