"""Find the columns that a SQL expression uses: of a CHECK constraint or a generated column."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from schemalint.delta.path import Part, Path

if TYPE_CHECKING:
    from sqlglot import exp

Names = tuple[str, ...]
"""The names of nested fields from the column down, without collection parts."""


def uses(expression: str, path: Path) -> bool | None:
    """Whether an expression uses the field at a path, a field inside it, or a field that contains it.

    Delta compares the same way: an expression that uses a struct uses all its fields, and both
    ``lines[0].qty`` and ``lines.qty`` use the field ``qty`` of the structs in ``lines`` (measured on Delta
    4.4.0). None if the expression cannot be parsed.
    """
    columns = columns_used(expression)
    if columns is None:
        return None
    field_names = [step.lower() for step in path if not isinstance(step, Part)]
    return any(
        all(name == used.lower() for name, used in zip(field_names, used_names, strict=False))
        for used_names in columns
    )


@cache
def columns_used(expression: str) -> frozenset[Names] | None:
    """Return the columns in an expression, each as a tuple of nested names in the expression's spelling.

    Indexes are skipped: ``lines[0].qty`` gives ``("lines", "qty")``. Fields of a function's result are not
    columns: ``element_at(lines, 1).qty`` gives ``("lines",)``. None if the expression cannot be parsed, or
    contains ``*`` or a subquery.
    """
    # Importing sqlglot takes longer than a whole check, and few changes concern an expression.
    from sqlglot import Dialect, exp  # noqa: PLC0415
    from sqlglot.errors import SqlglotError  # noqa: PLC0415

    try:
        trees = Dialect.get_or_raise("spark").parse_into(exp.Condition, expression)
    except (SqlglotError, RecursionError):
        return None
    tree = trees[0] if len(trees) == 1 else None
    if tree is None or tree.find(exp.Star, exp.Query) is not None:
        return None
    return frozenset(_names(column) for column in tree.find_all(exp.Column))


def _names(column: exp.Column) -> Names:
    """Return all names of a column: sqlglot has up to four in the node, the rest in outer Dot nodes."""
    names = [part.name for part in column.parts]
    node: exp.Expr = column
    while node.parent is not None and node.arg_key == "this" and _is_field_or_index(node.parent):
        node = node.parent
        names += [node.name] if node.key == "dot" else []
    return tuple(names)


def _is_field_or_index(node: exp.Expr) -> bool:
    """Whether the node accesses a field or an index.

    sqlglot also parses ``element_at`` as a Bracket, but with an offset.
    """
    return node.key == "dot" or (node.key == "bracket" and node.args.get("offset") is None)
