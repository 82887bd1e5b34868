"""Select rules by configuration and command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from schemalint.base.values import replace
from schemalint.lint.rulebook import (
    Selection,
    TableIgnores,
    load_rules,
    matches,
    require_known,
    rules_for_apply,
    selected,
    selection_of,
)
from schemalint.lint.scopes import Scopes
from schemalint.lint.stricter import RuleSet
from schemalint.plugin import Rule
from schemalint.project.config import Config

if TYPE_CHECKING:
    from schemalint.project.config.trust import RuleFiles


def rules_of(
    settings: Config,
    *,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    local: RuleFiles | None = None,
) -> tuple[Rule, ...]:
    """Return the selected rules; the command line overrides the configuration.

    Args:
        settings: The configuration.
        select: The rules from the command line; empty for those of the configuration.
        extend_select: Additional rules.
        ignore: Rules to leave out.
        local: The local rule files; None if they are not allowed.

    Raises:
        UsageError: The configuration names local rule files, and they are not allowed.
    """
    return load_rules(
        _overridden(
            selection_of(settings, local),
            select=select,
            extend_select=extend_select,
            ignore=ignore,
        )
    )


def rule_sets_of(
    deciding: Sequence[Config],
    *,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    local: RuleFiles | None = None,
) -> tuple[RuleSet, ...]:
    """Return the rules of each configuration that decides, as `rules_of`."""
    found: list[RuleSet] = []
    for settings in deciding:
        known = _without_unknown(settings, local) if found or not local else settings
        rules = rules_of(known, select=select, extend_select=extend_select, ignore=ignore, local=local)
        found.append(RuleSet(rules, table_ignores(known, rules)))
    return tuple(found)


def scopes_of(
    deciding: Sequence[Config],
    *,
    local: RuleFiles | None = None,
    **options: Any,  # noqa: ANN401 (those of `rule_sets_of`)
) -> Scopes:
    """Return the rules of the configurations that decide, and of their nested files; see `rule_sets_of`."""
    rule_sets = rule_sets_of(deciding, local=local, **options)
    if not any(config.nested for config in deciding):
        return Scopes(deciding, rule_sets)
    available = load_rules(Selection(select=("ALL",), local=local))

    def of_nested(settings: Config) -> RuleSet:
        known = _without_unknown(settings, local)
        rules = selected(available, _overridden(selection_of(known, local), **options))
        for entry in known.tables:
            require_known(entry.ignore, available, settings.sources)
        return RuleSet(rules, tuple((entry.match, entry.ignore) for entry in known.tables))

    return Scopes(deciding, rule_sets, of_nested)


def rules_at_files(
    settings: Config, rules: Sequence[Rule], local: RuleFiles | None
) -> Callable[[str], RuleSet]:
    """Return the rules of `plan` and `apply` for the contracts of each file; see `rules_for_apply`.

    Args:
        settings: The configuration with its nested files.
        rules: Its own rules.
        local: The local rule files; None if they are not allowed.
    """
    of_settings = RuleSet(tuple(rules), table_ignores(settings, tuple(rules)))

    def of_nested(merged: Config) -> RuleSet:
        found = rules_for_apply(selection_of(merged, local))
        return RuleSet(found, table_ignores(merged, found))

    scopes = Scopes([settings], [of_settings], of_nested)
    return lambda file: scopes.of(file).sets[0]


def _overridden(
    selection: Selection,
    *,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
) -> Selection:
    """Return a selection with the options of the command line."""
    return replace(
        selection,
        select=select or selection.select,
        extend_select=(*selection.extend_select, *extend_select),
        ignore=(*selection.ignore, *ignore),
    )


def rules_about_configuration(
    settings: Config, local: RuleFiles | None, ignore: tuple[str, ...]
) -> tuple[Rule, ...]:
    """Return the rules about changes of the configuration, which run whatever is selected.

    Args:
        settings: The configuration, which may ignore them.
        local: The local rule files; None if they are not allowed.
        ignore: The rules that the command line ignores.
    """
    known = settings if local else _without_unknown(settings, local)
    return rules_of(replace(known, extend_select=()), select=("CF",), ignore=ignore, local=local)


def _without_unknown(settings: Config, local: RuleFiles | None) -> Config:
    """Return a configuration without the settings of rules in its files, if these may not run yet.

    Those of a change under review do not: the local rules are the base's.
    """
    if local is None or not settings.plugins:
        return settings
    rules = load_rules(Selection(select=("ALL",), local=local))

    def known(patterns: Iterable[str]) -> tuple[str, ...]:
        return tuple(pattern for pattern in patterns if any(matches(rule, [pattern]) for rule in rules))

    return replace(
        settings,
        select=None if settings.select is None else known(settings.select) or None,
        extend_select=known(settings.extend_select),
        ignore=known(settings.ignore),
        locked=known(settings.locked),
        severity={pattern: settings.severity[pattern] for pattern in known(settings.severity)},
        options={code: settings.options[code] for code in known(settings.options)},
        tables=tuple(replace(entry, ignore=known(entry.ignore)) for entry in settings.tables),
    )


def table_ignores(settings: Config, rules: tuple[Rule, ...]) -> TableIgnores:
    """Return the ignored rules by table glob; an unknown pattern is an error, as on the command line."""
    for entry in settings.tables:
        known = (*load_rules(), *rules) if entry.ignore else rules
        require_known(entry.ignore, known, settings.sources)
    return tuple((entry.match, entry.ignore) for entry in settings.tables)
