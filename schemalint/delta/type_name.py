"""The names of primitive types in Delta's schema JSON (PROTOCOL.md, "Primitive Types").

Spark reads them in ``DataType.nameToType`` and writes them in ``DataType.typeName``.
"""

from __future__ import annotations

import re
from typing import Final

from schemalint.delta.datatype import Atomic, Char, DataType, Decimal, String, Varchar

_ATOMIC: Final = {
    name: Atomic(name)
    for name in (
        "boolean",
        "byte",
        "short",
        "integer",
        "long",
        "float",
        "double",
        "binary",
        "date",
        "timestamp",
        "timestamp_ntz",
        "variant",
        "void",
    )
}

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
    **_ATOMIC,
    **{json: Atomic(text) for json, text in _SPATIAL.items()},
    "string": String(),
    "decimal": Decimal(),
    # Old names that Spark still reads.
    "null": _ATOMIC["void"],
    "timestamp_ltz": _ATOMIC["timestamp"],
}

_DECIMAL: Final = r"decimal\(\s*([0-9]{1,9})\s*,\s*(-?[0-9]{1,9})\s*\)"
_LENGTH: Final = r"(char|varchar)\(\s*([0-9]{1,9})\s*\)"
_COLLATED: Final = r"string collate (\w+)"
_ONLY_SPARK: Final = (
    r"interval(?: [a-z]+(?: to [a-z]+)?)?|time\([0-9]\)|(?:geometry|geography)(?:\([^()]*\))?"
)


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


def name_of_type(type_: Atomic | Decimal | String | Char | Varchar) -> str:
    """Return the name that a schema stores; lengths and collations are in the field metadata instead."""
    match type_:
        case Atomic(name=name):
            return _SPATIAL_JSON.get(name, name)
        case Decimal(precision=precision, scale=scale):
            return f"decimal({precision},{scale})"
        case _:
            return "string"
