"""Find what a SQL expression uses: columns, functions, queries."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, assert_never

from schemalint.base.values import Itself, frozen
from schemalint.delta.datatype import Struct, walk_fields
from schemalint.delta.one_expression import COLUMN_WORDS, expression_fault
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

    Measured on Delta 4.4.0: it accepts most of it in a constraint, and then every write fails.
    """
    # Only tables with expressions need the list of functions.
    from schemalint.delta.functions import FunctionKind, kind_of_function  # noqa: PLC0415

    if contains_query(expression.text):
        return "contains a subquery"
    for name in functions_called(expression.text):
        match kind_of_function(name):
            case FunctionKind.NOT_DETERMINISTIC:
                return f"calls {name}(), which returns another value on each call"
            case FunctionKind.JAVA:
                return f"calls {name}(), which runs Java code"
            case FunctionKind.MANY_ROWS:
                return f"calls {name}(), which needs more than one row"
            case FunctionKind.TABLE:
                return f"calls {name}(), which returns rows"
            case FunctionKind.SESSION if expression.place is not Place.DEFAULT:
                return f"calls {name}(), whose value only the session of a query knows"
            case FunctionKind.SESSION | FunctionKind.ROW | None:
                pass
            case kind:
                assert_never(kind)
    if expression.place is Place.CONSTRAINT:
        return _unusable_in_constraint(tokens(expression.text), columns)
    return None


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


def _name(token: Token) -> str:
    return (token.text[1:-1].replace("``", "`") if token.kind == "name" else token.text).lower()
