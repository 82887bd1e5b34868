"""What a schema says about a type outside the type: collations, and the lengths of char and varchar.

Spark writes both into the metadata of fields (StructField.scala, CharVarcharUtils.scala).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from schemalint.delta.datatype import (
    BINARY_COLLATION,
    Array,
    Char,
    DataType,
    Map,
    String,
    Struct,
    Unknown,
    Varchar,
    parts,
    walk,
    with_parts,
)
from schemalint.delta.sql_text import quote_identifier
from schemalint.delta.type_text import TypeTextError, parse_type, print_type
from schemalint.values import replace

COLLATIONS: Final = "__COLLATIONS"
RAW_TYPE: Final = "__CHAR_VARCHAR_TYPE_STRING"


def with_collations(way: str, type_: DataType, identifiers: Mapping[str, object]) -> DataType:
    """A field's type with the collations that its metadata holds.

    Args:
        way: The field's name, and the parts of collections passed since, with dots.
        type_: The type there.
        identifiers: Provider and collation by way, e.g. ``{"m.value": "icu.UNICODE_CI"}``. Spark ignores the
            case of a collation's name (CollationFactory.java); here it is in capitals, as in type text.
    """
    identifier = identifiers.get(way)
    match type_:
        case String() if isinstance(identifier, str):
            return String((identifier.partition(".")[2] or identifier).upper())
        case Array() | Map():
            inside = {
                part: with_collations(f"{way}.{part.value}", inner, identifiers)
                for part, inner in parts(type_)
            }
            return with_parts(type_, inside)
        case _:
            return type_


def collations(way: str, type_: DataType) -> dict[str, str]:
    """The inverse of `with_collations`: what the metadata of a field has to hold."""
    return {
        path: f"{_provider(leaf.collation)}.{leaf.collation}"
        for path, leaf in _strings(way, type_)
        if leaf.collation != BINARY_COLLATION
    }


def with_lengths(type_: DataType, text: str) -> DataType:
    """A column's type with the lengths at all depths, from the text that Spark stores beside it.

    The text goes stale: after ``RENAME COLUMN s.a`` it still has the old name (measured on Delta 4.4.0). What
    it says about fields that are there counts. Spark does not quote names in it: what cannot be read here,
    Spark cannot read either.
    """
    try:
        return _with_lengths(type_, parse_type(text))
    except TypeTextError:
        return type_


def raw_type(type_: DataType) -> str | None:
    """The text that Spark stores for a column's type (``catalogString``); None if it has no lengths."""
    if any(isinstance(inner, Char | Varchar) for _path, inner in walk(type_)):
        return _catalog_string(type_)
    return None


def _provider(collation: str) -> str:
    return "spark" if collation.startswith("UTF8_") else "icu"  # CollationFactory.java


def _strings(way: str, type_: DataType) -> Iterator[tuple[str, String]]:
    """Strings in the parts of collections; those in the fields of structs belong to these fields."""
    if isinstance(type_, String):
        yield way, type_
    for part, inner in parts(type_):
        yield from _strings(f"{way}.{part.value}", inner)


def _with_lengths(type_: DataType, said: DataType) -> DataType:
    match type_, said:
        case (String(), Char() | Varchar()):
            return said
        case (Array() | Map() as holder, _):
            other = dict(parts(said))
            inside = {part: _with_lengths(inner, other.get(part, inner)) for part, inner in parts(holder)}
            return with_parts(holder, inside)
        case (Struct(), Struct()):
            types = {field.name: field.type for field in said.fields}
            return Struct(
                tuple(
                    replace(field, type=_with_lengths(field.type, types.get(field.name, field.type)))
                    for field in type_.fields
                )
            )
        case _:
            return type_


def _catalog_string(type_: DataType) -> str:
    """As Spark prints it, but with names quoted where it could not be read otherwise."""
    match type_:
        case Array(element=element):
            return f"array<{_catalog_string(element)}>"
        case Map(key=key, value=value):
            return f"map<{_catalog_string(key)},{_catalog_string(value)}>"
        case Struct(fields=fields):
            inside = (f"{quote_identifier(field.name)}:{_catalog_string(field.type)}" for field in fields)
            return f"struct<{','.join(inside)}>"
        case Unknown():
            return "void"  # it has no text, and only lengths are read from it
        case _:
            return print_type(type_)
