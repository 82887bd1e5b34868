"""Whether the value of a fill depends on the time zone of the session that evaluates it."""

from __future__ import annotations

from typing import Final

from schemalint.delta.datatype import (
    DATE,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Char,
    DataType,
    String,
    Struct,
    Varchar,
    type_at,
)
from schemalint.delta.fill_tree import (
    Call,
    Cast,
    Leaf,
    Nodes,
    UnreadableExpression,
    fill_tree,
    walk_nodes,
    without_brackets,
)
from schemalint.delta.fill_tree_faults import OF_CALENDAR

_ALWAYS: Final = frozenset({"try_to_timestamp", "from_unixtime"})
"""Functions whose value depends on the time zone of the session, whatever they take."""


def depends_on_time_zone(text: str, columns: Struct, type_: DataType) -> bool:
    """Whether an expression makes an instant of a text or a day, or the other way round."""
    try:
        tree = fill_tree(text)
    except UnreadableExpression:
        return False
    if _crosses(_type_of(tree, columns), type_):
        return True
    for node in walk_nodes(tree):
        if isinstance(node, Cast) and _crosses(_type_of(node.operand, columns), node.type):
            return True
        if isinstance(node, Call) and node.name in _ALWAYS:
            return True
        reads = node.arguments if isinstance(node, Call) and node.name in OF_CALENDAR else ()
        if any(_type_of(argument, columns) == TIMESTAMP for argument in reads):
            return True
    return False


def _crosses(old: DataType | None, new: DataType) -> bool:
    """Whether a conversion is between an instant and what names it in a time zone."""
    return old is not None and TIMESTAMP in (old, new) and (_is_named(old) or _is_named(new))


def _is_named(type_: DataType) -> bool:
    return isinstance(type_, String | Char | Varchar) or type_ in (DATE, TIMESTAMP_NTZ)


def _type_of(nodes: Nodes, columns: Struct) -> DataType | None:
    """Return the type of a column or a cast; None of another expression."""
    nodes = without_brackets(nodes)
    if len(nodes) == 1 and isinstance(cast := nodes[0], Cast):
        return cast.type
    names: list[str] = []
    for index, node in enumerate(nodes):
        if not isinstance(node, Leaf) or (node.token.text == ".") != (index % 2 == 1):
            return None
        if index % 2 == 0:
            names.append(node.token.name)
    return type_at(columns, tuple(names)) if names else None
