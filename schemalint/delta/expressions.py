"""Find what a SQL expression uses (columns, functions, queries), and why a text is not one expression.

Only what no expression of Spark's grammar contains is a fault (SqlBaseParser.g4; measured on Spark 4.2.0,
``tests/engine/constraints.csv``). Most keywords are names too (``end > 0`` is valid), so nothing is said of
the words beside one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, assert_never

from schemalint.base.values import Itself, frozen
from schemalint.delta.column_users import indexed_columns
from schemalint.delta.datatype import Map, Struct, type_at, walk_fields
from schemalint.delta.path import Path, format_path
from schemalint.delta.sql_text import Token, tokens
from schemalint.delta.table import TableState

# Words that a bracket may follow and that are no functions; other keywords are functions too (`if`).
# fmt: off
_KEYWORDS: Final = frozenset({
    "then", "else", "end", "is", "distinct", "as", "over", "interval", "escape", "collate", "varchar",
    "character", "dec", "numeric", "from", "for", "both", "leading", "trailing", "all", "select",
    "where", "group", "on", "by",
})
# fmt: on
# Functions that Spark also finds without brackets. In constraints, which Delta checks on each write, they
# are null then (measured on Delta 4.4.0).
WITHOUT_BRACKETS: Final = frozenset(
    {"current_date", "current_time", "current_timestamp", "current_user", "session_user", "user"}
)
_QUERIES: Final = frozenset({"select", "with", "values", "table", "from", "map", "reduce"})
_AFTER_QUERY: Final = frozenset({"word", "name", "string", "raw"})
_LIKE: Final = frozenset({"like", "ilike", "rlike", "regexp"})
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

_NOT_GENERATED_WORDS: Final = WITHOUT_BRACKETS | {"between", "ilike", "interval"}
"""Words that no generated column can use (measured on Delta 4.4.0, ``tests/engine/generated.csv``)."""

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


class Place(Enum):
    """Where a table has an expression."""

    CONSTRAINT = "constraint"
    DEFAULT = "default"
    GENERATED = "generated"


@frozen
class Expression:
    """An expression of a table.

    Attributes:
        text: The expression in SQL.
        path: The column of a default or a generation expression; None for a constraint.
        name: The name of the constraint, or the path as text.
    """

    place: Place
    text: str
    name: str
    path: Path | None = None

    @property
    def subject(self) -> str:
        """The expression, as messages name it."""
        match self.place:
            case Place.CONSTRAINT:
                return f"the constraint {self.name}"
            case Place.DEFAULT:
                return f"the default of {self.name}"
            case Place.GENERATED:
                return f"the generation expression of {self.name}"
            case _:
                assert_never(self.place)

    @property
    def fault(self) -> str | None:
        """Why the text is not one expression, as the end of a sentence; None if it is one."""
        words = COLUMN_WORDS if self.place is Place.DEFAULT else frozenset[str]()
        return expression_fault(self.text, without=words)


def expressions_of(state: TableState) -> Iterator[Expression]:
    """Yield all expressions of a table."""
    for name, text in state.constraints.items():
        if text is not None:
            yield Expression(Place.CONSTRAINT, text, name)
    yield from _in_columns(Itself(state.columns))


@lru_cache(maxsize=8)  # several rules look at the expressions of the same state
def _in_columns(columns: Itself[Struct]) -> tuple[Expression, ...]:
    return tuple(
        Expression(place, text, format_path(path), path)
        for path, field in walk_fields(columns.value)
        for place, text in ((Place.DEFAULT, field.default), (Place.GENERATED, field.generated))
        if isinstance(text, str)
    )


@cache
def functions_called(expression: str) -> tuple[str, ...]:
    """Return the names of the functions that an expression calls, in lower case and in order.

    A name has the catalog and schema that it is written with: ``system.builtin.abs``.
    """
    text_tokens = tokens(expression)
    names: list[str] = []
    for index, (token, following) in enumerate(pairwise(text_tokens)):
        if following.text != "(" or token.kind not in {"word", "name"}:
            continue
        parts = [_name(token)]
        start = index
        while start >= 2 and text_tokens[start - 1].text == ".":  # noqa: PLR2004 (a name and a dot)
            start -= 2
            parts.insert(0, _name(text_tokens[start]))
        before = text_tokens[start - 1].text.lower() if start else ""
        # LIKE ANY (…) and the type in a cast are no calls.
        if len(parts) > 1 or token.kind == "name" or not (parts[0] in _KEYWORDS or before in _LIKE):
            names.append(".".join(parts))
    return tuple(names)


@cache
def contains_query(expression: str) -> bool:
    """Whether an expression contains a subquery, or the name of a table."""
    text_tokens = tokens(expression)
    for (bracket, word), after in zip(pairwise(text_tokens), (*text_tokens[2:], Token("", "")), strict=False):
        name = word.text.lower()
        if bracket.text == "(" and word.kind == "word" and name in _QUERIES:
            is_number_or_query = name == "values" and after.text == "("
            if name == "select" or after.kind in _AFTER_QUERY or is_number_or_query:
                return True
    return False


def unusable_part(expression: Expression, columns: Struct) -> str | None:
    """Return what Delta cannot compute in an expression, as the end of a sentence; None if nothing is known.

    Measured on Delta 4.4.0: it accepts most of it in a constraint, and then every write fails. Generated
    columns can use less, and are refused at once.
    """
    # Only tables with expressions need the list of functions.
    from schemalint.delta.functions import FunctionKind, kind_of_function  # noqa: PLC0415

    if contains_query(expression.text):
        return "contains a subquery"
    for name in functions_called(expression.text):
        kind = kind_of_function(name)
        is_computed = kind is FunctionKind.SESSION and expression.place is Place.DEFAULT
        if kind is not None and kind.obstacle and not is_computed:
            return f"calls {name}(), {kind.obstacle}"
    match expression.place:
        case Place.CONSTRAINT:
            return _unusable_in_constraint(tokens(expression.text), columns)
        case Place.GENERATED:
            return _unusable_when_generated(expression.text, columns)
        case Place.DEFAULT:
            return None
        case _:
            assert_never(expression.place)


def unknown_functions(expression: str) -> tuple[str, ...]:
    """Return the functions in an expression that Spark 4.2.0 does not have, in order."""
    from schemalint.delta.functions import kind_of_function  # noqa: PLC0415 (as above)

    return tuple(name for name in functions_called(expression) if kind_of_function(name) is None)


def _unusable_in_constraint(text_tokens: tuple[Token, ...], columns: Struct) -> str | None:
    edge = Token("", "")
    for before, token, after in zip(
        (edge, *text_tokens), text_tokens, (*text_tokens[1:], edge), strict=False
    ):
        name = token.text.lower()
        is_alone = before.text != "." and after.text not in {"(", "."}
        if token.kind == "word" and is_alone and name in WITHOUT_BRACKETS and columns.get(name) is None:
            return f"uses {name} without brackets, which is null when Delta checks a row"
        if token.text == "*" and before.text in {"(", ",", "."} and after.text in {")", ","}:
            return "uses *"
    return None


def _unusable_when_generated(text: str, columns: Struct) -> str | None:
    """Return what Delta does not allow in a generated column, though it could compute it for a row."""
    from schemalint.delta.functions import not_generated  # noqa: PLC0415 (as above)

    for name in functions_called(text):
        if name.rpartition(".")[2] in not_generated():
            return f"calls {name}(), which Delta does not allow in generated columns"
    for before, token in pairwise((Token("", ""), *tokens(text))):
        word = token.text.lower()
        is_field = before.text == "." or columns.get(word) is not None
        if token.kind == "word" and word in _NOT_GENERATED_WORDS and not is_field:
            return f"uses {word.upper()}, which Delta does not allow in generated columns"
    for names in indexed_columns(text):
        if isinstance(type_at(columns, names), Map):
            return f"looks up a key of {format_path(names)}, which Delta does not allow in generated columns"
    return None


def _name(token: Token) -> str:
    return (token.text[1:-1].replace("``", "`") if token.kind == "name" else token.text).lower()


def expression_fault(text: str, *, without: frozenset[str] = frozenset()) -> str | None:
    """Return why a text is not one expression, as the end of a sentence; None if it is one.

    Then a statement with the text cannot read it as anything else. The expression itself is not checked.

    Args:
        text: The text of the expression.
        without: Words, in lower case, that the text must not contain outside brackets.
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
    return token.kind in _TEXTS | {"name"} or (token.kind == "word" and token.text.lower() not in _NO_VALUES)


def _is_number(token: Token) -> bool:
    return re.fullmatch(_NUMBER, token.text) is not None
