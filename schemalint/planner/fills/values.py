"""The one value of a fill, as SQL: the UPDATE, its condition, the counts and the proof of a drop use it.

A row *converts* if the value is not NULL and no cast failed, but for casts whose failure the expression asks
for itself. Measured on Delta 4.4.0: UPDATE pairs the fields of structs by name, and a cast by place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from schemalint.base.values import frozen, replace
from schemalint.delta.datatype import (
    STRING,
    TIMESTAMP,
    Array,
    Char,
    DataType,
    Map,
    Struct,
    Varchar,
    field_at,
    type_at,
)
from schemalint.delta.fill_tree import (
    Call,
    Case,
    Cast,
    Leaf,
    Node,
    Nodes,
    NullTest,
    case_text,
    fill_tree,
    parts_of,
    without_brackets,
)
from schemalint.delta.path import Path
from schemalint.delta.sql_text import quote_literal, unquote_literal
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import is_container
from schemalint.model.table_plan import Fill
from schemalint.planner.fills.conversions import (
    converted,
    difference,
    inexact_after,
    is_lost,
    is_text,
    lost,
    spelled,
    stored,
    tried,
    unsized,
    with_a_day,
)
from schemalint.planner.statements import path_text

ASK_FOR_NULLS: Final = frozenset({"coalesce", "ifnull", "nvl", "nvl2", "isnull", "isnotnull"})
"""The functions that say what to do where a cast in them fails."""

_TRIMS: Final = frozenset({"trim", "btrim", "ltrim", "rtrim"})
_TEXT_FUNCTIONS: Final = _TRIMS | {
    "concat", "concat_ws", "date_format", "from_unixtime", "get_json_object", "hex", "initcap", "lcase",
    "left", "lower", "overlay", "regexp_replace", "replace", "reverse", "right", "substr", "substring",
    "substring_index", "translate", "ucase", "upper",
}  # fmt: skip


@frozen
class FillValue:
    """The texts of a fill in SQL; all but `value`, `column` and `difference` are conditions.

    Attributes:
        value: The value, null where a cast in it fails.
        failed: True where a cast fails that the expression does not ask for; ``false`` where none can.
        converts: True where the value is one, and nothing failed.
        counts: True where a source has a value.
        equal: True where the column has the value, if nothing failed.
        column: The column.
        inexact: True where the value is another one than that of the source; None if that is not known.
        difference: How far a number is from that of the source, as a decimal; None if the two are no
            numbers.
        spelled: True where the source has leading zeros or blanks, which the new type does not keep; None if
            the source is no text.
    """

    value: str
    failed: str
    converts: str
    counts: str
    equal: str
    column: str
    inexact: str | None = None
    difference: str | None = None
    spelled: str | None = None


def fill_value(fill: Fill, *, has_column: bool = True) -> FillValue:
    """Return the texts of a fill; its expression is one that `delta.fill_expressions` allows.

    Args:
        fill: The fill.
        has_column: Whether the table has the column; one that is to be added is null.
    """
    tree = without_brackets(fill_tree(fill.expression))
    expressions = _Expressions(fill.columns)
    value, failures = expressions.converted(tree, fill.type)
    failed = " OR ".join(failures) or "false"
    converts = f"{value} IS NOT NULL"
    if failures and not expressions.is_chain(tree):
        converts = f"{converts} AND NOT ({failed})"
    new = path_text(fill.column) if has_column else f"CAST(NULL AS {print_type(unsized(fill.type))})"
    texts = FillValue(
        value,
        failed,
        converts,
        " OR ".join(f"{path_text(source)} IS NOT NULL" for source in fill.sources),
        f"{stored(new, fill.type)} <=> {stored(value, fill.type)}",
        new,
    )
    chain = expressions.chain(tree)
    if chain is None:
        return texts
    origin, types = chain
    return replace(
        texts,
        inexact=inexact_after(origin.text, origin.type, (*types, fill.type)),
        difference=difference(origin.text, origin.type, value, fill.type),
        spelled=spelled(origin.text, origin.type, fill.type),
    )


@frozen
class _Typed:
    """A text in SQL, and the type of its value."""

    text: str
    type: DataType


@frozen
class _Expressions:
    """Makes the texts of the expressions over some columns."""

    columns: Struct

    def converted(self, nodes: Nodes, type_: DataType) -> tuple[str, list[str]]:
        """Return an expression in the type of the column, and the conditions under which it failed."""
        nodes = without_brackets(nodes)
        failures = list(self.failures(nodes))
        if self.type_of(nodes) == type_ and not isinstance(type_, Char | Varchar):
            return self.value(nodes).strip(), failures
        if not is_container(type_):
            value = self._cast(nodes, type_)
            return value, [*failures, is_lost(self.value(nodes).strip(), value)]
        if (column := self._reference(nodes)) is not None:
            return self._cast(nodes, type_), list(lost(column.text, column.type, type_))
        pushed = self._pushed(nodes, type_)
        if pushed is not None:
            value, inner = pushed
            return f"if({' OR '.join(inner)}, NULL, {value})" if inner else value, inner
        return f"CAST(({self.value(nodes).strip()}) AS {print_type(unsized(type_))})", failures

    def _pushed(self, nodes: Nodes, type_: DataType) -> tuple[str, list[str]] | None:
        """Convert what a constructor makes by its arguments; None if it is another expression."""
        call = nodes[0] if len(nodes) == 1 else None
        if not isinstance(call, Call):
            return None
        if call.name == "array" and isinstance(type_, Array):
            elements = [self.converted(argument, type_.element) for argument in call.arguments]
            failures = [failure for _text, inner in elements for failure in inner]
            return f"array({', '.join(text for text, _inner in elements)})", failures
        if call.name != "named_struct" or not isinstance(type_, Struct):
            return None
        names, arguments = call.arguments[::2], call.arguments[1::2]
        by_name = {
            unquote_literal(name[0].token.text).lower(): argument
            for name, argument in zip(names, arguments, strict=False)
            if len(name) == 1 and isinstance(name[0], Leaf) and name[0].token.kind == "string"
        }
        if by_name.keys() != {inner.name.lower() for inner in type_.fields} or len(names) != len(by_name):
            return None
        parts, failures = list[str](), list[str]()
        for field in type_.fields:
            text, inner = self.converted(by_name[field.name.lower()], field.type)
            parts.append(f"{quote_literal(field.name)}, {text}")
            failures += inner
        return f"named_struct({', '.join(parts)})", failures

    def value(self, nodes: Nodes) -> str:
        """Return the text of an expression whose casts are null where they fail."""
        return "".join(map(self._value, nodes))

    def _value(self, node: Node) -> str:
        match node:
            case Leaf(text=text):
                return text
            case Call():
                return f"{node.opening}{','.join(map(self.value, node.arguments))}{node.closing}"
            case NullTest():
                return f"{self.value(node.operand)}{node.test}"
            case Case():
                return case_text(node, self.value)
            case Cast():
                return self._cast(node.operand, node.type) + node.after

    def _cast(self, operand: Nodes, type_: DataType) -> str:
        """Return the value of a cast; one to a type with parts has a column under it."""
        text = self.value(operand).strip()
        if is_container(type_):
            column = self._reference(operand)
            if column is None:
                return f"try_cast({text} AS {print_type(unsized(type_))})"
            failed = " OR ".join(lost(column.text, column.type, type_))
            value = converted(column.text, column.type, type_)
            return f"if({failed}, NULL, {value})" if failed else value
        if type_ == TIMESTAMP and self._may_be_text(operand):
            text = with_a_day(text)
        return tried(text, type_)

    def failures(self, nodes: Nodes) -> Iterator[str]:
        """Yield the conditions under which a cast failed that the expression does not ask for."""
        for node in nodes:
            yield from self._failures(node)

    def _failures(self, node: Node) -> Iterator[str]:
        match node:
            case NullTest():
                return
            case Call(name=name) if name in ASK_FOR_NULLS:
                return
            case Call(name="if", arguments=(condition, chosen, other)):
                yield from self.failures(condition)
                yield from self._chosen(None, ((condition, chosen),), other)
            case Case():
                yield from self.failures(node.operand or ())
                yield from self._chosen(node.operand, node.branches, node.default or ())
            case Cast():
                yield from self.failures(node.operand)
                yield from self._lost(node)
            case _:
                for part in parts_of(node):
                    yield from self.failures(part)

    def _lost(self, cast: Cast) -> Iterator[str]:
        """Yield the condition under which a cast itself failed."""
        if not is_container(cast.type):
            yield is_lost(self.value(cast.operand).strip(), self._cast(cast.operand, cast.type))
        elif (column := self._reference(cast.operand)) is not None:
            yield from lost(column.text, column.type, cast.type)

    def _chosen(
        self, operand: Nodes | None, branches: tuple[tuple[Nodes, Nodes], ...], default: Nodes
    ) -> Iterator[str]:
        """Yield the condition under which a cast failed in what a choice evaluates."""
        parts: list[str] = []
        for when, then in branches:
            if failed := " OR ".join(self.failures(when)):
                parts.append(f"WHEN {failed} THEN true")
            condition = self.value(when).strip()
            if operand is not None:
                condition = f"({self.value(operand).strip()}) = ({condition})"
            parts.append(f"WHEN {condition} THEN {' OR '.join(self.failures(then)) or 'false'}")
        last = " OR ".join(self.failures(default)) or "false"
        if last != "false" or any(not part.endswith("THEN false") for part in parts):
            yield f"CASE {' '.join(parts)} ELSE {last} END"

    def is_chain(self, nodes: Nodes) -> bool:
        """Whether an expression is a column under casts: then it is null wherever one of them fails."""
        inner, _types = _under_casts(nodes)
        return self._reference(inner) is not None

    def chain(self, nodes: Nodes) -> tuple[_Typed, tuple[DataType, ...]] | None:
        """Return the column under casts, maybe trimmed, and their types; None for other expressions."""
        inner, types = _under_casts(nodes)
        call = inner[0] if len(inner) == 1 else None
        if isinstance(call, Call) and call.name in _TRIMS and len(call.arguments) == 1:
            column = self._reference(call.arguments[0])
            return (column, types) if column is not None and is_text(column.type) else None
        column = self._reference(inner)
        return None if column is None else (column, types)

    def type_of(self, nodes: Nodes) -> DataType | None:
        """Return the type of a column or a cast; None of other expressions."""
        nodes = without_brackets(nodes)
        if len(nodes) == 1 and isinstance(node := nodes[0], Cast):
            return STRING if isinstance(node.type, Char | Varchar) else node.type
        column = self._reference(nodes)
        return None if column is None else column.type

    def _may_be_text(self, nodes: Nodes) -> bool:
        nodes = without_brackets(nodes)
        if (type_ := self.type_of(nodes)) is not None:
            return is_text(type_)
        if len(nodes) == 1 and isinstance(call := nodes[0], Call):
            if call.name in _TEXT_FUNCTIONS:
                return True
            if call.name in ASK_FOR_NULLS | {"if", "nullif", "greatest", "least"}:
                return any(map(self._may_be_text, call.arguments))
        if len(nodes) == 1 and isinstance(case := nodes[0], Case):
            return any(self._may_be_text(then) for _when, then in case.branches)
        return any(isinstance(node, Leaf) and node.token.text == "||" for node in nodes)

    def _reference(self, nodes: Nodes) -> _Typed | None:
        """Return a column, a field, an element or a value of a map; None for another expression."""
        nodes = without_brackets(nodes)
        path, position = self._leading_path(nodes)
        type_ = type_at(self.columns, path) if path else None
        for node in nodes[position:]:
            if not isinstance(node, Call) or node.name or node.opening[0] != "[" or type_ is None:
                return None
            match type_:
                case Array(element=inner) | Map(value=inner):
                    type_ = inner
                case _:
                    return None
        return None if type_ is None else _Typed(self.value(nodes).strip(), type_)

    def _leading_path(self, nodes: Nodes) -> tuple[Path, int]:
        """Return the names that an expression begins with, and how many nodes they are."""
        names: list[str] = []
        position = 0
        while position < len(nodes):
            node = nodes[position]
            if not isinstance(node, Leaf) or node.token.kind not in {"word", "name"}:
                return (), 0
            names.append(node.token.name)
            position += 1
            after = nodes[position] if position < len(nodes) else None
            if not isinstance(after, Leaf) or after.token.text != ".":
                break
            position += 1
        path = tuple(names)
        if names and field_at(self.columns, path) is not None:
            return (path, position)
        return ((), 0)


def _under_casts(nodes: Nodes) -> tuple[Nodes, tuple[DataType, ...]]:
    """Return what stands under the casts around an expression, and their types, the innermost first."""
    types: list[DataType] = []
    nodes = without_brackets(nodes)
    while len(nodes) == 1 and isinstance(node := nodes[0], Cast):
        types.append(node.type)
        nodes = without_brackets(node.operand)
    return nodes, tuple(reversed(types))
