"""What an expression that fills a column must not do, although each function in it may be called."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schemalint.base.values import frozen
from schemalint.delta.datatype import (
    DATE,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Array,
    Char,
    DataType,
    Map,
    String,
    Struct,
    Varchar,
    parts,
)
from schemalint.delta.fill_tree import (
    Call,
    Cast,
    Leaf,
    Node,
    Nodes,
    parts_of,
    tokens_of,
    walk_nodes,
    without_brackets,
    written,
)
from schemalint.delta.sql_text import unquote_literal

_TIMES: Final = frozenset({DATE, TIMESTAMP, TIMESTAMP_NTZ})
# fmt: off
_MAKE_TEXTS: Final = frozenset({
    "btrim", "concat", "concat_ws", "date_format", "from_unixtime", "get_json_object", "initcap", "lcase",
    "left", "lower", "ltrim", "overlay", "regexp_replace", "replace", "reverse", "right", "rtrim", "substr",
    "substring", "substring_index", "translate", "trim", "ucase", "upper",
})
OF_CALENDAR: Final = frozenset({
    "add_months", "date_add", "date_diff", "date_format", "date_sub", "date_trunc", "datediff", "day",
    "dayofmonth", "extract", "hour", "last_day", "minute", "month", "quarter", "second", "trunc", "year",
})
"""Functions that take an instant apart in the time zone of the session (measured on Spark 4.2.0)."""
_READ_TIMES: Final = OF_CALENDAR | {
    "from_utc_timestamp", "to_utc_timestamp", "unix_date", "unix_micros", "unix_millis", "unix_seconds",
}
_MAKE_TIMES: Final = frozenset({
    "date_from_unix_date", "timestamp_micros", "timestamp_millis", "timestamp_seconds", "try_to_date",
    "try_to_timestamp",
})
# fmt: on
_TYPED_LITERALS: Final = frozenset({"date", "timestamp", "timestamp_ltz", "timestamp_ntz"})
_MOST_GROWTH: Final = 1_000
_TEXTS: Final = frozenset({"string", "raw"})
# The words of an expression that are no columns.
_WORDS: Final = frozenset(
    {"and", "or", "not", "in", "is", "null", "true", "false", "between", "like", "ilike", "rlike", "regexp"}
    | {"distinct", "from", "escape", "interval", "date", "timestamp", "timestamp_ntz", "timestamp_ltz", "x"}
    | {"both", "leading", "trailing", "for", "placing", "div", "all", "any", "some", "collate"}
)


@frozen
class FillFault:
    """Why an expression cannot fill a column.

    Attributes:
        what: The fault, as the end of a sentence that begins with the expression.
        help: What to do.
    """

    what: str
    help: str


def tree_faults(nodes: Nodes, *, is_beside_times: bool) -> Iterator[FillFault]:
    """Yield why an expression must not run over the data of a table.

    Args:
        nodes: The expression.
        is_beside_times: Whether a day or an instant may be in it, or made of it: only there Spark makes one
            of a text.
    """
    for node in walk_nodes(nodes):
        yield from _of_parts(node)
        yield from _of_times(node)
        if is_beside_times:
            yield from _of_texts(node)
    if is_beside_times:
        yield from _joined_literals(nodes)
    yield from _grown(nodes)


def makes_times(nodes: Nodes) -> bool:
    """Whether an expression itself has a day or an instant in it, or takes one."""
    return any(map(_is_of_times, walk_nodes(nodes)))


def _is_of_times(node: Node) -> bool:
    """Whether a node is a day or an instant, or takes one."""
    match node:
        case Cast(type=type_):
            return has_times(type_)
        case Call(name=name):
            return name in _READ_TIMES | _MAKE_TIMES
        case Leaf(token=token):
            return token.text.lower() in _TYPED_LITERALS
        case _:
            return False


def has_times(type_: DataType) -> bool:
    """Whether a type is one of days or instants, or has one inside."""
    inner = [other for _part, other in parts(type_)]
    if isinstance(type_, Struct):
        inner = [field.type for field in type_.fields]
    return type_ in _TIMES or any(map(has_times, inner))


def _of_parts(node: Node) -> Iterator[FillFault]:
    """A cast to a type with parts fails as a whole, so that its operand is asked for each part."""
    if isinstance(node, Cast) and isinstance(node.type, Array | Map | Struct) and not _is_path(node.operand):
        yield FillFault(
            f"casts {_shown(node.operand)}, which is no column, to a type with parts",
            "cast a column or a field, or make the value with array() or named_struct()",
        )


def _of_times(node: Node) -> Iterator[FillFault]:
    """Spark folds a constant, and reads some texts as the time of the run (measured on Spark 4.2.0)."""
    read: list[Nodes] = []
    if isinstance(node, Cast) and node.type in _TIMES:
        read = [node.operand]
    elif isinstance(node, Call) and node.name in _READ_TIMES:
        read = [argument for argument in node.arguments if _has_text(argument)]
    for operand in read:
        if not (_reads_columns(operand) or _is_single_literal(operand)):
            yield FillFault(
                f"makes a time of {_shown(operand)}, which Spark may read as the time of the run",
                "write one literal, or use a column",
            )


def _of_texts(node: Node) -> Iterator[FillFault]:
    is_call = isinstance(node, Call) and node.name in _MAKE_TEXTS and _has_text(*parts_of(node))
    is_cast = (
        isinstance(node, Cast) and _is_text(node.type) and not _is_single_literal(node.operand)
    ) and _has_text(node.operand)
    if (is_call or is_cast) and not _reads_columns(*parts_of(node)):
        yield FillFault(
            f"makes a text of literals, {_shown((node,))}, which Spark may read as the time of the run",
            "write the text itself",
        )


def _joined_literals(nodes: Nodes) -> Iterator[FillFault]:
    """Find a chain of ``||`` that begins with two constants."""
    for level in _levels(nodes):
        for index in range(1, len(level) - 1):
            left, right = (level[index - 1],), (level[index + 1],)
            begins = index == 1 or not _is_join(level[index - 2])
            if not (_is_join(level[index]) and begins and _has_text(left, right)):
                continue
            if not _reads_columns(left, right):
                yield FillFault(
                    f"makes a text of literals, {_shown(level[index - 1 : index + 2])}, which Spark may read "
                    "as the time of the run",
                    "write the text itself",
                )


def _is_join(node: Node) -> bool:
    return isinstance(node, Leaf) and node.token.text == "||"


def _levels(nodes: Nodes) -> Iterator[Nodes]:
    yield nodes
    for node in nodes:
        for part in parts_of(node):
            yield from _levels(part)


def _grown(nodes: Nodes) -> Iterator[FillFault]:
    growth = _growth(nodes)
    if growth is None:
        yield FillFault(
            "replaces parts of a text by what is no literal, so that the text may grow with its square",
            "write the new part as a literal",
        )
    elif growth > _MOST_GROWTH:
        yield FillFault(
            f"makes a text that may be more than {_MOST_GROWTH:,} times as long as its columns",
            "replace less, and by shorter texts",
        )


def _growth(nodes: Nodes) -> int | None:
    """Return how often as long as its columns a value may become; None for any number."""
    total = 0
    for node in nodes:
        parts = [_growth(part) for part in parts_of(node)]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        if isinstance(node, Call) and node.name in {"replace", "regexp_replace"} and known:
            factor = _factor(node)
            if factor is None:
                return None
            total += known[0] * factor + sum(known[1:])
        else:
            total += sum(known) + _is_name(node)
    return min(total, _MOST_GROWTH * _MOST_GROWTH)


def _factor(call: Call) -> int | None:
    """Return how often as long a text may become by a replacement; None if that depends on a row."""
    if len(call.arguments) < 3:  # noqa: PLR2004 (replace(text, search) removes)
        return 1
    new = _literal_text(call.arguments[2])
    if new is None:
        return None
    if call.name == "replace":
        old = _literal_text(call.arguments[1])
        return max(1, -(-len(new) // max(1, len(old or ""))))
    return 1 + len(new) + len(re.findall(r"\$", new))  # a pattern that matches nothing, or all of the text


def _literal_text(nodes: Nodes) -> str | None:
    nodes = without_brackets(nodes)
    if len(nodes) != 1 or not isinstance(leaf := nodes[0], Leaf) or leaf.token.kind not in _TEXTS:
        return None
    return unquote_literal(leaf.token.text)


def _is_text(type_: DataType) -> bool:
    return isinstance(type_, String | Char | Varchar)


def _has_text(*parts: Nodes) -> bool:
    return any(token.kind in _TEXTS for nodes in parts for token in tokens_of(nodes))


def _reads_columns(*parts: Nodes) -> bool:
    return any(_is_name(node) for nodes in parts for node in walk_nodes(nodes))


def _is_name(node: Node) -> bool:
    """Whether a node is a name, which may be that of a column."""
    if not isinstance(node, Leaf):
        return False
    text = node.token.text.lower()
    is_word = node.token.kind == "word" and not text[0].isdecimal() and text not in _WORDS
    return is_word or node.token.kind == "name"


def _is_path(nodes: Nodes) -> bool:
    nodes = without_brackets(nodes)
    names, dots = nodes[::2], nodes[1::2]
    are_dots = all(isinstance(dot, Leaf) and dot.token.text == "." for dot in dots)
    are_names = all(isinstance(name, Leaf) and name.token.kind in {"word", "name"} for name in names)
    return bool(nodes) and len(names) == len(dots) + 1 and are_names and are_dots


def _is_single_literal(nodes: Nodes) -> bool:
    """Whether an expression is a literal: a text, a number with a sign, or one with its type before it."""
    tokens = [node.token for node in without_brackets(nodes) if isinstance(node, Leaf)]
    if len(tokens) != len(without_brackets(nodes)):
        return False
    if tokens and (tokens[0].text in {"-", "+"} or tokens[0].text.lower() in _WORDS - {"x"}):
        tokens = tokens[1:]
    if len(tokens) == 1:
        return tokens[0].kind in _TEXTS or tokens[0].kind == "word"
    return bool(tokens) and "".join(token.text for token in tokens).replace(".", "", 1).isdecimal()


def _shown(nodes: Nodes) -> str:
    return written(nodes).strip()
