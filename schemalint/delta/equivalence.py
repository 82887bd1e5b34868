"""Compare declared and stored values the way Delta does, so that equivalent spellings are no change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from schemalint.delta import properties
from schemalint.delta.datatype import Managed
from schemalint.delta.sql_text import unquote_identifier

# Delta normalizes the blanks in a constraint, and leaves out comments: it stores `amount>=0 /* x */` as
# `amount >= 0` (measured on Delta 4.4.0).
_LEXEME: Final = (
    r"""(?s)/\*.*?\*/|--[^\r\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`"""
    r"|[\w$]+(?:\.\d+)?|<=>|<>|[<>!=]=|\|\||[^\s\w]"
)

_NAMELESS: Final = "CHECK ("


def same_comment(old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Whether two comments are equal; an empty one equals none, because Spark cannot remove a comment."""
    return (old or None) == (new or None)


def same_expression(old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Whether two SQL expressions have equal tokens.

    The case of names and keywords and the back-quotes of names do not matter.
    """
    if isinstance(old, str) and isinstance(new, str):
        return _tokens(old) == _tokens(new)
    return old == new


def nameless_constraint(expression: str) -> str:
    """Return what stands for the name of a CHECK constraint whose name nobody knows.

    It is equal for expressions that `same_expression` calls the same.
    """
    return f"{_NAMELESS}{' '.join(_tokens(expression))})"


def with_names_of(
    constraints: Mapping[str, str | None], others: Mapping[str, str | None]
) -> Mapping[str, str | None]:
    """Return the constraints; one without a known name gets that of the other side for its expression.

    Args:
        constraints: Expressions by name, or by `nameless_constraint`.
        others: The expressions of the other side by name: of a table, or of another revision.
    """
    if not any(name.startswith(_NAMELESS) for name in constraints):
        return constraints
    names = {
        nameless_constraint(text): name
        for name, text in others.items()
        if text is not None and name not in constraints
    }
    return {names.get(name, name): text for name, text in constraints.items()}


def same_property(key: str, old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Whether Delta gives two property values the same meaning: `1 day` equals `24 hours`."""
    if isinstance(old, str) and isinstance(new, str):
        return properties.same_value(key, old, new)
    return old == new


def _name(token: str) -> str:
    return unquote_identifier(token) if token[0] == "`" and len(token) > 1 else token


def _tokens(expression: str) -> list[str]:
    return [
        token if token[0] in "'\"" else _name(token).lower()
        for token in re.findall(_LEXEME, expression)
        if not token.startswith(("/*", "--"))
    ]
