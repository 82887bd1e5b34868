"""Type text in a contract: what it does not say is not managed."""

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from typing import Final

from schemalint.delta.datatype import UNMANAGED, Array, DataType, Field, Map, Struct
from schemalint.delta.type_text import TypeTextError, parse_type

_TYPE_WORDS: Final = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "char",
    "varchar", "binary", "date", "timestamp", "timestamp_ntz", "variant", "void", "array", "map", "struct",
)  # fmt: skip


@lru_cache(maxsize=4096)
def declared_type(text: str) -> DataType:
    """The type of a text, with all that it does not say unmanaged.

    Raises:
        TypeTextError: The text is no type.
    """
    return _declared(parse_type(text))


def suggestion(text: str, error: TypeTextError) -> str:
    """The word that was probably meant where a text is no type, as help for an error; else nothing."""
    found = re.match(r"\w+", text[error.offset :])
    word = found[0].lower() if found else ""
    near = [] if word in _TYPE_WORDS else difflib.get_close_matches(word, _TYPE_WORDS, n=1)
    return f'did you mean "{near[0]}"?' if near else ""


def _declared(type_: DataType) -> DataType:
    match type_:
        case Struct(fields=fields):
            return Struct(tuple(_declared_field(field) for field in fields))
        case Array(element=element):
            return Array(_declared(element), UNMANAGED)
        case Map(key=key, value=value):
            return Map(_declared(key), _declared(value), UNMANAGED)
        case _:
            return type_


def _declared_field(field: Field) -> Field:
    return Field(
        field.name,
        _declared(field.type),
        nullable=field.nullable,
        comment=UNMANAGED if field.comment is None else field.comment,
        default=UNMANAGED,
        generated=UNMANAGED,
        identity=UNMANAGED,
        type_changes=UNMANAGED,
    )
