"""Compare declared and stored values the way Delta does, so that equivalent spellings are no change."""

from __future__ import annotations

import re
from typing import Final, TypeVar

from schemalint.delta import properties
from schemalint.delta.datatype import Managed, Unmanaged

T = TypeVar("T")

# Delta normalizes the blanks in a constraint, and leaves out comments: it stores `amount>=0 /* x */` as
# `amount >= 0` (measured on Delta 4.4.0).
_LEXEME: Final = (
    r"""(?s)/\*.*?\*/|--[^\r\n]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`"""
    r"|[\w$]+(?:\.\d+)?|<=>|<>|[<>!=]=|\|\||[^\s\w]"
)


def same_comment(old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Whether two comments are equal; an empty one equals none, because Spark cannot remove a comment."""
    return _without_empty(old) == _without_empty(new)


def same_expression(old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Whether two SQL expressions have equal tokens.

    The case of names and keywords and the back-quotes of names do not matter.
    """
    if isinstance(old, str) and isinstance(new, str):
        return _tokens(old) == _tokens(new)
    return old == new


def same_property(key: str, old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Whether Delta gives two property values the same meaning: `1 day` equals `24 hours`."""
    if isinstance(old, str) and isinstance(new, str):
        return properties.same_value(key, old, new)
    return old == new


def managed(value: Managed[T]) -> T | None:
    """Return the value, or None if it is unmanaged; for callers that treat both alike."""
    return None if isinstance(value, Unmanaged) else value


def _without_empty(comment: Managed[str | None]) -> Managed[str | None]:
    return None if comment == "" else comment


def _tokens(expression: str) -> list[str]:
    return [
        token if token[0] in "'\"" else token.strip("`").casefold()
        for token in re.findall(_LEXEME, expression)
        if not token.startswith(("/*", "--"))
    ]
