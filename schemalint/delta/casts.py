"""Which casts Spark has between the types of columns.

Measured on Spark 4.2.0 with ``spark.sql.ansi.enabled``, its default, for all pairs
(``tests/engine/test_casts.py``). Without it, Spark has a few more, such as of a boolean to a timestamp.
"""

from __future__ import annotations

from typing import Final

from schemalint.delta.datatype import Array, Atomic, Char, DataType, Map, String, Struct, Varchar

_NUMBERS: Final = frozenset({"byte", "short", "integer", "long", "float", "double", "decimal"})
_DAYS: Final = frozenset({"date", "timestamp", "timestamp_ntz"})
_OF_NUMBERS: Final = _NUMBERS | {"boolean", "string", "timestamp", "variant"}

_CASTS: Final = {
    "boolean": _NUMBERS | {"boolean", "string", "variant"},
    **dict.fromkeys(_NUMBERS, _OF_NUMBERS),
    "string": _NUMBERS | _DAYS | {"boolean", "string", "binary", "variant"},
    "binary": frozenset({"binary", "string", "variant"}),
    "date": _DAYS | {"string", "variant"},
    "timestamp": _NUMBERS | _DAYS | {"string", "variant"},
    "timestamp_ntz": _DAYS | {"string", "variant"},
    "array": frozenset({"array", "string", "variant"}),
    "map": frozenset({"map", "string"}),
    "struct": frozenset({"struct", "string"}),
}
"""The kinds of types that each kind is cast to; a kind that is missing is cast to any, as far as is known."""


def has_cast(old: DataType, new: DataType) -> bool:
    """Return whether Spark casts a type to another one; the values may still fail or be lost."""
    if kind_of_type(new) not in _CASTS.get(kind_of_type(old), {kind_of_type(new)}):
        return False
    match old, new:
        case Array(element=before), Array(element=after):
            return has_cast(before, after)
        case Map(), Map():
            return has_cast(old.key, new.key) and has_cast(old.value, new.value)
        case Atomic(name="variant"), Map():
            return kind_of_type(new.key) == "string"
        case Struct(), Struct():
            pairs = zip(old.fields, new.fields, strict=False)
            return len(old.fields) == len(new.fields) and all(
                has_cast(before.type, after.type) for before, after in pairs
            )
        case Array(element=before), Atomic():  # a variant
            return has_cast(before, new)
        case _:
            return True


def kind_of_type(type_: DataType) -> str:
    """Return the name of a type without its parameters; that of strings for char and varchar."""
    match type_:
        case Atomic(name=name):
            return name
        case String() | Char() | Varchar():
            return "string"
        case _:
            return type(type_).__name__.lower()
