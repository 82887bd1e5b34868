"""Equal is what Delta holds as equal."""

from __future__ import annotations

import re
from typing import Final, TypeVar

from schemalint.delta import properties
from schemalint.delta.datatype import Managed, Unmanaged

T = TypeVar("T")

# Delta stores an expression re-spelled from its tokens: `amount>=0` becomes `amount >= 0` (measured).
_TOKEN: Final = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|[\w$]+(?:\.\d+)?|<=>|<>|[<>!=]=|\|\||[^\s\w]""",
    re.DOTALL,
)


def same_comment(old: Managed[str | None], new: Managed[str | None]) -> bool:
    """No comment and an empty one are the same: Spark cannot take a comment away."""
    return _without_empty(old) == _without_empty(new)


def same_expression(old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Expressions are compared by their tokens; names and keywords ignoring case."""
    if isinstance(old, str) and isinstance(new, str):
        return _tokens(old) == _tokens(new)
    return old == new


def same_property(key: str, old: Managed[str | None], new: Managed[str | None]) -> bool:
    """Booleans ignoring case, intervals and numbers by value."""
    if isinstance(old, str) and isinstance(new, str):
        return properties.same_value(key, old, new)
    return old == new


def managed(value: Managed[T]) -> T | None:
    """The value, with None for what is not managed: for where the two do not differ."""
    return None if isinstance(value, Unmanaged) else value


def _without_empty(comment: Managed[str | None]) -> Managed[str | None]:
    return None if comment == "" else comment


def _tokens(expression: str) -> list[str]:
    return [
        token if token[0] in "'\"" else token.strip("`").casefold() for token in _TOKEN.findall(expression)
    ]
