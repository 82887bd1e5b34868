"""Types in Delta's schema JSON: the names of primitive types, and what Spark stores in field metadata.

PROTOCOL.md, "Primitive Types": Spark reads the names in ``DataType.nameToType`` and writes them in
``DataType.typeName``. For collations, and lengths of char and varchar, see its StructField.scala and
CharVarcharUtils.scala.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Final

from schemalint.base.values import replace
from schemalint.delta.datatype import (
    BINARY_COLLATION,
    PRIMITIVES,
    TIMESTAMP,
    VOID,
    Array,
    Atomic,
    Char,
    DataType,
    Decimal,
    Field,
    Map,
    String,
    Struct,
    Unknown,
    Varchar,
    parts,
    walk,
    walk_fields,
    with_parts,
)
from schemalint.delta.sql_text import name_error, quote_identifier
from schemalint.delta.type_text import TypeTextError, parse_type, print_type

COLLATIONS: Final = "__COLLATIONS"
"""The metadata key with the collations of a field: provider and name by path."""

RAW_TYPE: Final = "__CHAR_VARCHAR_TYPE_STRING"
"""The metadata key with the type text of a column that contains char or varchar."""

# Schema JSON names spatial reference systems, Spark SQL writes their SRID (SpatialReferenceSystemCache of
# Spark 4.2). Other systems keep their JSON name.
_SPATIAL: Final = {
    "geometry(SRID:0)": "geometry(0)",
    "geometry(EPSG:3857)": "geometry(3857)",
    "geometry(OGC:CRS84)": "geometry(4326)",
    "geometry(SRID:ANY)": "geometry(any)",
    "geography(OGC:CRS84, SPHERICAL)": "geography(4326)",
    "geography(SRID:ANY, SPHERICAL)": "geography(any)",
}
_SPATIAL_JSON: Final = {text: json for json, text in _SPATIAL.items()}

_KNOWN: Final[dict[str, DataType]] = {
    **{type_.name: type_ for type_ in PRIMITIVES},
    **{json: Atomic(text) for json, text in _SPATIAL.items()},
    "string": String(),
    "decimal": Decimal(),
    # Old names that Spark still reads.
    "null": VOID,
    "timestamp_ltz": TIMESTAMP,
}

_DECIMAL: Final = r"decimal\(\s*([0-9]{1,9})\s*,\s*(-?[0-9]{1,9})\s*\)"
_LENGTH: Final = r"(char|varchar)\(\s*([0-9]{1,9})\s*\)"
_COLLATED: Final = r"string collate (\w+)"
_ONLY_SPARK: Final = (
    r"interval(?: [a-z]+(?: to [a-z]+)?)?|time\([0-9]\)|(?:geometry|geography)(?:\([^()]*\))?"
)


def with_collations(path: str, type_: DataType, identifiers: Mapping[str, object]) -> DataType:
    """Return the type of a field with the collations of its metadata.

    Args:
        path: The field name and the collection parts down to the type, joined by dots.
        type_: The type at the path.
        identifiers: Provider and collation by path, e.g. ``{"m.value": "icu.UNICODE_CI"}``. Spark ignores the
            case of collation names (CollationFactory.java); the result has them in upper case, as type text.
    """
    identifier = identifiers.get(path)
    match type_:
        case String() if isinstance(identifier, str):
            return String((identifier.partition(".")[2] or identifier).upper())
        case Array() | Map():
            inside = {
                part: with_collations(f"{path}.{part.value}", inner, identifiers)
                for part, inner in parts(type_)
            }
            return with_parts(type_, inside)
        case _:
            return type_


def collations(path: str, type_: DataType) -> dict[str, str]:
    """Return the identifiers that the metadata of a field stores; the inverse of `with_collations`."""
    return {
        string_path: f"{_provider(string.collation)}.{string.collation}"
        for string_path, string in _strings(path, type_)
        if string.collation != BINARY_COLLATION
    }


def with_lengths(type_: DataType, text: str) -> DataType:
    """Return the type of a column with the lengths from its type text (`RAW_TYPE`), at all depths.

    The text can be outdated: after ``RENAME COLUMN s.a`` it still has the old name. Spark finds the lengths
    in it by position (measured on Delta 4.4.0). Fields that the type does not have are ignored. If Spark
    cannot read the text, the type is returned unchanged.
    """
    stored = read_raw_type(text)
    return type_ if stored is None else _with_lengths(type_, stored)


def read_raw_type(text: str) -> DataType | None:
    """Return the type in a `RAW_TYPE` text; None if Spark cannot read it: it writes names without quotes."""
    try:
        type_ = parse_type(text)
    except TypeTextError:
        return None
    fields = (field for _path, field in walk_fields(Struct((Field("column", type_),))))
    if "`" in text or not any(name_error(field.name) for field in fields):
        return type_
    return None


def raw_type(type_: DataType) -> str | None:
    """Return the text that Spark stores as `RAW_TYPE` (``catalogString``); None for types without lengths."""
    if any(isinstance(inner, Char | Varchar) for _path, inner in walk(type_)):
        return _catalog_string(type_)
    return None


def _provider(collation: str) -> str:
    return "spark" if collation.startswith("UTF8_") else "icu"  # CollationFactory.java


def _strings(path: str, type_: DataType) -> Iterator[tuple[str, String]]:
    """Yield the strings in collection parts; for strings in structs, see the metadata of their fields."""
    if isinstance(type_, String):
        yield path, type_
    for part, inner in parts(type_):
        yield from _strings(f"{path}.{part.value}", inner)


def _with_lengths(type_: DataType, raw: DataType) -> DataType:
    match type_, raw:
        case (String(), Char() | Varchar()):
            return raw
        case (Array() | Map() as collection, _):
            raw_parts = dict(parts(raw))
            inside = {
                part: _with_lengths(inner, raw_parts.get(part, inner)) for part, inner in parts(collection)
            }
            return with_parts(collection, inside)
        case (Struct(), Struct()):
            return Struct(
                tuple(
                    field if old is None else replace(field, type=_with_lengths(field.type, old.type))
                    for field, old in zip_longest(type_.fields, raw.fields[: len(type_.fields)])
                )
            )
        case _:
            return type_


def _catalog_string(type_: DataType) -> str:
    """Print the type like Spark's ``catalogString``, but quote the names that need it."""
    match type_:
        case Array(element=element):
            return f"array<{_catalog_string(element)}>"
        case Map(key=key, value=value):
            return f"map<{_catalog_string(key)},{_catalog_string(value)}>"
        case Struct(fields=fields):
            inside = (f"{quote_identifier(field.name)}:{_catalog_string(field.type)}" for field in fields)
            return f"struct<{','.join(inside)}>"
        case Unknown():
            return "void"  # placeholder: an unknown type has no text, and readers take only lengths from it
        case _:
            return print_type(type_)


def type_of_name(name: str) -> DataType | None:
    """Return the type with this name; None if only a newer Delta version can know the name."""
    if type_ := _KNOWN.get(name):
        return type_
    if match := re.fullmatch(_DECIMAL, name):
        return Decimal(int(match[1]), int(match[2]))
    if match := re.fullmatch(_LENGTH, name):
        return (Char if match[1] == "char" else Varchar)(int(match[2]))
    if match := re.fullmatch(_COLLATED, name):
        return String(match[1].upper())
    return Atomic(name) if re.fullmatch(_ONLY_SPARK, name) else None


def is_length(name: str) -> bool:
    """Whether a name is that of a char or varchar, which a schema stores as string."""
    return re.fullmatch(_LENGTH, name) is not None


def name_of_type(type_: Atomic | Decimal | String | Char | Varchar) -> str:
    """Return the name that a schema stores; lengths and collations are in the field metadata instead."""
    match type_:
        case Atomic(name=name):
            return _SPATIAL_JSON.get(name, name)
        case Decimal(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"
        case _:
            return "string"
