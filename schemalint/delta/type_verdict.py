"""How a change of type is judged: each pair of types falls into exactly one class."""

from __future__ import annotations

from enum import Enum
from typing import Final

from schemalint.delta.datatype import BYTE, INTEGER, LONG, SHORT, DataType, Decimal
from schemalint.delta.widening import MAX_PRECISION, TypeStep, is_container, least_decimal, narrows, step

_INTEGERS: Final = (BYTE, SHORT, INTEGER, LONG)


class TypeVerdict(Enum):
    """What a change of type at one place is; the later ones are refused."""

    FREE = "free"
    """Needs no feature and is not recorded, as `TypeStep.FREE`; or there is no change."""
    WIDENING = "widening"
    SHAPE = "shape"
    """A container becomes another kind of type, or a leaf becomes a container."""
    OVER_38 = "over 38"
    """The wanted decimal does not exist, or none that does would hold the old values."""
    DIGITS = "digits"
    """A decimal has fewer whole digits, or a smaller scale, than the one before."""
    SMALL_DECIMAL = "small decimal"
    """An integer becomes a decimal with fewer whole digits than Delta asks for."""
    NARROWING = "narrowing"
    UNSUPPORTED = "unsupported"


def classify(old: DataType, new: DataType, *, nested: bool = False) -> TypeVerdict:
    """The one class that a change of type falls into.

    Args:
        old: The type before.
        new: The type wanted; two containers of one kind are compared part by part elsewhere.
        nested: Whether it is not the type of a column of its own.

    A void column may become a container, although by REPLACE COLUMNS only: ALTER COLUMN refuses every
    container as the new type (measured on Delta 4.4.0).
    """
    if not _exists(new):
        return TypeVerdict.OVER_38
    match step(old, new, nested=nested):
        case TypeStep.SAME | TypeStep.FREE:
            return TypeVerdict.FREE
        case TypeStep.WIDENING:
            return TypeVerdict.WIDENING
        case _:
            return _refused(old, new)


def _refused(old: DataType, new: DataType) -> TypeVerdict:
    if is_container(old) or is_container(new):
        return TypeVerdict.SHAPE
    least = least_decimal(old, new)
    if least is not None and not _exists(least):
        return TypeVerdict.OVER_38
    if isinstance(old, Decimal) and isinstance(new, Decimal):
        return TypeVerdict.DIGITS
    if old in _INTEGERS and isinstance(new, Decimal):
        return TypeVerdict.SMALL_DECIMAL
    return TypeVerdict.NARROWING if narrows(old, new) else TypeVerdict.UNSUPPORTED


def _exists(type_: DataType) -> bool:
    """A decimal has up to 38 digits, and its scale is among them."""
    return not isinstance(type_, Decimal) or type_.scale <= type_.precision <= MAX_PRECISION
