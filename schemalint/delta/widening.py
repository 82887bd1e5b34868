"""The type changes that Delta makes in place, the errors of those that it refuses, and the types it stores.

All functions compare leaf types; `schemalint.delta.diff` compares containers part by part. Sources: Delta
PROTOCOL.md, "Type Widening"; ``TypeWidening.isTypeChangeSupported`` of Delta Spark; all pairs of types
measured on Delta 4.4.0 with Spark 4.2.0 (``tests/engine``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    Atomic,
    Char,
    DataType,
    Decimal,
    Map,
    String,
    Struct,
    Varchar,
)

MAX_PRECISION: Final = 38
"""The largest precision of a decimal, in digits (PROTOCOL.md, "Primitive Types")."""

_WIDER: Final[dict[DataType, frozenset[DataType]]] = {
    BYTE: frozenset({SHORT, INTEGER, LONG, DOUBLE}),
    SHORT: frozenset({INTEGER, LONG, DOUBLE}),
    INTEGER: frozenset({LONG, DOUBLE}),
    FLOAT: frozenset({DOUBLE}),
    DATE: frozenset({TIMESTAMP_NTZ}),
}

# Whole digits that a decimal needs for widening from an integer. Parquet's storage type (INT32, INT64)
# determines them, not the largest value.
_DIGITS: Final[dict[DataType, int]] = {BYTE: 10, SHORT: 10, INTEGER: 10, LONG: 20}

# Spark's up-casts (Cast.canUpCast), apart from decimals. Spark's analyzer passes only up-casts on to Delta.
_ORDER: Final[dict[DataType, int]] = {BYTE: 1, SHORT: 2, INTEGER: 3, LONG: 4, FLOAT: 5, DOUBLE: 6}
_UPCASTS: Final = frozenset(
    (old, new) for old in (DATE, TIMESTAMP, TIMESTAMP_NTZ) for new in (TIMESTAMP, TIMESTAMP_NTZ)
) | {(LONG, TIMESTAMP), (TIMESTAMP, LONG)}
DECIMALS_OF_INTEGERS: Final[Mapping[DataType, Decimal]] = {
    BYTE: Decimal(3),
    SHORT: Decimal(5),
    INTEGER: Decimal(10),
    LONG: Decimal(20),
}
"""The decimal as which Spark computes with an integer (``DecimalType.forType``)."""
_INTERVAL: Final = "interval"  # how the names of all interval types begin

# The beginning of a type's name, and Delta 4.4.0's error for it (measured; CREATE and ADD agree).
_NOT_STORED: Final = (
    ("time(", "UNSUPPORTED_TIME_TYPE"),
    (f"{_INTERVAL} ", "DELTA_UNSUPPORTED_DATA_TYPES"),
    (_INTERVAL, "_LEGACY_ERROR_TEMP_1183"),
    ("geometry", "DELTA_GEOSPATIAL_NOT_SUPPORTED"),
    ("geography", "DELTA_GEOSPATIAL_NOT_SUPPORTED"),
)
_DELTA_REFUSES: Final = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"
_SPARK_REFUSES: Final = "NOT_SUPPORTED_CHANGE_COLUMN"


class TypeStep(Enum):
    """How Delta changes one leaf type to another in place."""

    SAME = "same"
    WIDENING = "widening"
    """Requires ``delta.enableTypeWidening``; Delta records the change in ``delta.typeChanges``."""
    FREE = "free"
    """Requires no feature and leaves no record: void to any type, and char or varchar to longer text."""
    REFUSED = "refused"


def step(old: DataType, new: DataType, *, nested: bool = False) -> TypeStep:
    """Return how Delta changes one leaf type to another in place.

    Args:
        old: The type before the change.
        new: The type after the change.
        nested: Whether the type is nested in a column. Delta changes char and varchar only as the type of a
            top-level column.
    """
    if old == new:
        return TypeStep.SAME
    if old == VOID:
        if is_container(new) or storage_error(new):
            return TypeStep.REFUSED
        return TypeStep.FREE
    if _is_wider_text(old, new) and not nested:
        return TypeStep.FREE
    if new in _WIDER.get(old, frozenset()) or _is_wider_decimal(old, new):
        return TypeStep.WIDENING
    return TypeStep.REFUSED


def smallest_decimal(old: DataType, new: DataType) -> Decimal | None:
    """Return the smallest decimal that ``old`` can widen to with at least the precision of ``new``.

    The result has the scale of ``new``, or that of ``old`` if it is larger. None if ``new`` is not a decimal,
    or ``old`` is neither a decimal nor an integer. If the precision of the result exceeds `MAX_PRECISION`, no
    such type exists.
    """
    if not isinstance(new, Decimal):
        return None
    if isinstance(old, Decimal):
        scale = max(old.scale, new.scale)
        return Decimal(max(new.precision, old.precision - old.scale + scale), scale)
    if old in _DIGITS:
        return Decimal(max(new.precision, _DIGITS[old] + new.scale), new.scale)
    return None


def nearest_widening(old: DataType, new: DataType, *, nested: bool = False) -> DataType | None:
    """Return the least type that Delta changes ``old`` to in place and that holds the values of ``new``.

    If no such type holds them, the least one of the same family: ``decimal(20,0)`` for ``bigint`` to
    ``double``. None if the families differ, if ``old`` holds the values itself, or if Delta changes it to no
    other type. Arguments as for `step`.
    """
    if _family(old) != _family(new) or _family(old) is None or _holds(old, new):
        return None
    in_place = (TypeStep.WIDENING, TypeStep.FREE)
    legal = [type_ for type_ in _wider_types(old, new) if step(old, type_, nested=nested) in in_place]
    return next(iter([*(type_ for type_ in legal if _holds(type_, new)), *legal]), None)


def narrows(old: DataType, new: DataType) -> bool:
    """Whether the new type belongs to the same family as the old one and cannot hold all its values."""
    if old in _ORDER and new in _ORDER:
        return _ORDER[new] < _ORDER[old]
    if (old, new) in ((TIMESTAMP, DATE), (TIMESTAMP_NTZ, DATE)):
        return True
    return step(new, old) in (TypeStep.WIDENING, TypeStep.FREE) and new != VOID


def storage_error(type_: DataType) -> str | None:
    """Return the error class of a new column of a leaf type; None if Delta stores the type."""
    if isinstance(type_, String):
        if type_ == String():
            return None
        return "DELTA_UNSUPPORTED_DATA_TYPES"
    if not isinstance(type_, Atomic):
        return None
    return next((error for prefix, error in _NOT_STORED if type_.name.startswith(prefix)), None)


def refusal(old: DataType, new: DataType, *, nested: bool = False) -> str | None:
    """Return the error class of ALTER COLUMN … TYPE with type widening enabled; None if it succeeds.

    Spark's analyzer refuses some new types, and then a change that is not an up-cast; Delta refuses an
    up-cast that is not a widening (measured on Delta 4.4.0). None does not imply a change: for a nested
    varchar to string, the statement succeeds and changes nothing. Arguments as for `step`.
    """
    if step(old, new, nested=nested) != TypeStep.REFUSED or _is_ignored(old, new):
        return None
    match new:
        case Struct():
            return "CANNOT_UPDATE_FIELD.STRUCT_TYPE"
        case Array():
            return "CANNOT_UPDATE_FIELD.ARRAY_TYPE"
        case Map():
            return "CANNOT_UPDATE_FIELD.MAP_TYPE"
        case Atomic(name=name) if name.startswith(_INTERVAL):
            return "CANNOT_UPDATE_FIELD.INTERVAL_TYPE"
    if old == VOID:  # Delta has another error for a new column of type TIME
        error = storage_error(new)
        if error == "UNSUPPORTED_TIME_TYPE":
            return "DELTA_UNSUPPORTED_DATA_TYPES"
        return error
    if is_upcast(old, new):
        return _DELTA_REFUSES
    return _SPARK_REFUSES


def _wider_types(old: DataType, new: DataType) -> Iterator[DataType]:
    """Yield wider types, the least one first; the decimal and the text are those that hold both types."""
    yield from sorted(_WIDER.get(old, ()), key=lambda type_: _ORDER.get(type_, 0))
    digits = Decimal(_DIGITS[old]) if old in _DIGITS else old
    if isinstance(digits, Decimal):
        other = DECIMALS_OF_INTEGERS.get(new, new)
        if not isinstance(other, Decimal):
            other = digits
        scale = max(digits.scale, other.scale)
        yield Decimal(max(digits.precision - digits.scale, other.precision - other.scale) + scale, scale)
    if isinstance(old, Char | Varchar) and isinstance(new, Char | Varchar):
        yield Varchar(max(old.length, new.length))


def _holds(type_: DataType, other: DataType) -> bool:
    """Whether a type holds all values of another one of its family."""
    if isinstance(type_, Char | Varchar) and isinstance(other, Char | Varchar):
        return type_.length >= other.length
    is_wider = step(other, type_) in (TypeStep.SAME, TypeStep.WIDENING, TypeStep.FREE)
    return is_wider or _digits_fit(other, type_)


def _family(type_: DataType) -> str | None:
    if type_ in _ORDER or isinstance(type_, Decimal):
        return "number"
    if type_ in (DATE, TIMESTAMP, TIMESTAMP_NTZ):
        return "time"
    if isinstance(type_, Char | Varchar | String):
        return "text"
    return None


def _is_ignored(old: DataType, new: DataType) -> bool:
    """Whether ALTER succeeds for a nested field and changes nothing (measured on Delta 4.4.0)."""
    return isinstance(old, Char | Varchar) and new == String()


def exists(type_: DataType) -> bool:
    """Whether a decimal has at most 38 digits and a scale of at most its precision; true for other types."""
    return not isinstance(type_, Decimal) or type_.scale <= type_.precision <= MAX_PRECISION


def is_container(type_: DataType) -> bool:
    """Whether the type is an array, a map or a struct."""
    return isinstance(type_, Array | Map | Struct)


def _is_wider_decimal(old: DataType, new: DataType) -> bool:
    if not isinstance(new, Decimal) or not exists(new):
        return False
    if isinstance(old, Decimal):
        return _covers(new, old)
    return new.precision - new.scale >= _DIGITS.get(old, MAX_PRECISION + 1)


def _is_wider_text(old: DataType, new: DataType) -> bool:
    if not isinstance(old, Char | Varchar):
        return False
    if isinstance(new, Varchar):
        return new.length >= old.length
    return new == String()


def is_upcast(old: DataType, new: DataType) -> bool:
    """Whether Spark casts all values of a leaf type to another one (``Cast.canUpCast``)."""
    if isinstance(new, String):
        return not is_container(old) and old != VARIANT
    if (old, new) in _UPCASTS or (old in _ORDER and new in _ORDER and _ORDER[old] <= _ORDER[new]):
        return True
    return _digits_fit(old, new)


def _digits_fit(old: DataType, new: DataType) -> bool:
    """Whether the digits of the new decimal or integer suffice for all values of the old one."""
    if isinstance(new, Decimal):
        narrow = DECIMALS_OF_INTEGERS.get(old, old)
        return isinstance(narrow, Decimal) and _covers(new, narrow)
    # The decimal needs fewer digits than the integer: with equally many, some values overflow
    # (DecimalType.scala).
    wide = DECIMALS_OF_INTEGERS.get(new)
    return wide is not None and isinstance(old, Decimal) and not old.scale and old.precision < wide.precision


def _covers(wide: Decimal, narrow: Decimal) -> bool:
    return wide.precision - wide.scale >= narrow.precision - narrow.scale and wide.scale >= narrow.scale
