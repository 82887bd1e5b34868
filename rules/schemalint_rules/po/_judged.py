"""What the rules about a team's wishes share: the options about columns, and which columns a rule judges."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from schemalint.delta.datatype import Field, walk_fields
from schemalint.delta.path import Path, split_path
from schemalint.plugin import Contract, RuleContext, option

APPLIES_TO: Final = option.defaulted(
    "applies_to",
    "`changed` for what an edit adds or changes; `all` for everything that is declared",
    option.Words(("changed", "all")),
    "changed",
)

LEVELS: Final = option.defaulted(
    "levels",
    "`top` for columns; `all` for fields inside of them too",
    option.Words(("top", "all")),
    "all",
)

EXCEPT: Final = option.defaulted(
    "except",
    "patterns of names that are no finding, with all inside; a list of yours replaces the default",
    option.Exempt(),
    ["_rescued_data", "_change_type", "_commit_.*", "_fivetran_.*", "__START_AT", "__END_AT"],
)


def judges_all(ctx: RuleContext) -> bool:
    """Whether the rule judges what no edit changes too."""
    return ctx.value_of(APPLIES_TO) == "all" or ctx.edit.is_new_table


def judged_columns(
    contract: Contract, ctx: RuleContext, *changes: Callable[[Path], bool]
) -> Iterator[tuple[Path, Field]]:
    """Yield the columns that a rule judges: all, or new ones and those that one of the changes is about.

    Args:
        contract: The contract.
        ctx: The context of the rule, with the options above.
        changes: Methods of `RuleContext.edit`.
    """
    patterns, is_top = ctx.value_of(EXCEPT), ctx.value_of(LEVELS) == "top"
    is_all = judges_all(ctx)
    for path, field in walk_fields(contract.state.columns):
        if is_top and len(path) > 1:
            continue
        if not is_all and not ctx.edit.adds(path) and not any(changed(path) for changed in changes):
            continue
        if not is_excepted(path, patterns):
            yield path, field


def is_excepted(path: Path, patterns: option.Patterns) -> bool:
    """Whether one of the patterns matches the name of a column, or of one around it."""
    names = [step for step in path if isinstance(step, str)]
    return any(pattern.matches(name) for pattern in patterns for name in names)


def says_nothing(comment: object, name: str) -> bool:
    """Whether there is no comment, or one that only repeats a name."""
    if not isinstance(comment, str):
        return True
    letters = _letters(comment)
    return not letters or letters == _letters(name)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def last_part(table: str) -> str:
    """Return the last part of a table's name, or of the path of one that has no other name."""
    if "/" in table:
        return table.rstrip("/").rpartition("/")[2]
    return split_path(table)[-1]
