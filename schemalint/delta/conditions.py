"""Find what Spark's analyzer refuses in a CHECK constraint, as far as literals and columns tell.

Measured on Delta 4.4.0 with Spark 4.2.0 (``tests/engine/constraints.csv``). Of functions only the types of
their values are known; nothing is said of what stands inside of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Final

from schemalint.base.values import frozen
from schemalint.delta.column_users import Names, names_of, walkable
from schemalint.delta.datatype import BOOLEAN, DOUBLE, LONG, DataType, Struct
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
from schemalint.delta.operands import OperandFault, fault_of_one, fault_of_pair, kind_of
from schemalint.delta.type_text import print_type

if TYPE_CHECKING:
    from sqlglot import exp

_A_PAIR: Final = 2
_BOOLEAN_TEXTS: Final = frozenset({"true", "t", "yes", "y", "1", "false", "f", "no", "n", "0"})

_OF_NULL: Final = COMPARISONS - {"nullsafeeq", "in"} | ARITHMETIC | {"like", "ilike", "rlike", "paren"}
"""What is null as soon as one of its operands is."""
_FIRST_OF_NULL: Final = CASTS | {"in"}
"""What is null as soon as its first operand is."""
_TYPED: Final = BOOLEANS | ARITHMETIC | BITS | {"paren", "dpipe"}
_AS: Final = {"not": BOOLEAN, "neg": DOUBLE}
"""The type to which Spark casts a text after an operator."""
_TAKEN_WORDS: Final = {"numbers": ARITHMETIC, "integers": BITS}
"""What operators take, in words; others take texts."""


_ALIAS: Final = r"(?i)(?<=[\w`)\]])\s+(?:isnull|notnull)\s*$"
"""Words that are operators for other systems, and a name of the value for Spark."""


class ConditionFault(Enum):
    """What is wrong with a condition, apart from the operands of its operators."""

    TEXT = "CAST_INVALID_INPUT"
    """A text is used with another type, to which Spark cannot cast it."""

    NOT_BOOLEAN = "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT"
    """The whole is a number, a text or another value."""

    NO_COLUMN = ""
    """It names no column, so it says nothing of a row."""


@frozen
class ConditionProblem:
    """A fault of a condition.

    Attributes:
        fault: The fault; the value is the error class of the statement that declares the condition.
        what: The fault, as the end of a sentence that begins with the constraint.
        is_optional: Whether rows exist for which Spark does not come to the fault.
        is_after_call: Whether the operands, or what stands before them, call a function. A write to a table
            that has such a constraint fails with ``INTERNAL_ERROR`` if types are the fault (measured on
            Delta 4.4.0).
    """

    fault: ConditionFault | OperandFault
    what: str
    is_optional: bool = False
    is_after_call: bool = False


def condition_problem(text: str, columns: Struct) -> ConditionProblem | None:
    """Return the first fault of a condition; None if none is known, or it cannot be parsed."""
    tree = walkable(re.sub(_ALIAS, "", text))
    if tree is None:
        return None
    types = _ComparedTypes(columns)
    if (problem := next(_in_tree(tree, types, is_optional=False), None)) is not None:
        return problem
    type_ = types.of(tree)
    if type_ is not None and type_ != BOOLEAN:
        return ConditionProblem(
            ConditionFault.NOT_BOOLEAN, f"is no condition, but a value ({print_type(type_)})"
        )
    if not names_of(tree):
        return ConditionProblem(ConditionFault.NO_COLUMN, "names no column, so it is the same for every row")
    return None


_Fault = tuple[ConditionFault | OperandFault, str]


@cache
def refused_nulls(text: str) -> frozenset[Names]:
    """Return columns of which a null alone makes a condition false or null, as far as operators tell."""
    tree = walkable(text)
    if tree is None:
        return frozenset()
    return _refused_nulls(tree)


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
            if is_null:
                return _made_null(inner.this)
            return _made_null(inner)
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
        skipped = is_optional or (node.key == "in" and len(operands) > _A_PAIR)
        yield ConditionProblem(*problem, skipped, _is_after_call(node))
    for number, operand in enumerate(operands):
        skipped = is_optional or (node.key == "or" and number > 0)
        yield from _in_tree(operand, types, is_optional=skipped)


def _is_after_call(node: exp.Expr) -> bool:
    """Whether a node, or one that stands before it, calls a function."""
    parts = [node]
    while (parent := node.parent) is not None:
        for part in _operands(parent):
            if part is node:
                break
            parts.append(part)
        node = parent
    return any(_is_call(inner) for part in parts for inner in part.walk())


def _is_call(node: exp.Expr) -> bool:
    from sqlglot import exp  # noqa: PLC0415 (as in `column_users`)

    is_branch = node.key == "if" and node.parent is not None and node.parent.key == "case"
    return (
        isinstance(node, exp.Func) and node.key not in _TYPED | CASTS | {"case", "intdiv"} and not is_branch
    )


def _among(node: exp.Expr, operands: Sequence[exp.Expr], types: NodeTypes) -> _Fault | None:
    """Return the fault of the operands of a node, alone or with each other."""
    if node.key == "is":
        with_boolean = node.expression.key == "boolean"
        if with_boolean:
            return _of_types("eq", types.of(node.this), BOOLEAN)
        return None
    for type_ in map(types.of, operands):
        if type_ is not None and (fault := fault_of_one(node.key, type_)) is not None:
            return fault, _misused(type_, node.key)
    if node.key in _AS:
        return _cast(operands[0], _AS[node.key])
    if node.key not in COMPARISONS | LOGICAL | ARITHMETIC | BITS:
        return None
    if len(operands) == _A_PAIR and node.key != "in":
        left, right = operands
        differing = _of_types(node.key, types.of(left), types.of(right))
        return differing or _cast(left, _target(right, types)) or _cast(right, _target(left, types))
    # Types of one kind have the same faults, and there are few kinds.
    known = [target for operand in operands if (target := _target(operand, types)) is not None]
    targets = {kind_of(target): target for target in reversed(known)}
    for operand in operands:
        for target in reversed(targets.values()):
            differing = _of_types(node.key, types.of(operand), target)
            if found := differing or _cast(operand, target):
                return found
    return None


def _of_types(operator: str, left: DataType | None, right: DataType | None) -> _Fault | None:
    """Return the fault of values of two types that an operator uses together."""
    if left is None or right is None or (fault := fault_of_pair(operator, left, right)) is None:
        return None
    if operator in LOGICAL:
        return fault, _misused(right if left == BOOLEAN else left, operator)
    if fault is OperandFault.OPERATOR:
        return fault, _misused(right if kind_of(left) == "text" else left, operator)
    return fault, f"uses {print_type(left)} with {print_type(right)}"


def _misused(type_: DataType, operator: str) -> str:
    if operator in LOGICAL:
        return f"uses {print_type(type_)} with boolean"
    taken = next((word for word, operators in _TAKEN_WORDS.items() if operator in operators), "texts")
    return f"uses {print_type(type_)} where Spark takes {taken}"


def _target(node: exp.Expr, types: NodeTypes) -> DataType | None:
    """Return the type to which Spark casts a text beside a value: its own, or the largest of a number."""
    if node.key == "literal" and not node.args["is_string"]:
        if str(node.name).isdecimal():
            return LONG
        return DOUBLE
    return types.of(node)


def _cast(node: exp.Expr, type_: DataType | None) -> _Fault | None:
    """Return the fault of a text that Spark casts to another type."""
    text = _text_of(node)
    if text is None or type_ is None or _is_castable(text, type_):
        return None
    return (
        ConditionFault.TEXT,
        f"uses the text '{text}' with {print_type(type_)}, to which it cannot be cast",
    )


def _is_castable(text: str, type_: DataType) -> bool:
    """Whether Spark casts a text to the type; integers are compared as bigint, fractions as double."""
    match kind_of(type_):
        case "integer":
            return misfit(_literal(text), LONG) is not Misfit.TYPE
        case "fraction":
            return misfit(_literal(text), DOUBLE) is not Misfit.TYPE
        case "boolean":
            return text.strip().lower() in _BOOLEAN_TEXTS
        case "date" | "time":
            return misfit(_literal(text), type_) is not Misfit.TYPE
        case _:
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
        if all(own and kind_of(own) in {"integer", "fraction"} for own in types):
            return types[0]
        return None


def _text_of(node: exp.Expr) -> str | None:
    """Return a literal's text, in brackets or not; None for all else."""
    node = node.unnest()
    if node.key == "literal" and node.args["is_string"]:
        return str(node.name)
    return None


def _operands(node: exp.Expr) -> list[exp.Expr]:
    """Return the nodes directly inside a node, in the order of the text."""
    return list(node.iter_expressions())
