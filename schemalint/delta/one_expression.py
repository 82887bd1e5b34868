"""Why a text is not one expression: what is not closed, and values and operators in the wrong places.

Only what no expression of Spark's grammar contains is a fault (SqlBaseParser.g4; measured on Spark 4.2.0,
``tests/engine/constraints.csv``). Most keywords are names too (``end > 0`` is valid), so nothing is said of
the words beside one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from schemalint.delta.sql_text import Token, tokens

_CLOSING: Final = {"(": ")", "[": "]"}
_VARIABLE: Final = "${"
_OTHER: Final = {
    "'": "has a ' that is not closed",
    '"': 'has a " that is not closed',
    "`": "has a ` that is not closed",
    ";": "contains a semicolon",
    "/": "contains // or a comment that is not closed or contains another one",
    "-": "ends in a comment",
}
"""The fault of a character that Spark cannot read."""

COLUMN_WORDS: Final = frozenset(
    {"comment", "after", "first", "generated", "default", "not"}
    | {"constraint", "check", "primary", "unique", "references"}
)
"""Words, in lower case, that end the default in a column definition and start its next clause."""

_COMPARED: Final = frozenset({"=", "==", "<=>", "<>", "!=", "<", "<=", "!>", ">", ">=", "!<"})
_BETWEEN_VALUES: Final = _COMPARED | {"/", "%", "&", "|", "^", "||"}
_BEFORE_VALUES: Final = frozenset({"~", "!"})
_NEED_A_VALUE: Final = _BETWEEN_VALUES | _BEFORE_VALUES | {"+", "-"}
_NUMBER: Final = r"(?i)[0-9]+(?:[lsy]|(?:e[+-]?[0-9]+)?(?:[df]|bd)?)"
_BRACKETS: Final = "has square brackets around a value"
_TEXTS: Final = frozenset({"string", "raw"})

# With these, words and signs may stand beside each other: types, units, windows, queries.
_CLAUSES: Final = frozenset({"as", "interval", "over", "within", "select", "with", "values", "from"})
# fmt: off
_KEYWORDS: Final = frozenset({
    "all", "and", "any", "asc", "at", "between", "both", "by", "case", "collate", "desc", "distinct", "div",
    "else", "end", "escape", "exists", "false", "filter", "for", "group", "if", "ignore", "ilike", "in", "is",
    "isnull", "leading", "like", "not", "notnull", "null", "nulls", "on", "or", "order", "placing", "regexp",
    "respect", "rlike", "some", "then", "time", "trailing", "true", "unknown", "when", "where", "zone",
})
# fmt: on


def is_one_expression(text: str, *, without: frozenset[str] = frozenset()) -> bool:
    """Whether a statement that contains the text cannot read it as anything but one expression.

    The expression itself is not checked.

    Args:
        text: The text of the expression.
        without: Words, in lower case, that the text must not contain outside brackets.
    """
    return expression_fault(text, without=without) is None


def expression_fault(text: str, *, without: frozenset[str] = frozenset()) -> str | None:
    """Return why a text is not one expression, as the end of a sentence; None if it is one.

    See `is_one_expression`.
    """
    if _VARIABLE in text:
        return "contains ${, which Spark replaces with values of each session that parses it"
    text_tokens = tokens(text)
    open_brackets: list[str] = []
    for token in text_tokens:
        if token.kind == "other":
            return _OTHER.get(token.text, f"contains {token.text}, which is not part of any expression")
        if token.kind == "open":
            open_brackets.append(token.text)
        elif token.kind == "close" and (not open_brackets or _CLOSING[open_brackets.pop()] != token.text):
            return f"has a {token.text} without its opening bracket"
        elif not open_brackets and token.text == ",":
            return "has a comma outside brackets"
        elif not open_brackets and token.kind == "word" and token.text.lower() in without:
            return f"contains {token.text.upper()} outside brackets, which begins another clause"
    if open_brackets:
        return f"has a {open_brackets[-1]} that is not closed"
    return _grammar_fault(text_tokens) if text_tokens else "is empty"


def _grammar_fault(text_tokens: Sequence[Token]) -> str | None:
    """Return what no expression contains, as the end of a sentence; None if nothing is known.

    Args:
        text_tokens: The tokens of an expression whose brackets are closed.
    """
    if any(token.kind == "word" and token.text.lower() in _CLAUSES for token in text_tokens):
        return None
    first, last = text_tokens[0], text_tokens[-1]
    if first.text in _BETWEEN_VALUES:
        return f"begins with {first.text}"
    if first.text == "[":
        return _BRACKETS
    if last.text in _NEED_A_VALUE:
        return f"has no value after {last.text}"
    for left, right in pairwise(text_tokens):
        fault = _at_an_operator(left, right) or _between_values(left, right, is_last=right is last)
        if fault is not None:
            return fault
    return None


def _at_an_operator(left: Token, right: Token) -> str | None:
    opens = left.text in {"(", "[", ","}
    if right.text in _BETWEEN_VALUES and (opens or left.text in _NEED_A_VALUE):
        return f"has no value between {left.text} and {right.text}"
    if left.text in _NEED_A_VALUE and (right.kind == "close" or right.text == ","):
        return f"has no value after {left.text}"
    if right.text in _BEFORE_VALUES and _ends_a_value(left):
        return f"has {right.text} after a value"
    if right.text == "!" and left.text in _BETWEEN_VALUES | {"+", "-"}:
        return f"has ! after {left.text}"
    if right.text == "[" and (opens or left.text in _NEED_A_VALUE):
        return _BRACKETS
    if (left.text, right.text) == ("(", ","):
        return "has no value before a comma"
    if left.text == "," and right.kind == "close":
        return "has no value after a comma"
    return None


def _between_values(left: Token, right: Token, *, is_last: bool) -> str | None:
    """Return what is missing between two values; a name at the end is an alias, and texts are joined."""
    if not (_ends_a_value(left) and _begins_a_value(right)):
        return None
    is_alias = is_last and (right.kind == "name" or (right.kind == "word" and not _is_number(right)))
    # A word before a text may be a type: `date '2026-01-31'`.
    is_literal = right.kind in _TEXTS and left.kind in _TEXTS | {"word"} and not _is_number(left)
    return None if is_alias or is_literal else f"has no operator between {left.text} and {right.text}"


def _ends_a_value(token: Token) -> bool:
    return token.kind == "close" or _begins_a_value(token)


def _begins_a_value(token: Token) -> bool:
    return token.kind in _TEXTS | {"name"} or (token.kind == "word" and token.text.lower() not in _KEYWORDS)


def _is_number(token: Token) -> bool:
    return re.fullmatch(_NUMBER, token.text) is not None
