"""Which columns a SQL expression of a table uses: a CHECK constraint's, a generated column's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from schemalint.delta.path import Part, Path

if TYPE_CHECKING:
    from sqlglot import exp

Names = tuple[str, ...]


def uses(expression: str, path: Path) -> bool | None:
    """Whether an expression uses a column, anything inside it, or something that it is inside of.

    So Delta compares, too: a field is used where its whole struct is, and a field of a struct in an array
    where that field is, by ``lines[0].qty`` as by ``lines.qty`` (measured on Delta 4.4.0). None if the
    expression cannot be read.
    """
    columns = columns_used(expression)
    if columns is None:
        return None
    wanted = [step.lower() for step in path if not isinstance(step, Part)]
    return any(
        all(one == other.lower() for one, other in zip(wanted, names, strict=False)) for names in columns
    )


@cache
def columns_used(expression: str) -> frozenset[Names] | None:
    """The columns that an expression names, each as the names of fields on the way, spelled as there.

    An index is passed over: ``lines[0].qty`` uses ``lines``, ``qty``. What comes out of a function is no
    column any more: ``element_at(lines, 1).qty`` uses ``lines``. None if the expression cannot be read, or
    does not say by name what it uses.
    """
    # Costs more to import than a whole check, and few changes are about an expression.
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
    """In sqlglot a column holds up to four names; what follows stands in dots and brackets around it."""
    names = [part.name for part in column.parts]
    node: exp.Expr = column
    while node.parent is not None and node.arg_key == "this" and _leads_on(node.parent):
        node = node.parent
        names += [node.name] if node.key == "dot" else []
    return tuple(names)


def _leads_on(node: exp.Expr) -> bool:
    """Whether it is a field or an index; sqlglot makes a bracket of ``element_at`` too, with an offset."""
    return node.key == "dot" or (node.key == "bracket" and node.args.get("offset") is None)
