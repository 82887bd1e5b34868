"""Find the columns that SQL expressions use."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cache
from itertools import takewhile
from typing import TYPE_CHECKING, Generic, TypeVar

from schemalint.delta.path import Path, PathIndex, field_names
from schemalint.delta.sql_text import always_quoted, quote_identifier

if TYPE_CHECKING:
    from sqlglot import exp

T = TypeVar("T", bound=Hashable)

Names = tuple[str, ...]
"""The names of nested fields from the column down, without collection parts."""

_DEEPEST = 200
"""Levels of an expression: a recursive walk takes several calls for each, and Python allows 1,000."""


class ColumnUsers(Generic[T]):
    """Expressions by the columns that they use.

    An expression uses a field if it names the field, a field inside it, or one that contains it. Delta
    compares the same way: an expression that uses a struct uses all its fields, and both ``lines[0].qty`` and
    ``lines.qty`` use the field ``qty`` of the structs in ``lines`` (measured on Delta 4.4.0).

    Attributes:
        unparsed: The keys of the expressions that cannot be parsed.
    """

    def __init__(self, expressions: Iterable[tuple[T, str]]) -> None:
        """Parse the expressions, each with its key."""
        parsed = [(key, columns_used(text)) for key, text in expressions]
        self.unparsed = tuple(key for key, names in parsed if names is None)
        self._by_column = PathIndex(
            (tuple(map(str.lower, column)), key) for key, names in parsed for column in names or ()
        )

    def of(self, path: Path) -> tuple[T, ...]:
        """Return the keys of the expressions that use the field at a path."""
        return tuple(dict.fromkeys(self._by_column.overlapping(field_names(path))))

    def naming(self, path: Path) -> tuple[T, ...]:
        """Return the keys of the expressions that name the field at a path, or a field inside it."""
        return tuple(dict.fromkeys(self._by_column.within(field_names(path))))


@cache
def columns_used(expression: str) -> frozenset[Names] | None:
    """Return the columns in an expression, each as a tuple of nested names in the expression's spelling.

    Indexes are skipped: ``lines[0].qty`` gives ``("lines", "qty")``. Fields of a function's result are not
    columns: ``element_at(lines, 1).qty`` gives ``("lines",)``. None if the expression cannot be parsed, or
    contains ``*`` or a subquery.
    """
    tree = parsed(expression)
    return None if tree is None else names_of(tree)


@cache
def parsed(expression: str) -> exp.Expr | None:
    """Return an expression as a tree; None if it cannot be parsed, or contains ``*`` or a subquery."""
    # Importing sqlglot takes longer than a whole check, and few changes concern an expression.
    from logging import CRITICAL, getLogger  # noqa: PLC0415

    from sqlglot import Dialect, exp  # noqa: PLC0415

    # It logs texts that it warns of as they are, and without a handler that is standard error.
    getLogger("sqlglot").setLevel(CRITICAL)
    try:
        trees = Dialect.get_or_raise("spark").parse_into(exp.Condition, expression)
    except Exception:  # noqa: BLE001 (beside its own errors IndexError for `map(a)`, decimal's, and RecursionError)
        return None
    tree = trees[0] if len(trees) == 1 else None
    if tree is None or tree.find(exp.Star, exp.Query) is not None:
        return None
    return tree


def walkable(expression: str) -> exp.Expr | None:
    """Return an expression as `parsed` does, but None if it is nested deeper than a recursive walk can go.

    A chain of operators is one level for each of them.
    """
    tree = parsed(expression)
    level = [] if tree is None else [tree]
    for _ in range(_DEEPEST):
        if not level:
            return tree
        level = [inner for node in level for inner in node.iter_expressions()]
    return None


def names_of(tree: exp.Expr) -> frozenset[Names]:
    """Return the columns in a tree, as `columns_used` does."""
    return frozenset(map(_names, _columns_in(tree)))


def dotted_columns(expression: str) -> frozenset[Names]:
    """Return the columns in an expression with the names that follow by dots alone, up to the first index.

    ``lines[0].qty`` gives ``("lines",)``, where `columns_used` gives ``("lines", "qty")``.
    """
    tree = parsed(expression) if "." in expression else None
    return frozenset() if tree is None else frozenset(map(_dotted_names, _columns_in(tree)))


def indexed_columns(expression: str) -> frozenset[Names]:
    """Return the columns of which an expression uses an element: ``lines[0]``, ``labels['a']``."""
    tree = parsed(expression) if "[" in expression else None
    if tree is None:
        return frozenset()
    brackets = (node for node in tree.walk() if node.key == "bracket" and _is_field_or_index(node))
    return frozenset(_names(node.this) for node in brackets if node.this.key == "column")


def with_columns_renamed(expression: str, renamed: Callable[[Names], Path]) -> str | None:
    """Return an expression with other names of its columns, or as it is if it cannot be parsed.

    Returns:
        None if a column cannot be told from other words.
    """
    tree = parsed(expression)
    if tree is None:
        return expression
    names: dict[tuple[int, int], str] = {}
    for column in _columns_in(tree):
        for part, new in zip(column.parts, renamed(_names(column)), strict=False):
            if new != part.name and "start" in part.meta:  # sqlglot 26.0 has no positions
                names[part.meta["start"], part.meta["end"] + 1] = str(new)
    wanted = frozenset(map(renamed, names_of(tree)))
    for quoted in (quote_identifier, always_quoted):  # some names are keywords
        text = expression
        for (start, end), name in sorted(names.items(), reverse=True):
            text = text[:start] + quoted(name) + text[end:]
        if columns_used(text) == wanted:
            return text
    return None


def _columns_in(tree: exp.Expr) -> Iterator[exp.Column]:
    from sqlglot import exp  # noqa: PLC0415 (as in `parsed`)

    return tree.find_all(exp.Column)


def _names(column: exp.Column) -> Names:
    """Return all names of a column: sqlglot has up to four in the node, the rest in outer Dot nodes."""
    return tuple(node.name for node in (*column.parts, *_accesses(column)) if node.key != "bracket")


def _dotted_names(column: exp.Column) -> Names:
    dots = takewhile(lambda node: node.key == "dot", _accesses(column))
    return tuple(node.name for node in (*column.parts, *dots))


def _accesses(column: exp.Column) -> Iterator[exp.Expr]:
    """Yield the nodes that access a field or an element of a column, the innermost first."""
    node: exp.Expr = column
    while node.parent is not None and node.arg_key == "this" and _is_field_or_index(node.parent):
        node = node.parent
        yield node


def _is_field_or_index(node: exp.Expr) -> bool:
    """Whether the node accesses a field or an index.

    sqlglot also parses ``element_at`` as a Bracket, but with an offset.
    """
    return node.key == "dot" or (node.key == "bracket" and node.args.get("offset") is None)
