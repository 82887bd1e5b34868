"""Parse type text in a contract; nullability and other details that it omits are unmanaged."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from schemalint.delta.datatype import UNMANAGED, Array, DataType, Field, Map, Struct
from schemalint.delta.type_text import TypeTextError, parse_type

_TYPE_NAMES: Final = (
    "boolean", "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "string", "char",
    "varchar", "binary", "date", "timestamp", "timestamp_ntz", "variant", "void", "array", "map", "struct",
    "byte", "short", "integer", "long", "real", "numeric",
)  # fmt: skip

_LENGTH_MISSING: Final = "'(' and a length"
_WORD_BEFORE: Final = r"\w+(?=\s*$)"

_REST: Final = {
    "[": 'no type has square brackets: write "array<int>", "timestamp"',
    "(": 'only decimal, char and varchar take numbers: "varchar(20)"',
    "max": '"string" has no greatest length',
    "precision": 'write "double"',
    "not": 'write "nullable: false" beside the type',
    "default": 'write "default: …" beside the type',
    "comment": 'write "comment: …" beside the type',
    **dict.fromkeys("\u201c\u201d\u2018\u2019", "write straight quotes"),
    "?": 'write "nullable: true" beside the type',
}
"""Help by what begins the text that is not part of the type."""


@lru_cache(maxsize=4096)
def declared_type(text: str) -> DataType:
    """Parse type text, with everything that it omits unmanaged.

    Raises:
        TypeTextError: The text is not a type.
    """
    return _declared(parse_type(text))


def suggestion(text: str, error: TypeTextError, rest: Mapping[str, str] = _REST) -> str:
    """Return help for an error: the type that was probably meant, or an empty string.

    Args:
        text: The text that is no type.
        error: Why it is none.
        rest: Help by what begins the text that is not part of the type.
    """
    from schemalint.contract.dialects.native.other_words import TYPES  # noqa: PLC0415 (only for an error)

    if _LENGTH_MISSING in error.message and (match := re.search(_WORD_BEFORE, text[: error.offset])):
        return f'write the greatest length: {match[0]}(20); or "string", which has none'
    match = re.match(r"\w+", text[error.offset :])
    word = match[0].lower() if match else ""
    if word in TYPES:
        return f"did you mean {TYPES[word]}?"
    if help_text := rest.get(word or text[error.offset : error.offset + 1]):
        return help_text
    matches = [] if word in _TYPE_NAMES else difflib.get_close_matches(word, _TYPE_NAMES, n=1)
    return f'did you mean "{matches[0]}"?' if matches else ""


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
