"""The expressions of a table, and what they use: columns, functions, queries."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, assert_never

from schemalint.base.values import Itself, frozen
from schemalint.delta.column_users import Names, columns_used, dotted_columns, indexed_columns
from schemalint.delta.datatype import Array, Map, Struct, type_at, walk_fields
from schemalint.delta.expression_faults import (
    COLUMN_WORDS,
    ExpressionFault,
    alias_fault,
    expression_fault,
)
from schemalint.delta.functions import FunctionKind, kind_of_function, not_generated
from schemalint.delta.invariants import invariants_of
from schemalint.delta.path import Path, format_path
from schemalint.delta.sql_text import NO_TOKEN, neighbours, tokens
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
_WITHOUT_BRACKETS: Final = frozenset(
    {"current_date", "current_time", "current_timestamp", "current_user", "session_user", "user"}
)
_QUERIES: Final = frozenset({"select", "with", "values", "table", "from", "map", "reduce"})
_AFTER_QUERY: Final = frozenset({"word", "name", "string", "raw"})
_LIKE: Final = frozenset({"like", "ilike", "rlike", "regexp"})
_NOT_GENERATED_WORDS: Final = _WITHOUT_BRACKETS | {"between", "ilike", "interval"}
"""Words that no generated column can use (measured on Delta 4.4.0, ``tests/engine/generated.csv``)."""


class Place(Enum):
    """Where a table has an expression."""

    CONSTRAINT = "constraint"
    DEFAULT = "default"
    GENERATED = "generated"
    INVARIANT = "invariant"
    """In the metadata of a column; no contract declares one."""


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
            case Place.INVARIANT:
                return f"the invariant of {self.name}"
            case _:
                assert_never(self.place)

    @property
    def fault(self) -> ExpressionFault | None:
        """Why the text is not one expression; None if it is one."""
        words = COLUMN_WORDS if self.place is Place.DEFAULT else frozenset[str]()
        fault = expression_fault(self.text, without=words)
        takes_alias = self.place in {Place.CONSTRAINT, Place.INVARIANT}
        return alias_fault(self.text) if fault is None and not takes_alias else fault


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
    ) + tuple(
        Expression(Place.INVARIANT, invariant.expression, format_path(path), path)
        for path, invariant in invariants_of(columns.value)
        if invariant.expression is not None
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
        parts = [token.name.lower()]
        start = index
        while start >= 2 and text_tokens[start - 1].text == ".":  # noqa: PLR2004 (a name and a dot)
            start -= 2
            parts.insert(0, text_tokens[start].name.lower())
        before = text_tokens[start - 1].text.lower() if start else ""
        # LIKE ANY (…) and the type in a cast are no calls.
        if len(parts) > 1 or token.kind == "name" or not (parts[0] in _KEYWORDS or before in _LIKE):
            names.append(".".join(parts))
    return tuple(names)


@cache
def contains_query(expression: str) -> bool:
    """Whether an expression contains a subquery, or the name of a table."""
    for before, word, after in neighbours(tokens(expression)):
        name = word.text.lower()
        if before.text == "(" and word.kind == "word" and name in _QUERIES:
            is_number_or_query = name == "values" and after.text == "("
            if name == "select" or after.kind in _AFTER_QUERY or is_number_or_query:
                return True
    return False


@frozen
class UnusablePart:
    """What Delta cannot compute in an expression.

    Attributes:
        what: The part, as the end of a sentence that begins with the expression.
        is_in_collection: Whether it is a field that is read by dot through a map or an array.
    """

    what: str
    is_in_collection: bool = False


def unusable_part(expression: Expression, columns: Struct) -> UnusablePart | None:
    """Return what Delta cannot compute in an expression; None if nothing is known.

    Measured on Delta 4.4.0: it accepts most of it in a constraint, and then every write fails. Generated
    columns can use less, and are refused at once.
    """
    if (what := _unusable_anywhere(expression)) is not None:
        return UnusablePart(what)
    names = None
    if expression.place is not Place.DEFAULT:
        names = _read_through_a_collection(expression.text, columns)
    if names is not None:
        what = f"reads {format_path(names)} by dot through a map or an array"
        return UnusablePart(what, is_in_collection=True)
    match expression.place:
        case Place.CONSTRAINT | Place.INVARIANT:
            what = _unusable_in_constraint(expression.text, columns)
        case Place.GENERATED:
            what = _unusable_when_generated(expression.text, columns)
        case Place.DEFAULT:
            return None
        case _:
            assert_never(expression.place)
    return None if what is None else UnusablePart(what)


def _unusable_anywhere(expression: Expression) -> str | None:
    # Only tables with expressions need the list of functions.
    if contains_query(expression.text):
        return "contains a subquery"
    for name in functions_called(expression.text):
        kind = kind_of_function(name)
        is_computed = kind is FunctionKind.SESSION and expression.place is Place.DEFAULT
        if kind is not None and kind.obstacle and not is_computed:
            return f"calls {name}(), {kind.obstacle}"
    return None


def unknown_functions(expression: str) -> tuple[str, ...]:
    """Return the functions in an expression that Spark 4.2.0 does not have, in order."""
    return tuple(name for name in functions_called(expression) if kind_of_function(name) is None)


def _read_through_a_collection(expression: str, columns: Struct) -> Names | None:
    """Return a field that an expression reads by dots alone through a map or an array; None if it does not.

    Spark reads ``labels.a`` as ``labels['a']``, and ``lines.qty`` as the array of all quantities. Delta finds
    the columns of a constraint itself, and looks only into structs: ADD CONSTRAINT succeeds, and then every
    write fails. In generated columns it does not allow it. Behind an index it takes dots
    (``lines[0].qty``; measured on Delta 4.4.0).
    """
    for names in sorted(dotted_columns(expression)):
        type_, is_behind = type_at(columns, names[:1]), False
        for name in names[1:]:
            is_behind = is_behind or isinstance(type_, Array | Map)
            inside = type_.element if isinstance(type_, Array) else type_
            if not isinstance(inside, Struct):
                break
            type_ = type_at(inside, (name,))
        if is_behind and type_ is not None:
            return names
    return None


def calls_without_brackets(expression: str, columns: Struct) -> Iterator[str]:
    """Yield the functions, in lower case, that an expression calls without brackets, but for columns."""
    for before, token, after in neighbours(tokens(expression)):
        name = token.text.lower()
        is_alone = before.text != "." and after.text not in {"(", "."}
        if token.kind == "word" and is_alone and name in _WITHOUT_BRACKETS and columns.get(name) is None:
            yield name


def _unusable_in_constraint(expression: str, columns: Struct) -> str | None:
    for name in calls_without_brackets(expression, columns):
        return f"uses {name} without brackets, which is null when Delta checks a row"
    for before, token, after in neighbours(tokens(expression)):
        if token.text == "*" and before.text in {"(", ",", "."} and after.text in {")", ","}:
            return "uses *"
    return None


def _unusable_when_generated(text: str, columns: Struct) -> str | None:
    """Return what Delta does not allow in a generated column, though it could compute it for a row."""
    for names in sorted(columns_used(text) or ()):
        column = columns.get(names[0])
        if column is not None and isinstance(column.generated, str):
            return f"uses {format_path((column.name,))}, which is generated itself"
    for name in functions_called(text):
        if name.rpartition(".")[2] in not_generated():
            return f"calls {name}(), which Delta does not allow in generated columns"
    for before, token in pairwise((NO_TOKEN, *tokens(text))):
        word = token.text.lower()
        is_field = before.text == "." or columns.get(word) is not None
        if token.kind == "word" and word in _NOT_GENERATED_WORDS and not is_field:
            return f"uses {word.upper()}, which Delta does not allow in generated columns"
    for names in indexed_columns(text):
        if isinstance(type_at(columns, names), Map):
            return f"looks up a key of {format_path(names)}, which Delta does not allow in generated columns"
    return None
