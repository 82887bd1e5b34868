"""The rules that judge one table, with the values of their options, and where each of them is written."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from schemalint.base.values import frozen
from schemalint.judge.rule_set import RuleSet, matches
from schemalint.model.contract import table_key
from schemalint.model.option_value import OptionValue
from schemalint.model.rule_option import Option
from schemalint.plugin import Rule
from schemalint.project.config import Config


@frozen
class OptionInUse:
    """An option of a rule with the value that counts for a table.

    Attributes:
        name: Its name.
        value: As it is written; None if it has no value.
        origin: The place where it is written: ``schemalint.toml:3:1``; ``default`` if it is nowhere.
    """

    name: str
    value: OptionValue | None
    origin: str


@frozen
class RuleInUse:
    """A rule that judges a table, or would.

    Attributes:
        rule: The rule, with its severity.
        ignored_by: The glob of the entry of ``[[tables]]`` that ignores it; None if it judges the table.
        options: Its options.
    """

    rule: Rule
    ignored_by: str | None
    options: tuple[OptionInUse, ...]

    @property
    def is_silent(self) -> bool:
        """Whether the rule has options without a default, and none of them has a value."""
        return self.rule.is_silent_with({option.name: option.value for option in self.options})


def rules_in_use(config: Config, rules: RuleSet, table: str) -> Iterator[RuleInUse]:
    """Yield the rules of a configuration for a table.

    Args:
        config: The configuration, with the nested files that count for the table's contract.
        rules: Its rules.
        table: The name of the table.
    """
    for rule in rules.rules:
        ignoring = (entry.match for entry in rules.entries_for(table) if matches(rule, entry.ignore))
        options = tuple(_option(config, rule, option, table) for option in rule.declared_options)
        yield RuleInUse(rule, next(ignoring, None), options)


def _option(config: Config, rule: Rule, option: Option[object], table: str) -> OptionInUse:
    key = table_key(table)
    for entry in reversed(config.tables):
        values = entry.options.get(rule.code, {})
        if option.name in values and fnmatchcase(key, table_key(entry.match)):
            path = ("tables", "options", rule.code, option.name)
            location = config.line_of_option(path, "", entry.match)
            return OptionInUse(option.name, values[option.name], f"{location}, for {entry.match}")
    values = config.options.get(rule.code, {})
    if option.name in values:
        location = config.line_of_option(("options", rule.code, option.name))
        return OptionInUse(option.name, values[option.name], str(location))
    return OptionInUse(option.name, option.default, "default")
