"""The defaults of columns that Iceberg compatibility V3 takes: texts that Delta reads as values itself.

It does not parse them as SQL (``isLiteral`` in DeltaColumnDefaults.scala of Delta 4.4.0): ``'a' || 'b'`` is a
text in quotes to it, and ``DATE'2026-01-31'``, ``1 + 1`` and ``NULL`` are none of its values. Measured on
Delta 4.4.0.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping
from decimal import Context, Inexact, InvalidOperation
from decimal import Decimal as Number
from typing import Final

from schemalint.delta.datatype import Atomic, Char, DataType, Decimal, String, Varchar

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FLOAT: Final = re.compile(rf"(?:[+-]?(?:NaN|Infinity)|{_DECIMAL.pattern}[fFdD]?)")
_LOCAL: Final = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d|T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)", re.ASCII)
_OFFSET: Final = re.compile(r"(?:Z|[+-]\d\d:\d\d(?::\d\d)?)(?:\[[^\]]+\])?$", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def is_iceberg_literal(text: str, type_: DataType) -> bool:
    """Return whether Delta takes a default for Iceberg compatibility V3."""
    text = text.strip()
    match type_:
        case String(collation=collation):
            return collation == String().collation and _content(text) is not None
        case Char() | Varchar():
            return _content(text) is not None
        case Decimal(precision=precision, scale=scale):
            return _is_decimal(text, precision, scale)
        case Atomic(name=name):
            reads = _READERS.get(name)
            return reads is not None and reads(text)
        case _:
            return False


def _content(text: str) -> str | None:
    """Return what stands in the quotes around a whole text; None if there are none."""
    if len(text) < len("''") or text[0] != text[-1] or text[0] not in "'\"":
        return None
    inner = text[1:-1]
    ends_escaped = (len(inner) - len(inner.rstrip("\\"))) % 2 == 1
    return None if ends_escaped else inner


def _is_integer(bits: int) -> Callable[[str], bool]:
    def reads(text: str) -> bool:
        return _INTEGER.fullmatch(text) is not None and -(1 << bits - 1) <= int(text) < 1 << bits - 1

    return reads


def _is_long(text: str) -> bool:
    return _is_integer(64)(re.sub("[lL]$", "", text))


def _is_float(text: str) -> bool:
    return _FLOAT.fullmatch(text.strip()) is not None


def _is_decimal(text: str, precision: int, scale: int) -> bool:
    """Whether a number has the scale without being rounded, after it was rounded to the precision."""
    if _DECIMAL.fullmatch(text) is None:
        return False
    try:
        rounded = Context(prec=precision, rounding="ROUND_HALF_UP").create_decimal(text)
        rounded.quantize(Number(1).scaleb(-scale), context=Context(prec=precision + scale, traps=[Inexact]))
    except (Inexact, InvalidOperation):
        return False
    return True


def _is_binary(text: str) -> bool:
    if text[:1] not in {"x", "X"}:
        return True
    content = _content(text[1:])
    return content is not None and re.fullmatch("[0-9a-fA-F]*", content) is not None


def _is_date(text: str) -> bool:
    content = _content(text)
    return content is not None and _DATE.fullmatch(content) is not None and _is_iso(content)


def _is_local_time(text: str) -> bool:
    content = _content(text)
    return content is not None and _LOCAL.fullmatch(content) is not None and _is_iso(content[:16])


def _is_time(text: str) -> bool:
    content = _content(text)
    if content is None:
        return False
    local, count = _OFFSET.subn("", content)
    return _is_local_time(f"'{local}'") if count == 0 or "T" in local else False


def _is_iso(text: str) -> bool:
    try:
        dt.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


_READERS: Final[Mapping[str, Callable[[str], bool]]] = {
    "long": _is_long,
    **dict.fromkeys(("integer", "short", "byte"), _is_integer(32)),
    **dict.fromkeys(("float", "double"), _is_float),
    "boolean": lambda _text: True,
    "binary": _is_binary,
    "date": _is_date,
    "timestamp": _is_time,
    "timestamp_ntz": _is_local_time,
}
"""What reads the default of a type: any text is a value of BOOLEAN, and of BINARY without ``x``."""
