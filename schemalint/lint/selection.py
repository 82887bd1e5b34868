"""Select rules by configuration and command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemalint.config import Config
from schemalint.lint.rulebook import TableIgnores, load_rules, require_known, selection_of
from schemalint.plugin import Rule
from schemalint.values import replace

if TYPE_CHECKING:
    from schemalint.config.trust import RuleFiles


def rules_of(
    settings: Config,
    *,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    preview: bool = False,
    local: RuleFiles | None = None,
) -> tuple[Rule, ...]:
    """Return the selected rules; the command line overrides the configuration.

    Args:
        settings: The configuration.
        select: The rules from the command line; empty for those of the configuration.
        extend_select: Additional rules.
        ignore: Rules to leave out.
        preview: Whether to include rules in preview.
        local: The local rule files; None if they are not allowed.

    Raises:
        UsageError: The configuration names local rule files, and they are not allowed.
    """
    selection = selection_of(settings, local)
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
    """Return the ignored rules by table glob; an unknown pattern is an error, as on the command line."""
    for entry in settings.tables:
        require_known(entry.ignore, (*load_rules(), *rules) if entry.ignore else rules)
    return tuple((entry.match, entry.ignore) for entry in settings.tables)
