"""Which operands Spark's operators take, and its error for others.

Measured on Spark 4.2.0 in its ANSI mode (``tests/engine/operands.csv``). Operators have sqlglot's names.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from schemalint.delta.datatype import (
    BYTE,
    DOUBLE,
    INTEGER,
    SHORT,
    Array,
    Atomic,
    Char,
    DataType,
    Decimal,
    Map,
    String,
    Struct,
    Varchar,
)
from schemalint.delta.expression_types import ARITHMETIC, BITS, COMPARISONS, LOGICAL


class OperandFault(Enum):
    """Why Spark refuses operands; the value is the error class."""

    TYPES = "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"
    """The operands have two types, of which Spark casts neither to the other."""

    CHOICE = "DATATYPE_MISMATCH.DATA_DIFF_TYPES"
    """The values of a list have two types, of which Spark casts neither to the other."""

    OPERATOR = "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE"
    """The operator takes no values of the type that both operands have, or to which Spark casts them."""

    ARGUMENT = "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"
    """One operand has a type that the operator does not take."""


_KINDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("byte", "short", "integer", "long"), "integer"),
    **dict.fromkeys(("float", "double"), "fraction"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "time"),
    **{name: name for name in ("boolean", "date", "binary")},
}
_NESTED: Final = frozenset({"struct", "array", "map"})
_LIKE: Final = frozenset({"like", "ilike", "rlike", "regexplike"})
_NUMBERS: Final = frozenset({"integer", "fraction"})
_TIMES: Final = frozenset({"date", "time"})
_DAYS: Final = frozenset({BYTE, SHORT, INTEGER})
"""The integers that Spark adds to a date."""

_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    "not": frozenset({"boolean", "text"}),
    "neg": _NUMBERS | {"text", "interval"},
    "bitwisenot": frozenset({"integer"}),
    **dict.fromkeys(_LIKE, _NUMBERS | _TIMES | {"boolean", "text", "binary", "interval"}),
}
"""The kinds of which each operand of an operator may be."""

_COMMON_TAKEN: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(ARITHMETIC, _NUMBERS),
    **dict.fromkeys(BITS, frozenset({"integer"})),
    **dict.fromkeys(LOGICAL, frozenset({"boolean"})),
}
"""The kinds to which Spark must be able to cast both operands of an operator."""


def kind_of(type_: DataType) -> str:
    """Return the kind of a type, of which all types have the same operators; empty if none is known."""
    match type_:
        case Decimal():
            return "fraction"
        case String() | Char() | Varchar():
            return "text"
        case Struct():
            return "struct"
        case Array():
            return "array"
        case Map():
            return "map"
        case Atomic(name=name) if name.startswith("interval"):
            return "interval"
        case Atomic(name=name):
            return _KINDS.get(name, "")
        case _:
            return ""


def fault_of_one(operator: str, type_: DataType) -> OperandFault | None:
    """Return why Spark refuses an operand whatever the others are; None if nothing is known of that."""
    kind = kind_of(type_)
    is_taken = kind in _TAKEN.get(operator, {kind})
    if is_taken or not kind:
        return None
    return OperandFault.ARGUMENT


def fault_of_pair(operator: str, left: DataType, right: DataType) -> OperandFault | None:
    """Return why Spark refuses two operands of an operator; None if nothing is known of that.

    Args:
        operator: One of `ARITHMETIC`, `BITS`, `COMPARISONS` or `LOGICAL`.
        left: The type of the left operand.
        right: That of the right one.
    """
    kinds = kind_of(left), kind_of(right)
    if "" in kinds:
        return None
    if not {"interval", *_TIMES}.isdisjoint(kinds) and operator in _WITH_TIMES:
        return _WITH_TIMES[operator](left, right)
    return _fault_of_common(operator, left, right)


def _fault_of_common(operator: str, left: DataType, right: DataType) -> OperandFault | None:
    if kind_of(left) == kind_of(right) in _NESTED and (left != right or operator in COMPARISONS):
        return None  # the types inside decide
    common = _common_kind(operator, left, right)
    if common is None:
        if operator == "in":
            return OperandFault.CHOICE
        return OperandFault.TYPES
    is_taken = operator in COMPARISONS or common in _COMMON_TAKEN[operator]
    if is_taken:
        return None
    return OperandFault.OPERATOR


def _common_kind(operator: str, left: DataType, right: DataType) -> str | None:
    """Return the kind to which Spark casts both operands, if they have different types; None without one."""
    kinds = kind_of(left), kind_of(right)
    if "text" in kinds:
        (other,) = set(kinds) - {"text"} or {"text"}
        if other in _NESTED | {"interval"}:
            return None
        return other
    if left == right or (operator in BITS and set(kinds) == {"integer"}):
        return kinds[0]
    if operator in LOGICAL | BITS:
        is_cast = any(isinstance(type_, Decimal) for type_ in (left, right)) and DOUBLE in (left, right)
        return "fraction" if is_cast else None
    is_compared = operator in COMPARISONS and (_TIMES.issuperset(kinds) or set(kinds) == {"interval"})
    if is_compared or _NUMBERS.issuperset(kinds):
        return kinds[1]
    return None


def _added(left: DataType, right: DataType) -> OperandFault | None:
    kinds = kind_of(left), kind_of(right)
    if "interval" in kinds:
        if (_TIMES | {"text", "interval"}).issuperset(kinds):
            return None
        return OperandFault.ARGUMENT
    if "date" in kinds:
        if {left, right} & _DAYS:
            return None
        return OperandFault.ARGUMENT
    return _fault_of_common("add", left, right)


def _subtracted(left: DataType, right: DataType) -> OperandFault | None:
    kinds = kind_of(left), kind_of(right)
    if kinds[1] == "interval":
        if kinds[0] in _TIMES | {"text", "interval"}:
            return None
        return OperandFault.ARGUMENT
    if kinds[0] == "interval":
        if kinds[1] in _TIMES:
            return OperandFault.ARGUMENT
        return OperandFault.TYPES
    is_taken = (_TIMES | {"text"}).issuperset(kinds) or (kinds[0] == "date" and right in _DAYS)
    if is_taken:
        return None
    return OperandFault.ARGUMENT


def _multiplied(left: DataType, right: DataType) -> OperandFault | None:
    kinds = {kind_of(left), kind_of(right)}
    if "interval" not in kinds:
        return _fault_of_common("mul", left, right)
    if kinds - {"interval"} <= _NUMBERS | {"text"}:
        return None
    return OperandFault.ARGUMENT


def _divided(left: DataType, right: DataType) -> OperandFault | None:
    if kind_of(left) != "interval":
        return _fault_of_common("div", left, right)
    if kind_of(right) in _NUMBERS | {"text"}:
        return None
    return OperandFault.ARGUMENT


_WITH_TIMES: Final = {"add": _added, "sub": _subtracted, "mul": _multiplied, "div": _divided}
"""The operators that compute with dates, times and intervals."""
