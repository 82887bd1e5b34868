"""Parse and print Delta's schema JSON (PROTOCOL.md, "Schema Serialization Format")."""

from __future__ import annotations

import json
import math
import operator
import re
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple, NoReturn, TypeAlias

from schemalint.delta.datatype import UNMANAGED, Array, DataType, Field, Managed, Map, Struct, Unknown
from schemalint.delta.field_metadata import metadata_of, with_metadata
from schemalint.delta.schema_faults import LogFault, faults_in_field, faults_in_json
from schemalint.delta.type_json import name_of_type, type_of_name

MAX_DEPTH: Final = 1_000
"""Levels of JSON objects and lists that Spark's JSON parser accepts (measured on Delta 4.4.0).

A struct takes three levels, an array or a map takes one.
"""

_DEPTH_OF_COLUMNS: Final = 3

_TOO_DEEP: Final = f"its JSON is nested more than {MAX_DEPTH} levels deep, the most that Spark reads"

_TOO_DEEP_FOR_PYTHON: Final = (
    "it is nested more deeply than this Python can compare: 3.11, and 3.12.3 or later, can (cpython#112215)"
)

_COMPARES_DEEP_VALUES: Final = not (3, 12) <= sys.version_info < (3, 12, 3)
"""Whether `_RECURSION_LIMIT` counts for comparisons; else a low limit of calls in C does."""

_RECURSION_LIMIT: Final = 10_000
"""Python's limit for schemas of `MAX_DEPTH`; comparing two values takes five calls per level."""

_ORDINARY_DEPTH: Final = 60
"""Nested types for which Python's default limit suffices."""

_LEVELS_AROUND_SCHEMAS: Final = 20
"""Room for the values that schemas are part of, and for the functions that compare them."""

_SHORT: Final = 500
"""Characters of the name and the metadata of a field that may be kept."""

_NESTED: Final = ('"fields"', '"elementType"', '"valueType"')

ReadSchema: TypeAlias = tuple[Struct, tuple[LogFault, ...]]
"""A schema, and what Delta Spark cannot read of it."""

# The texts before, between and after the columns, as all writers print them.
_BEFORE: Final = re.compile(r'_*\{_*"type"_*:_*"struct"_*,_*"fields"_*:_*\[_*'.replace("_", r"[ \t\n\r]"))
_BETWEEN: Final = re.compile(r"[ \t\n\r]*,[ \t\n\r]*")
_AFTER: Final = re.compile(r"[ \t\n\r]*\][ \t\n\r]*\}[ \t\n\r]*")


class SchemaError(ValueError):
    """The text is not a schema, or a schema is nested too deeply.

    Attributes:
        is_limit: Whether it is nested too deeply.
    """

    def __init__(self, message: str, *, is_limit: bool = False) -> None:
        super().__init__(message)
        self.is_limit = is_limit


def parse_schema(text: str) -> Struct:
    """Parse a schema; unknown types become `Unknown`, unknown metadata becomes `Field.extra`.

    Raises:
        SchemaError: The text is not JSON, not a struct, or is nested more than `MAX_DEPTH` levels deep.
    """
    return read_schema(text)[0]


def read_schema(text: str) -> ReadSchema:
    """Parse a schema as `parse_schema` does, and return with it what Delta Spark cannot read of it."""
    is_deep = allow_recursion(text)
    try:
        value = _loads(text)
        schema = _type(value, 1)
        faults = tuple(faults_in_json(value))
    except RecursionError:
        raise SchemaError(_TOO_DEEP, is_limit=True) from None
    if is_deep and not _COMPARES_DEEP_VALUES:
        _require_comparable(schema, _type(_loads(text), 1))
    if not isinstance(schema, Struct):
        raise SchemaError("the schema is not a struct")
    return schema, faults


class SchemaReader:
    """Reads the schemas of one table as `read_schema` does, but each text of a column once while it stays.

    A log of a thousand versions repeats nearly all columns in each of them. The text of an object tells where
    it ends, so what begins with the text of a column begins with that column.
    """

    def __init__(self) -> None:
        self._before: _Before = _Before("", (Struct(), ()), ())

    def read(self, text: str) -> ReadSchema:
        """Parse a schema.

        Raises:
            SchemaError: As `parse_schema`.
        """
        before = self._before
        if before.columns and text == before.text:
            return before.schema
        is_whole = allow_recursion(text) and not _COMPARES_DEEP_VALUES
        columns = None if is_whole else _read_columns(text, before.columns)
        if columns is None:
            return read_schema(text)
        faults = tuple(fault for column in columns for fault in column.faults)
        schema = Struct(tuple(column.field for column in columns)), faults
        self._before = _Before(text, schema, columns)
        return schema


class _Column(NamedTuple):
    text: str
    field: Field
    faults: tuple[LogFault, ...]


class _Before(NamedTuple):
    """What was read last; one value, since tables are read side by side."""

    text: str
    schema: ReadSchema
    columns: Sequence[_Column]


def _read_columns(text: str, before: Sequence[_Column]) -> list[_Column] | None:
    """Return the columns of a schema; None if it is not written as usual, or cannot be read."""
    start = _BEFORE.match(text)
    if start is None or "\\ud" in text or "\\uD" in text:  # a lone surrogate may be replaced
        return None
    at, expected = start.end(), 0
    columns: list[_Column] = []
    places: dict[str, int] | None = None
    while True:
        for place in (expected, expected + 1):  # the next one is expected where a column was changed
            if place < len(before) and text.startswith(before[place].text, at):
                column, expected = before[place], place + 1
                break
        else:
            try:
                column = _read_column(text, at)
            except (ValueError, RecursionError):
                return None
            if places is None:
                places = {known.text: place for place, known in enumerate(before)}
            if (place := places.get(column.text, -1)) >= 0:
                column, expected = before[place], place + 1
        columns.append(column)
        at += len(column.text)
        between = _BETWEEN.match(text, at)
        if between is None:
            return columns if _AFTER.fullmatch(text, at) else None
        at = between.end()


def _read_column(text: str, at: int) -> _Column:
    value, end = _DECODER.raw_decode(text, at)
    field = _field(value, _DEPTH_OF_COLUMNS)
    return _Column(text[at:end], field, tuple(faults_in_field(value)))


def print_schema(struct: Struct) -> str:
    """Print a schema as JSON; the inverse of `parse_schema`.

    Unmanaged metadata is omitted; unmanaged nullability is printed as true.

    Raises:
        SchemaError: The struct is nested too deeply for Python's JSON encoder.
    """
    try:
        return json.dumps(_struct_json(struct, top_level=True), separators=(",", ":"))
    except RecursionError:
        raise SchemaError(_TOO_DEEP, is_limit=True) from None


def _require_comparable(schema: DataType, equal: DataType) -> None:
    """Raise a SchemaError if equal schemas are too deep for Python to compare."""
    for _level in range(_LEVELS_AROUND_SCHEMAS):
        schema, equal = Array(schema), Array(equal)
    try:
        operator.eq(schema, equal)
    except RecursionError:
        raise SchemaError(_TOO_DEEP_FOR_PYTHON, is_limit=True) from None


def allow_recursion(text: str | bytes) -> bool:
    """Raise Python's recursion limit if a JSON text may hold a deeply nested schema, and return whether.

    Everything that handles the schema later recurses too. Other processes keep their limit.
    """
    keys = (text.count(key) if isinstance(text, str) else text.count(key.encode()) for key in _NESTED)
    is_deep = sum(keys) > _ORDINARY_DEPTH
    if is_deep:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION_LIMIT))
    return is_deep


def load_json(text: str | bytes, *, strict: bool = False) -> object:
    """Parse JSON like `json.loads`, but replace lone surrogates, which JSON can escape and nothing can print.

    Args:
        text: One JSON value.
        strict: Whether to refuse NaN, Infinity and numbers that overflow a float, which `json.loads` accepts.

    Raises:
        ValueError: The text is not JSON, or a number has too many digits.
        RecursionError: The value is nested too deeply.
    """
    try:
        value: object
        if strict:
            value = json.loads(text, parse_constant=_refuse_number, parse_float=_finite)
        else:
            value = json.loads(text)
    except (json.JSONDecodeError, UnicodeDecodeError, _NoNumberError):
        raise
    except ValueError:
        # Python's own message recommends sys.set_int_max_str_digits(), which is no help to users.
        raise ValueError(f"a number has more than {sys.get_int_max_str_digits()} digits") from None
    if not (b"\\ud" in text.lower() if isinstance(text, bytes) else "\\ud" in text.lower()):
        return value
    printable = (
        json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    )
    repaired: object = json.loads(printable)
    return repaired


def _loads(text: str) -> object:
    try:
        return load_json(text, strict=True)
    except ValueError as error:
        raise SchemaError(f"the schema is not JSON: {error}") from None


class _NoNumberError(ValueError):
    """The text is a number for Python, but not for JSON."""


def _refuse_number(text: str) -> NoReturn:
    raise _NoNumberError(f"{text} is not a JSON number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_number(text)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse_number, parse_float=_finite)


def _type(value: object, depth: int) -> DataType:
    if isinstance(value, str):
        return type_of_name(value) or _unknown(value)
    if not isinstance(value, dict):
        raise SchemaError("expected a type, as a name or an object")
    if depth > MAX_DEPTH:
        raise SchemaError(_TOO_DEEP, is_limit=True)
    match value:
        case {"type": "struct", "fields": list(fields)}:
            return Struct(tuple(_field(field, depth + 2) for field in fields))
        case {"type": "array", "elementType": element}:
            return Array(_type(element, depth + 1), _flag(value, "containsNull"))
        case {"type": "map", "keyType": key_type, "valueType": value_type}:
            contains_null = _flag(value, "valueContainsNull")
            return Map(_type(key_type, depth + 1), _type(value_type, depth + 1), contains_null)
        case {"type": "struct" | "array" | "map" as kind}:
            raise SchemaError(f"the type {kind!r} is not complete")
        case {"type": str()}:
            return _unknown(value)
        case _:
            raise SchemaError("expected the kind of a type, as a name under the key 'type'")


def _unknown(value: object) -> Unknown:
    return Unknown(json.dumps(value, sort_keys=True))


def _field(value: object, depth: int) -> Field:
    if depth >= MAX_DEPTH:  # its metadata is an object too
        raise SchemaError(_TOO_DEEP, is_limit=True)
    if not isinstance(value, dict) or not isinstance(name := value.get("name"), str):
        raise SchemaError("expected a field, with a name and a type")
    metadata = value.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise SchemaError(f"the metadata of the field {name!r} is not an object")
    top_level = depth == _DEPTH_OF_COLUMNS
    type_name, nullable = value.get("type"), _flag(value, "nullable")
    if isinstance(type_name, str) and _is_short(name, metadata):
        return _short_field(name, type_name, tuple(metadata.items()), nullable=nullable, top_level=top_level)
    type_ = _type(type_name, depth + 1)
    return with_metadata(name, type_, metadata, nullable=nullable, top_level=top_level)


def _is_short(name: str, metadata: dict[object, object]) -> bool:
    """Whether a field may be kept: Python calls true and 1 the same, and long texts would fill the memory."""
    size = len(name)
    for key, value in metadata.items():
        if type(value) is str:
            size += len(value)
        elif type(value) is not int:
            return False
        size += len(str(key))
    return size <= _SHORT


@lru_cache(maxsize=8_192)
def _short_field(
    name: str, type_name: str, metadata: tuple[tuple[str, str | int], ...], *, nullable: bool, top_level: bool
) -> Field:
    """Return a field without types inside its type; a log repeats most of them in each schema."""
    return with_metadata(name, _type(type_name, 1), dict(metadata), nullable=nullable, top_level=top_level)


def _flag(entry: dict[object, object], key: str) -> bool:
    """Return a boolean that defaults to true: Spark always writes it, other writers may omit true."""
    flag = entry.get(key, True)
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
