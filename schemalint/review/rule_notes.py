"""What a run says of its rules beside their findings: which find nothing, and which judge everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
    named = [rule for rule in _rules(sets) if matches(rule, patterns - {"ALL"})]
    if silent := [rule.code for rule in named if not any(_has_value(rule.code, each) for each in sets)]:
        yield f"note: {_listed(silent, 'is', 'are')} selected without an option: nothing is found ({_HELP})"
    judging = [rule.code for rule in _rules(sets) if any(_is_of_changes(rule.code, each) for each in sets)]
    if judging and not has_base:
        text = _listed(judging, "judges", "judge")
        yield f"note: there is no base to compare with: {text} all, as of a new table"


_HELP = "`schemalint explain CODE` lists the options"


def _rules(sets: Iterable[RuleSet]) -> Iterable[Rule]:
    return {rule.code: rule for rule_set in sets for rule in rule_set.rules}.values()


def _variants(code: str, rule_set: RuleSet) -> Iterator[dict[str, object]]:
    """Yield the values of a rule's options: for all tables, and for each entry that has others."""
    for rule in rule_set.rules:
        if rule.code == code:
            yield dict(rule.options)
            for entry in rule_set.tables:
                if code in entry.options:
                    yield {**rule.options, **entry.options[code]}


def _has_value(code: str, rule_set: RuleSet) -> bool:
    rule = next((rule for rule in rule_set.rules if rule.code == code), None)
    if rule is None:
        return False
    needed = [option.name for option in rule.declared_options if option.default is None]
    return not needed or any(
        options[name] is not None for options in _variants(code, rule_set) for name in needed
    )


def _is_of_changes(code: str, rule_set: RuleSet) -> bool:
    return _has_value(code, rule_set) and any(
        options.get("applies_to") == "changed" for options in _variants(code, rule_set)
    )


def _listed(codes: Sequence[str], one: str, several: str) -> str:
    return f"{', '.join(codes)} {one if len(codes) == 1 else several}"
