"""Delta's schema JSON (PROTOCOL.md, "Schema Serialization Format"), both ways."""

from __future__ import annotations

import json
import math
import sys
from typing import Final, NoReturn

from schemalint.delta.datatype import UNMANAGED, Array, DataType, Field, Managed, Map, Struct, Unknown
from schemalint.delta.field_metadata import metadata_of, with_metadata
from schemalint.delta.type_name import name_of_type, type_of_name

MAX_DEPTH: Final = 100
_TOO_DEEP: Final = f"the schema is nested more than {MAX_DEPTH} levels deep"


class SchemaError(ValueError):
    """The text is no schema."""


def parse_schema(text: str) -> Struct:
    """Read a schema. What a newer Delta may add is kept: types as `Unknown`, metadata as `Field.extra`.

    Raises:
        SchemaError: The text is no JSON, no struct, or nested too deeply.
    """
    try:
        schema = _type(_loads(text), 0)
    except RecursionError:
        raise SchemaError(_TOO_DEEP) from None
    if not isinstance(schema, Struct):
        raise SchemaError("a schema is a struct")
    return schema


def print_schema(struct: Struct) -> str:
    """The JSON text that `parse_schema` reads as the same columns; what is unmanaged is left out.

    Raises:
        SchemaError: It is nested too deeply.
    """
    try:
        return json.dumps(_struct_json(struct, top_level=True), separators=(",", ":"))
    except RecursionError:
        raise SchemaError(_TOO_DEEP) from None


def load_json(text: str | bytes, *, strict: bool = False) -> object:
    """As `json.loads`, without halves of surrogate pairs: JSON can escape them, and nothing can print them.

    Args:
        text: One JSON value.
        strict: Whether to refuse what Python takes for numbers and JSON does not.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    try:
        found: object = _strict_json(text) if strict else json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError, _NoNumberError):
        raise
    except ValueError:
        # Python's own message tells of sys.set_int_max_str_digits().
        raise ValueError(f"a number has more than {sys.get_int_max_str_digits()} digits") from None
    if not (b"\\ud" in text.lower() if isinstance(text, bytes) else "\\ud" in text.lower()):
        return found
    whole = (
        json.dumps(found, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )
    again: object = json.loads(whole)
    return again


def _loads(text: str) -> object:
    try:
        return load_json(text, strict=True)
    except ValueError as error:
        raise SchemaError(f"the schema is not JSON: {error}") from None


def _strict_json(text: str | bytes) -> object:
    return json.loads(text, parse_constant=_refuse_number, parse_float=_finite)


class _NoNumberError(ValueError):
    """What Python takes for a number and JSON does not."""


def _refuse_number(text: str) -> NoReturn:
    raise _NoNumberError(f"{text} is no number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


def _type(found: object, depth: int) -> DataType:
    if depth > MAX_DEPTH:
        raise SchemaError(_TOO_DEEP)
    if isinstance(found, str):
        return type_of_name(found) or _unknown(found)
    if not isinstance(found, dict):
        raise SchemaError("a type was expected, as a name or an object")
    match found:
        case {"type": "struct", "fields": list(fields)}:
            return Struct(tuple(_field(field, depth + 1) for field in fields))
        case {"type": "array", "elementType": element}:
            return Array(_type(element, depth + 1), _flag(found, "containsNull"))
        case {"type": "map", "keyType": key, "valueType": value}:
            return Map(_type(key, depth + 1), _type(value, depth + 1), _flag(found, "valueContainsNull"))
        case {"type": "struct" | "array" | "map" as kind}:
            raise SchemaError(f"the type {kind!r} is not complete")
        case {"type": str()}:
            return _unknown(found)
        case _:
            raise SchemaError("the type of a type was expected, as a name")


def _unknown(found: object) -> Unknown:
    return Unknown(json.dumps(found, sort_keys=True))


def _field(found: object, depth: int) -> Field:
    if not isinstance(found, dict) or not isinstance(name := found.get("name"), str):
        raise SchemaError("a field was expected, with a name and a type")
    metadata = found.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise SchemaError(f"the metadata of the field {name!r} is no object")
    type_ = _type(found.get("type"), depth)
    return with_metadata(name, type_, metadata, nullable=_flag(found, "nullable"))


def _flag(found: dict[object, object], key: str) -> bool:
    """A boolean; Spark always writes it, other writers leave out what is true."""
    flag = found.get(key, True)
    if not isinstance(flag, bool):
        raise SchemaError(f"{key!r} is neither true nor false")
    return flag


def _struct_json(struct: Struct, *, top_level: bool) -> dict[str, object]:
    return {"type": "struct", "fields": [_field_json(field, top_level=top_level) for field in struct.fields]}


def _field_json(field: Field, *, top_level: bool) -> dict[str, object]:
    return {
        "name": field.name,
        "type": _type_json(field.type),
        "nullable": field.nullable,
        "metadata": metadata_of(field, top_level=top_level),
    }


def _type_json(type_: DataType) -> object:
    match type_:
        case Struct():
            return _struct_json(type_, top_level=False)
        case Array(element=element, contains_null=nullable):
            return {"type": "array", "elementType": _type_json(element), "containsNull": _nullable(nullable)}
        case Map(key=key, value=value, value_contains_null=nullable):
            return {
                "type": "map",
                "keyType": _type_json(key),
                "valueType": _type_json(value),
                "valueContainsNull": _nullable(nullable),
            }
        case Unknown(json=text):
            return json.loads(text)
        case _:
            return name_of_type(type_)


def _nullable(flag: Managed[bool]) -> bool:
    return True if flag is UNMANAGED else flag
