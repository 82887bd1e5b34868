"""What a run says of its rules beside their findings: which find nothing, and which judge everything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from schemalint.judge.rule_set import RuleSet, matches
from schemalint.plugin import Rule
from schemalint.project.config import Config
from schemalint.review.rule_sets import RuleOptions


def rule_notes(
    configurations: Sequence[Config],
    sets: Sequence[RuleSet],
    given: RuleOptions,
    *,
    has_base: bool,
) -> Iterator[str]:
    """Yield the notes on the rules of a run.

    Args:
        configurations: The configurations that decide.
        sets: The rules of each of them.
        given: The rules that the command line names.
        has_base: Whether there is a state before, so that a rule can judge what changes.
    """
    patterns = {*given.select, *given.extend_select}
    for config in configurations:
        patterns |= {*(config.select or ()), *config.extend_select}
    rules = {rule.code: rule for rule_set in sets for rule in rule_set.rules}
    valued = [(rule, rule_set) for rule_set in sets for rule in rule_set.rules if _has_value(rule, rule_set)]
    finding = {rule.code for rule, _ in valued}
    named = [code for code, rule in rules.items() if matches(rule, patterns - {"ALL"})]
    if silent := [code for code in named if code not in finding]:
        yield f"note: {_listed(silent, 'is', 'are')} selected without an option: nothing is found ({_HELP})"
    of_changes = {rule.code for rule, rule_set in valued if _is_of_changes(rule, rule_set)}
    judging = [code for code in rules if code in of_changes]
    if judging and not has_base:
        text = _listed(judging, "judges", "judge")
        yield f"note: there is no base to compare with: {text} all, as of a new table"


_HELP = "`schemalint explain CODE` lists the options"


def _has_value(rule: Rule, rule_set: RuleSet) -> bool:
    return any(not rule.is_silent_with(options) for options in _variants(rule, rule_set))


def _is_of_changes(rule: Rule, rule_set: RuleSet) -> bool:
    return any(options.get("applies_to") == "changed" for options in _variants(rule, rule_set))


def _variants(rule: Rule, rule_set: RuleSet) -> Iterator[Mapping[str, object]]:
    """Yield the values of a rule's options: for all tables, and for each entry that has others."""
    yield rule.options
    for entry in rule_set.tables:
        if rule.code in entry.options:
            yield {**rule.options, **entry.options[rule.code]}


def _listed(codes: Sequence[str], one: str, several: str) -> str:
    return f"{', '.join(codes)} {one if len(codes) == 1 else several}"
