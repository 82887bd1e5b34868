"""Whether a default fits its column, as Spark decides (ResolveDefaultColumns.scala).

Measured on Delta 4.4.0 with Spark 4.2.0 for every kind of type, literal and expression
(``tests/engine/defaults.csv``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal, InvalidOperation
from enum import Enum
from typing import Final

from schemalint.delta.calendar_texts import is_calendar_date
from schemalint.delta.casts import kind_of_type
from schemalint.delta.datatype import BOOLEAN, VOID, Atomic, Char, DataType, String, Struct, Varchar
from schemalint.delta.datatype import Decimal as DecimalType
from schemalint.delta.expression_types import expression_type
from schemalint.delta.sql_text import tokens, unquote_literal


class Misfit(Enum):
    """What is wrong with a default."""

    TYPE = "type"
    """Spark does not convert the default to the column's type."""

    LENGTH = "length"
    """The text is longer than the column's type allows."""

    ROUNDED = "rounded"
    """Spark stores another number."""


_INTEGERS: Final = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_FLOATS: Final = frozenset({"float", "double"})
_TIMES: Final = frozenset({"timestamp", "timestamp_ntz"})
_NUMBER: Final = r"([+-]?)\s*(\d+\.?\d*|\.\d+)((?:[eE][+-]?\d+)?)(|[lLsSyYdDfF]|[bB][dD])"
_TEXT_NUMBER: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_TEXT_FLOAT: Final = rf"(?i){_TEXT_NUMBER}[df]?|[+-]?inf(?:inity)?|nan"
_EXACT: Final = Context(prec=200)

_NUMBERS: Final = frozenset({*_INTEGERS, *_FLOATS, "decimal"})
_TO_TEXT: Final = frozenset({"string", "variant"})
_TO_TIMES: Final = _TO_TEXT | _TIMES | {"date"}
_CONVERTED: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(_INTEGERS, _TO_TEXT | _NUMBERS | {"binary", "timestamp"}),
    **dict.fromkeys((*_FLOATS, "decimal"), _TO_TEXT | _NUMBERS | {"timestamp"}),
    "boolean": frozenset({"boolean", "string"}),
    "string": _TO_TIMES | _NUMBERS | {"binary"},
    "binary": _TO_TEXT | {"binary"},
    "date": _TO_TIMES,
    "timestamp": _TO_TIMES | _NUMBERS,
    "timestamp_ntz": _TO_TIMES,
}
"""The types, by their names without parameters, to which Spark converts some values of a type."""


def misfit(text: str, type_: DataType) -> Misfit | None:
    """Return what is wrong with a default of a column; None if it fits, or only Spark can compute it."""
    while (inner := re.fullmatch(r"\(([^()'\"]*|\s*'[^']*'\s*)\)", text.strip())) is not None:
        text = inner[1]
    text_tokens, word = tokens(text), text.strip().lower()
    if text_tokens and all(token.kind == "string" for token in text_tokens):
        return _of_text("".join(unquote_literal(token.text) for token in text_tokens), type_)
    if word in {"true", "false"}:
        return _of_boolean(word, type_)
    if (number := re.fullmatch(_NUMBER, text.strip())) is not None:
        return _of_number(number, type_)
    return _of_expression(expression_type(text, Struct(())), type_)


def _of_expression(computed: DataType | None, type_: DataType) -> Misfit | None:
    """Return TYPE if Spark converts no value of the computed type to the column's type."""
    converted = None if computed is None else _CONVERTED.get(kind_of_type(computed))
    if converted is not None and kind_of_type(type_) not in converted:
        return Misfit.TYPE
    return None


def _of_boolean(word: str, type_: DataType) -> Misfit | None:
    if isinstance(type_, Char | Varchar):
        if len(word) > type_.length:
            return Misfit.LENGTH
        return None
    if isinstance(type_, String) or type_ == BOOLEAN:
        return None
    return Misfit.TYPE


def _of_number(number: re.Match[str], type_: DataType) -> Misfit | None:
    sign, digits, exponent, suffix = number.groups()
    value = _number(f"{sign}{digits}{exponent}")
    if value is None:
        return None
    is_float = suffix.lower() in {"d", "f"} or (bool(exponent) and not suffix)
    is_integer = not is_float and "." not in digits and suffix.lower() != "bd"
    if isinstance(type_, Char | Varchar):
        length = max(value.adjusted(), 0) + 1 + (value < 0)  # Python prints no integer of 5,000 digits
        if is_integer and length > type_.length:
            return Misfit.LENGTH
        return None
    if isinstance(type_, String) or (isinstance(type_, Atomic) and type_.name in {"variant", "timestamp"}):
        return None
    if isinstance(type_, Atomic) and type_.name == "binary":
        if is_integer and -(2**63) <= value < 2**63:
            return None
        return Misfit.TYPE
    return _as_number(value, type_)


def _number(text: str) -> Decimal | None:
    """Return a number; None for one whose exponent is beyond Python's, and so beyond all types of Spark."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _as_number(value: Decimal, type_: DataType) -> Misfit | None:
    if isinstance(type_, DecimalType):
        return _as_decimal(value, type_)
    if isinstance(type_, Atomic) and type_.name in _FLOATS:
        return None
    if isinstance(type_, Atomic) and type_.name in _INTEGERS:
        limit = 2 ** (_INTEGERS[type_.name] - 1)
        whole = value.to_integral_value(ROUND_DOWN)
        if not -limit <= whole < limit:
            return Misfit.TYPE
        return None if whole == value else Misfit.ROUNDED
    return Misfit.TYPE


def _as_decimal(value: Decimal, type_: DecimalType) -> Misfit | None:
    try:
        rounded = value.quantize(Decimal(1).scaleb(-type_.scale), ROUND_HALF_UP, _EXACT)
    except InvalidOperation:
        return Misfit.TYPE
    if abs(rounded) >= Decimal(10) ** (type_.precision - type_.scale):
        return Misfit.TYPE
    if rounded == value:
        return None
    return Misfit.ROUNDED


def _of_text(text: str, type_: DataType) -> Misfit | None:
    if isinstance(type_, Char | Varchar):
        if len(text.rstrip(" ")) > type_.length:
            return Misfit.LENGTH
        return None
    if isinstance(type_, DecimalType):
        value = _number(text.strip()) if _matches(_TEXT_NUMBER, text) else None
        if value is None:
            return Misfit.TYPE
        return _as_number(value, type_)
    if isinstance(type_, String):
        return None
    if not isinstance(type_, Atomic) or type_ in {VOID, BOOLEAN}:
        return Misfit.TYPE
    if type_.name in _INTEGERS:
        if _matches(r"[+-]?\d+", text):
            return _as_number(Decimal(text.strip()), type_)
        return Misfit.TYPE
    if type_.name in _FLOATS:
        if _matches(_TEXT_FLOAT, text):
            return None
        return Misfit.TYPE
    if type_.name == "date" or (type_.name in _TIMES and ":" not in text):
        if is_calendar_date(text):
            return None
        return Misfit.TYPE
    return None


def _matches(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text.strip(), re.ASCII) is not None
