"""What Delta can do with a column's type in place: the one place where that is known.

Sources: Delta PROTOCOL.md, "Type Widening"; ``TypeWidening.isTypeChangeSupported`` of Delta Spark; the whole
matrix of types measured on Delta 4.4.0 with Spark 4.2.0 (``tests/engine``).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from schemalint.delta.datatype import (
    BYTE,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGER,
    LONG,
    SHORT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VARIANT,
    VOID,
    Array,
    Char,
    DataType,
    Decimal,
    Map,
    String,
    Struct,
    Varchar,
)

MAX_PRECISION: Final = 38
"""Of a decimal (PROTOCOL.md, "Primitive Types")."""

_WIDER: Final[dict[DataType, frozenset[DataType]]] = {
    BYTE: frozenset({SHORT, INTEGER, LONG, DOUBLE}),
    SHORT: frozenset({INTEGER, LONG, DOUBLE}),
    INTEGER: frozenset({LONG, DOUBLE}),
    FLOAT: frozenset({DOUBLE}),
    DATE: frozenset({TIMESTAMP_NTZ}),
}

# Whole digits that a decimal needs to take an integer: by how Parquet stores the integer (INT32, INT64),
# not by its largest value.
_DIGITS: Final[dict[DataType, int]] = {BYTE: 10, SHORT: 10, INTEGER: 10, LONG: 20}


# Spark's up-casts (Cast.canUpCast) beside decimals: what its analyzer lets through to Delta.
_ORDER: Final[dict[DataType, int]] = {BYTE: 1, SHORT: 2, INTEGER: 3, LONG: 4, FLOAT: 5, DOUBLE: 6}
_UPCASTS: Final = frozenset(
    (old, new) for old in (DATE, TIMESTAMP, TIMESTAMP_NTZ) for new in (TIMESTAMP, TIMESTAMP_NTZ)
) | {(LONG, TIMESTAMP), (TIMESTAMP, LONG)}
_LOSSLESS: Final[dict[DataType, Decimal]] = {
    BYTE: Decimal(3),
    SHORT: Decimal(5),
    INTEGER: Decimal(10),
    LONG: Decimal(20),
}
_DELTA_REFUSES: Final = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"
_SPARK_REFUSES: Final = "NOT_SUPPORTED_CHANGE_COLUMN"


class TypeStep(Enum):
    """How one leaf type becomes another in place."""

    SAME = "same"
    WIDENING = "widening"
    """Needs ``delta.enableTypeWidening`` and is recorded in ``delta.typeChanges``."""
    FREE = "free"
    """Needs no feature and is not recorded: void to anything; char and varchar, by their own mechanism."""
    REFUSED = "refused"


def step(old: DataType, new: DataType, *, nested: bool = False) -> TypeStep:
    """How Delta takes a leaf from one type to the other; containers are compared part by part elsewhere.

    Args:
        old: The type before.
        new: The type wanted.
        nested: Whether the leaf is not a column of its own: char and varchar change only there.
    """
    if old == new:
        return TypeStep.SAME
    if old == VOID or (_is_wider_text(old, new) and not nested):
        return TypeStep.FREE
    if new in _WIDER.get(old, frozenset()) or _is_wider_decimal(old, new):
        return TypeStep.WIDENING
    return TypeStep.REFUSED


def least_decimal(old: DataType, new: DataType) -> Decimal | None:
    """The smallest decimal that Delta takes for ``old`` and that keeps the scale of ``new`` where it can.

    None if the question makes no sense; its precision may pass `MAX_PRECISION`: then there is no such type.
    """
    if not isinstance(new, Decimal):
        return None
    if isinstance(old, Decimal):
        scale = max(old.scale, new.scale)
        return Decimal(max(new.precision, old.precision - old.scale + scale), scale)
    if old in _DIGITS:
        return Decimal(max(new.precision, _DIGITS[old] + new.scale), new.scale)
    return None


def narrows(old: DataType, new: DataType) -> bool:
    """Whether the new type cannot hold all that the old one could, although it is of the same family."""
    if old in _ORDER and new in _ORDER:
        return _ORDER[new] < _ORDER[old]
    if (old, new) in ((TIMESTAMP, DATE), (TIMESTAMP_NTZ, DATE)):
        return True
    return step(new, old) in (TypeStep.WIDENING, TypeStep.FREE) and new != VOID


def refusal(old: DataType, new: DataType, *, nested: bool = False) -> str | None:
    """The error class of an ALTER from one type to the other, even with type widening enabled.

    Spark's analyzer refuses what is not even an up-cast, Delta what is one but no widening (measured on
    Delta 4.4.0). None where the statement succeeds, if only by changing nothing: nested varchar to string.
    """
    if step(old, new, nested=nested) != TypeStep.REFUSED or _is_ignored(old, new):
        return None
    return _DELTA_REFUSES if _is_upcast(old, new) else _SPARK_REFUSES


def _is_ignored(old: DataType, new: DataType) -> bool:
    """Asked of a nested field, the statement succeeds and does nothing (measured on Delta 4.4.0)."""
    return isinstance(old, Char | Varchar) and isinstance(new, String)


def is_container(type_: DataType) -> bool:
    """Whether a type holds others."""
    return isinstance(type_, Array | Map | Struct)


def _is_wider_decimal(old: DataType, new: DataType) -> bool:
    if not isinstance(new, Decimal) or new.precision > MAX_PRECISION or new.scale > new.precision:
        return False
    if isinstance(old, Decimal):
        return _covers(new, old)
    return new.precision - new.scale >= _DIGITS.get(old, MAX_PRECISION + 1)


def _is_wider_text(old: DataType, new: DataType) -> bool:
    if isinstance(old, Char | Varchar):
        match new:
            case Varchar(length=length):
                return length >= old.length
            case String():
                return True
    return False


def _is_upcast(old: DataType, new: DataType) -> bool:
    """``Cast.canUpCast`` of Spark, for leaves."""
    if isinstance(new, String):
        return not is_container(old) and old != VARIANT
    if (old, new) in _UPCASTS or (old in _ORDER and new in _ORDER and _ORDER[old] <= _ORDER[new]):
        return True
    return _digits_fit(old, new)


def _digits_fit(old: DataType, new: DataType) -> bool:
    """Whether a decimal and an integer, or two decimals, hold the same values by their digits alone."""
    if isinstance(new, Decimal):
        narrow = _LOSSLESS.get(old, old)
        return isinstance(narrow, Decimal) and _covers(new, narrow)
    # Fewer digits than the integer has: with as many, some values are too large for it (DecimalType.scala).
    wide = _LOSSLESS.get(new)
    return wide is not None and isinstance(old, Decimal) and not old.scale and old.precision < wide.precision


def _covers(wide: Decimal, narrow: Decimal) -> bool:
    return wide.precision - wide.scale >= narrow.precision - narrow.scale and wide.scale >= narrow.scale
