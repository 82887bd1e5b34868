"""Classify type changes: each pair of types belongs to exactly one class, and one rule judges each class."""

from __future__ import annotations

from enum import Enum

from schemalint.delta.datatype import INTEGERS, VOID, DataType, Decimal
from schemalint.delta.widening import TypeStep, exists, is_container, narrows, smallest_decimal, step


class TypeVerdict(Enum):
    """The class of a type change. Delta accepts FREE and WIDENING and refuses all others."""

    FREE = "free"
    """Requires no feature and leaves no record (`TypeStep.FREE`), or the types are equal."""
    WIDENING = "widening"
    """Requires type widening (`TypeStep.WIDENING`)."""
    SHAPE = "shape"
    """A container changes to another kind of type, or a leaf changes to a container."""
    OVER_38 = "over 38"
    """The new decimal does not exist, or only a decimal of more than 38 digits can hold the old values."""
    DIGITS = "digits"
    """The new decimal has fewer whole digits or a smaller scale than the old one."""
    SMALL_DECIMAL = "small decimal"
    """The new decimal has fewer whole digits than Delta requires for the old integer type."""
    NARROWING = "narrowing"
    """The new type cannot hold all old values (`schemalint.delta.widening.narrows`)."""
    UNSUPPORTED = "unsupported"
    """Any other change that Delta refuses."""


def alters_stored_type(old: DataType, new: DataType, *, nested: bool = False) -> bool:
    """Return whether a type change that Delta accepts changes what it stores.

    Delta stores a ``char`` and a ``varchar`` of any length as ``string``: then what depends on the column,
    such as a constraint, does not block the change.
    """
    verdict = classify(old, new, nested=nested)
    return verdict == TypeVerdict.WIDENING or (verdict == TypeVerdict.FREE and old == VOID)


def classify(old: DataType, new: DataType, *, nested: bool = False) -> TypeVerdict:
    """Return the class of a type change.

    Args:
        old: The type before the change.
        new: The type after the change. Do not pass two containers of the same kind; compare their parts.
        nested: Whether the type is nested in a column.
    """
    if not exists(new):
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
    least = smallest_decimal(old, new)
    if least is not None and not exists(least):
        return TypeVerdict.OVER_38
    if isinstance(old, Decimal) and isinstance(new, Decimal):
        return TypeVerdict.DIGITS
    if old in INTEGERS and isinstance(new, Decimal):
        return TypeVerdict.SMALL_DECIMAL
    if narrows(old, new):
        return TypeVerdict.NARROWING
    return TypeVerdict.UNSUPPORTED
