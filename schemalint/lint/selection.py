"""Which rules judge, by the configuration and the command line."""

from __future__ import annotations

from pathlib import Path

from schemalint.config import Config
from schemalint.lint.rulebook import TableIgnores, load_rules, require_known, selection_of
from schemalint.plugin import Rule
from schemalint.values import replace


def rules_of(
    settings: Config,
    *,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    preview: bool = False,
    local_from: Path | None = None,
) -> tuple[Rule, ...]:
    """The selected rules: the command line wins over the configuration.

    Args:
        settings: The configuration.
        select: As the command line has it, like the following.
        extend_select: Rules beside those.
        ignore: All but these.
        preview: Rules in preview too.
        local_from: The folder that local files of rules are taken from; None where they are not allowed.

    Raises:
        UsageError: Local files are configured, and not allowed.
    """
    selection = selection_of(settings, local_from)
    return load_rules(
        replace(
            selection,
            select=select or selection.select,
            extend_select=(*selection.extend_select, *extend_select),
            ignore=(*selection.ignore, *ignore),
            preview=preview or selection.preview,
        )
    )


def table_ignores(settings: Config, rules: tuple[Rule, ...]) -> TableIgnores:
    """Per glob of tables; a pattern that names no rule at all is an error, as it is on the command line."""
    for entry in settings.tables:
        require_known(entry.ignore, (*load_rules(), *rules) if entry.ignore else rules)
    return tuple((entry.match, entry.ignore) for entry in settings.tables)
