"""Find why a text is not one expression of Spark's SQL.

Only what no expression of Spark's grammar contains is a fault (SqlBaseParser.g4; measured on Spark 4.2.0,
``tests/engine/constraints.csv``). Most keywords are names too (``end > 0`` is valid), so nothing is said of
the words beside one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.calendar_texts import is_date, is_timestamp
from schemalint.delta.sql_text import NO_TOKEN, Token, neighbours, tokens, unquote_literal

_SYNTAX: Final = "PARSE_SYNTAX_ERROR"

_CLOSING: Final = {"(": ")", "[": "]"}
_VARIABLE: Final = "${"
_OF_SESSION: Final = "contains ${, which Spark replaces with values of each session that parses it"
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
_NO_VALUES: Final = frozenset({
    "all", "and", "any", "asc", "at", "between", "both", "by", "case", "collate", "desc", "distinct", "div",
    "else", "end", "escape", "exists", "false", "filter", "for", "group", "if", "ignore", "ilike", "in", "is",
    "isnull", "leading", "like", "not", "notnull", "null", "nulls", "on", "or", "order", "placing", "regexp",
    "respect", "rlike", "some", "then", "time", "trailing", "true", "unknown", "when", "where", "zone",
})
# fmt: on

_END_OF_EXPRESSION: Final = frozenset({"end", "false", "null", "true", "unknown"})
"""Words behind a value that are no alias of it."""

_PARAMETER: Final = "UNBOUND_SQL_PARAMETER"
_NO_LITERAL_TYPE: Final = "UNSUPPORTED_TYPED_LITERAL"
_NO_LITERAL: Final = "INVALID_TYPED_LITERAL"
_NO_NUMBER: Final = "INVALID_NUMERIC_LITERAL_RANGE"
_TIMESTAMPS: Final = frozenset({"timestamp", "timestamp_ltz", "timestamp_ntz"})
_LITERAL_TYPES: Final = _TIMESTAMPS | {"date", "interval", "time", "x"}
"""The words that make a literal of a text behind them, in lower case."""
_BITS: Final = {"y": 8, "s": 16, "l": 64}
"""The bits of an integer with a suffix."""


@frozen
class ExpressionFault:
    """Why a text is not one expression.

    Attributes:
        what: The fault, as the end of a sentence that begins with the expression.
        error: The error class of the statement that declares the expression; None if Spark has no error.
        is_stored: Whether Spark reads the text where a table has it already.
    """

    what: str
    error: str | None = _SYNTAX
    is_stored: bool = False


def expression_fault(text: str, *, without: frozenset[str] = frozenset()) -> ExpressionFault | None:
    """Return why a text is not one expression; None if it is one.

    Then a statement with the text cannot read it as anything else. The expression itself is not checked.

    Args:
        text: The text of the expression.
        without: Words, in lower case, that the text must not contain outside brackets.
    """
    if _VARIABLE in text:
        return ExpressionFault(_OF_SESSION, None, is_stored=True)
    text_tokens = tokens(text)
    what = _bracket_fault(text_tokens, without) or _grammar_fault(text_tokens)
    if what is not None:
        return ExpressionFault(what, is_stored="comment" in what)
    return _literal_fault(text_tokens)


def alias_fault(text: str) -> ExpressionFault | None:
    """Return the fault of a name behind an expression, which only constraints can have; None without one."""
    *before, left, last = (NO_TOKEN, NO_TOKEN, *tokens(text))
    if any(token.text.lower() == "interval" for token in before):
        return None  # the word may be a unit
    before_alias = left.text.lower() == "as" or _ends_a_value(left)
    is_alias = last.kind == "name" or (last.kind == "word" and last.text.lower() not in _END_OF_EXPRESSION)
    if not (before_alias and is_alias) or _is_number(last):
        return None
    return ExpressionFault(f"ends in {last.text}, which is no part of an expression", is_stored=True)


def _bracket_fault(text_tokens: Sequence[Token], without: frozenset[str]) -> str | None:
    """Return which bracket, comma or character is in the wrong place, as the end of a sentence."""
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
    return None if text_tokens else "is empty"


def _literal_fault(text_tokens: Sequence[Token]) -> ExpressionFault | None:
    """Return the fault of the first literal or parameter that Spark cannot read."""
    for before, token, after in neighbours(text_tokens):
        if token.text == "?" or (token.text == ":" and not _ends_a_value(before)):
            name = token.text + (after.text if token.text == ":" else "")
            return ExpressionFault(f"contains the parameter {name}, which no statement binds", _PARAMETER)
        if token.kind == "word" and after.kind == "string" and (fault := _typed_literal_fault(token, after)):
            return fault
        if (before.text.lower(), token.text, after.text) == ("in", "(", ")"):
            return ExpressionFault("has an empty list behind IN", "INVALID_SQL_SYNTAX.EMPTY_IN_PREDICATE")
        if token.kind == "word" and before.text != "." and _is_out_of_range(token.text):
            return ExpressionFault(f"contains {token.text}, which is out of range", _NO_NUMBER)
    return None


def _typed_literal_fault(word: Token, text: Token) -> ExpressionFault | None:
    """Return the fault of a text behind a word that may be the type of a literal: ``date '2026-01-31'``."""
    type_, value = word.text.lower(), unquote_literal(text.text)
    if type_ == "escape" and len(value) != 1:
        return ExpressionFault(f"has ESCAPE {text.text}, which is not one character", "INVALID_ESC")
    if not _begins_a_value(word) or type_ in _CLAUSES - {"interval"}:
        return None
    if type_ not in _LITERAL_TYPES:
        literal = f"{word.text}{text.text}"
        return ExpressionFault(f"contains {literal}, a literal that Spark does not have", _NO_LITERAL_TYPE)
    is_wrong = (
        (type_ == "date" and not is_date(value))
        or (type_ in _TIMESTAMPS and not is_timestamp(value))
        or (type_ == "x" and re.fullmatch("[0-9A-Fa-f]*", value) is None)
    )
    if not is_wrong:
        return None
    return ExpressionFault(f"contains {word.text} {text.text}, which Spark cannot read", _NO_LITERAL)


def _is_out_of_range(word: str) -> bool:
    """Whether a number is larger than its type; the smallest one stands behind a sign."""
    if (integer := re.fullmatch(r"(?i)([0-9]+)([ysl])", word)) is not None:
        digits = integer[1].lstrip("0") or "0"  # Python converts no text of thousands of digits
        largest = 2 ** (_BITS[integer[2].lower()] - 1)
        return len(digits) > len(str(largest)) or int(digits) > largest
    is_double = re.fullmatch(r"(?i)[0-9]+e[+-]?[0-9]+d?", word) is not None
    return is_double and math.isinf(float(word.lower().removesuffix("d")))


def _grammar_fault(text_tokens: Sequence[Token]) -> str | None:
    """Return what no expression contains, as the end of a sentence; None if nothing is known."""
    if (fault := _at_a_point(text_tokens)) is not None:
        return fault
    words = [token.text.lower() if token.kind == "word" else "" for token in text_tokens]
    if any(pair in {("at", "time"), ("at", "local")} for pair in pairwise(words)):
        return "contains AT TIME ZONE, which Spark does not have"
    if _CLAUSES.intersection(words):
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


def _at_a_point(text_tokens: Sequence[Token]) -> str | None:
    """Return what is wrong beside a point or a colon, which stand in names and numbers."""
    was_fraction = False
    for before, token, after in neighbours(text_tokens):
        if token.text == ":" and _ends_a_value(before) and after.text[:1].isdecimal():
            return f"has no name between : and {after.text}"
        if token.text != ".":
            continue
        is_fraction = before.text.isdecimal()
        if is_fraction and was_fraction:
            return "has two points in a number"
        was_fraction = is_fraction
        if not _ends_a_value(before) and not after.text[:1].isdecimal():
            return "has no name before a point"
        if _ends_a_value(before) and not is_fraction and after.kind not in {"word", "name"}:
            if after.text == "*":
                return None
            return "has no name after a point"
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
    if left.text in {"(", ","} and right.text == ",":
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
    if is_alias or is_literal:
        return None
    return f"has no operator between {left.text} and {right.text}"


def _ends_a_value(token: Token) -> bool:
    return token.kind == "close" or _begins_a_value(token)


def _begins_a_value(token: Token) -> bool:
    return token.kind in _TEXTS | {"name"} or (token.kind == "word" and token.text.lower() not in _NO_VALUES)


def _is_number(token: Token) -> bool:
    return re.fullmatch(_NUMBER, token.text) is not None
