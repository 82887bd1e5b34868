"""Find what Spark's analyzer refuses in a CHECK constraint, as far as literals and columns tell.

Measured on Delta 4.4.0 with Spark 4.2.0 (``tests/engine/constraints.csv``). Of functions only the types of
their values are known; nothing is said of what stands inside of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final

from schemalint.base.values import frozen
from schemalint.delta.column_users import Names, names_of, walkable
from schemalint.delta.datatype import (
    BOOLEAN,
    DOUBLE,
    LONG,
    Array,
    Atomic,
    DataType,
    Decimal,
    Map,
    Struct,
)
from schemalint.delta.default_values import Misfit, misfit
from schemalint.delta.expression_types import (
    ARITHMETIC,
    BITS,
    BOOLEANS,
    CASTS,
    COMPARISONS,
    LOGICAL,
    NodeTypes,
)
from schemalint.delta.expressions import functions_called
from schemalint.delta.type_text import print_type

if TYPE_CHECKING:
    from sqlglot import exp

_INTEGERS: Final = frozenset({"byte", "short", "integer", "long"})
_FLOATS: Final = frozenset({"float", "double"})
_TIMES: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_A_PAIR: Final = 2
_OPERATOR_WORDS: Final = frozenset(
    {"and", "between", "case", "cast", "div", "ilike", "in", "like", "not", "or", "rlike", "try_cast", "when"}
)
_BOOLEAN_TEXTS: Final = frozenset({"true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"})

_OF_NULL: Final = COMPARISONS - {"nullsafeeq", "in"} | ARITHMETIC | {"like", "ilike", "rlike", "paren"}
"""What is null as soon as one of its operands is."""
_FIRST_OF_NULL: Final = CASTS | {"in"}
"""What is null as soon as its first operand is."""
_TYPED: Final = BOOLEANS | ARITHMETIC | BITS | {"paren", "dpipe"}


class ConditionFault(Enum):
    """What is wrong with a condition; the value is the error class of the statement that declares it."""

    TEXT = "CAST_INVALID_INPUT"
    """A text is compared with another type, to which Spark cannot cast it."""

    TYPES = "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"
    """Values of two types are used together, of which Spark casts neither to the other."""

    NEGATED = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
    """NOT stands before a value that is no boolean."""

    NOT_BOOLEAN = "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT"
    """The whole is a number, a text or another value."""

    NO_COLUMN = ""
    """It names no column, so it says nothing of a row."""


@frozen
class ConditionProblem:
    """A fault of a condition.

    Attributes:
        what: The fault, as the end of a sentence that begins with the constraint.
        is_optional: Whether rows exist for which Spark does not come to the fault.
    """

    fault: ConditionFault
    what: str
    is_optional: bool = False


def condition_problem(text: str, columns: Struct) -> ConditionProblem | None:
    """Return the first fault of a condition; None if none is known, or it cannot be parsed."""
    tree = walkable(text)
    if tree is None:
        return None
    types = _ComparedTypes(columns)
    if (problem := next(_in_tree(tree, types, is_optional=False), None)) is not None:
        return problem
    type_ = _type_of(tree, types)
    if type_ is not None and type_ != BOOLEAN:
        return ConditionProblem(
            ConditionFault.NOT_BOOLEAN, f"is no condition, but a value ({print_type(type_)})"
        )
    if not names_of(tree):
        return ConditionProblem(ConditionFault.NO_COLUMN, "names no column, so it is the same for every row")
    return None


def has_call(text: str) -> bool:
    """Whether an expression calls a function, apart from casts and operators with a bracket: ``a IN (1)``.

    A write to a table that has a constraint with two types and a call fails with ``INTERNAL_ERROR`` (measured
    on Delta 4.4.0).
    """
    return not _OPERATOR_WORDS.issuperset(functions_called(text))


@cache
def refused_nulls(text: str) -> frozenset[Names]:
    """Return columns of which a null alone makes a condition false or null, as far as operators tell."""
    tree = walkable(text)
    return frozenset() if tree is None else _refused_nulls(tree)


def _refused_nulls(node: exp.Expr) -> frozenset[Names]:
    match node.key:
        case "paren":
            return _refused_nulls(node.this)
        case "and":
            return _refused_nulls(node.this) | _refused_nulls(node.expression)
        case "or":
            return _refused_nulls(node.this) & _refused_nulls(node.expression)
        case "not":
            inner = node.this.unnest()
            is_null = inner.key == "is" and inner.expression.key == "null"
            return _made_null(inner.this) if is_null else _made_null(inner)
        case _:
            return _made_null(node)


def _made_null(node: exp.Expr) -> frozenset[Names]:
    """Return the columns of which a null makes a value null."""
    if node.key == "column":
        return names_of(node)
    if node.key in _FIRST_OF_NULL:
        return _made_null(node.this)
    if node.key in _OF_NULL:
        return frozenset().union(*map(_made_null, _operands(node)))
    return frozenset()


def _in_tree(node: exp.Expr, types: NodeTypes, *, is_optional: bool) -> Iterator[ConditionProblem]:
    """Yield the faults of a node, and of those inside it that Spark computes."""
    if node.key not in _TYPED:
        return
    operands = _operands(node)
    problem = _among(node, operands, types)
    if problem is not None:
        yield ConditionProblem(*problem, is_optional or (node.key == "in" and len(operands) > _A_PAIR))
    for number, operand in enumerate(operands):
        skipped = is_optional or (node.key == "or" and number > 0)
        yield from _in_tree(operand, types, is_optional=skipped)


def _among(
    node: exp.Expr, operands: Sequence[exp.Expr], types: NodeTypes
) -> tuple[ConditionFault, str] | None:
    """Return the fault of the operands of a node with each other."""
    if node.key in LOGICAL:
        fault = next(filter(None, (_fit(operand, BOOLEAN, types) for operand in operands)), None)
        is_negated = node.key == "not" and fault is not None and fault[0] is ConditionFault.TYPES
        return (ConditionFault.NEGATED, fault[1]) if is_negated and fault else fault
    if node.key in COMPARISONS | ARITHMETIC:
        operand_types = dict.fromkeys(_type_of(operand, types) for operand in operands)
        for operand in operands:
            for type_ in operand_types:
                if type_ is not None and (fault := _fit(operand, type_, types)) is not None:
                    return fault
        if node.key == "neg":
            return next(filter(None, (_fit(operand, DOUBLE, types) for operand in operands)), None)
    return None


def _fit(node: exp.Expr, type_: DataType, types: NodeTypes) -> tuple[ConditionFault, str] | None:
    """Return the fault of a value that is used with one of the type."""
    own, text = _type_of(node, types), _text_of(node)
    if own is None:
        return None
    if text is not None:
        if isinstance(type_, Array | Map | Struct):
            return ConditionFault.TYPES, f"uses the text '{text}' with {print_type(type_)}"
        if _is_castable(text, type_):
            return None
        return (
            ConditionFault.TEXT,
            f"uses the text '{text}' with {print_type(type_)}, to which it cannot be cast",
        )
    groups = _group(own), _group(type_)
    if "" in groups or groups[0] == groups[1]:
        return None
    return ConditionFault.TYPES, f"uses {print_type(own)} with {print_type(type_)}"


def _is_castable(text: str, type_: DataType) -> bool:
    """Whether Spark casts a text to the type; integers are compared as bigint, fractions as double."""
    if _group(type_) == "number":
        is_integer = isinstance(type_, Atomic) and type_.name in _INTEGERS
        return misfit(_literal(text), LONG if is_integer else DOUBLE) is not Misfit.TYPE
    if type_ == BOOLEAN:
        return text.strip().lower() in _BOOLEAN_TEXTS
    if _group(type_) == "time":
        return misfit(_literal(text), type_) is not Misfit.TYPE
    return True


def _literal(text: str) -> str:
    return "'" + re.sub(r"(['\\])", r"\\\1", text) + "'"


class _ComparedTypes(NodeTypes):
    """The types of nodes; of a sum of decimals that of an operand, since all numbers compare alike."""

    def find(self, node: exp.Expr) -> DataType | None:
        """Return the type of a node."""
        type_ = super().find(node)
        if type_ is not None or node.key not in ARITHMETIC:
            return type_
        types = [self.of(operand) for operand in _operands(node)]
        return types[0] if all(own is not None and _group(own) == "number" for own in types) else None


def _type_of(node: exp.Expr, types: NodeTypes) -> DataType | None:
    """Return the type of a value; of a number in the text that to which Spark casts a text beside it."""
    if node.key == "literal" and not node.args["is_string"]:
        return LONG if str(node.name).isdecimal() else DOUBLE
    return types.of(node)


def _text_of(node: exp.Expr) -> str | None:
    """Return a literal's text, in brackets or not; None for all else."""
    node = node.unnest()
    return str(node.name) if node.key == "literal" and node.args["is_string"] else None


_GROUPS: Final[Mapping[str, str]] = {
    **dict.fromkeys(_INTEGERS | _FLOATS, "number"),
    **dict.fromkeys(_TIMES, "time"),
    "boolean": "boolean",
}


def _group(type_: DataType) -> str:
    """Return the kind of types that Spark casts to each other; empty for texts, and for what is not known."""
    if isinstance(type_, Decimal):
        return "number"
    return _GROUPS.get(type_.name, "") if isinstance(type_, Atomic) else ""


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the nodes directly inside a node, in the order of the text."""
    return list(node.iter_expressions())
