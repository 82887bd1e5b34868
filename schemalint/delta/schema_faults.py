"""Find what Delta Spark cannot read in a table's schema, though its meaning is clear.

Spark takes an object of a schema's JSON only with exactly the keys that it writes, and the metadata of fields
only with values of the right type (``DataType.parseDataType`` and ``Metadata.fromJObject`` of Spark 4.2.0;
measured on Delta 4.4.0, ``tests/engine/answers/4.4.0/logs.csv``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from schemalint.base.values import frozen
from schemalint.delta.datatype import DataType, Field, Identity, Unknown
from schemalint.delta.field_metadata import (
    COMMENT,
    DEFAULT,
    GENERATED,
    IDENTITY_EXPLICIT,
    IDENTITY_HIGH_WATER_MARK,
    IDENTITY_START,
    IDENTITY_STEP,
)
from schemalint.delta.invariants import INVARIANTS, read_invariant
from schemalint.delta.path import Part, Path, format_path
from schemalint.delta.type_json import is_length

NO_TYPE: Final = "INVALID_JSON_DATA_TYPE"
_NO_LENGTH: Final = "DELTA_FAILED_TO_MERGE_FIELDS"
_WRONG_KIND: Final = "ClassCastException"
_INCOMPLETE: Final = "DELTA_IDENTITY_COLUMN_INCONSISTENT_METADATA"
_IDENTITY: Final = (IDENTITY_START, IDENTITY_STEP, IDENTITY_EXPLICIT)

_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "struct": frozenset({"type", "fields"}),
    "array": frozenset({"type", "elementType", "containsNull"}),
    "map": frozenset({"type", "keyType", "valueType", "valueContainsNull"}),
    "field": frozenset({"name", "type", "nullable", "metadata"}),
}
_OPTIONAL: Final = frozenset({"metadata"})


@frozen
class LogFault:
    """What Delta Spark cannot read, or cannot write with.

    Attributes:
        what: The fault, as a clause with its subject.
        error: The error class, or else the Java class, of the statements that fail.
        is_readable: Whether only writes fail, or only what alters the table.
        is_restorable: Whether RESTORE brings back a version without the fault (`test_ways_back.py`).
    """

    what: str
    error: str
    is_readable: bool = False
    is_restorable: bool = True


def faults_in_json(value: object, path: Path = ()) -> Iterator[LogFault]:
    """Yield the faults of a schema's JSON that its `Struct` does not show: keys, and lengths as types.

    Args:
        value: The parsed JSON of a schema, or of a type inside one, that `parse_schema` accepts.
        path: The path of the type.
    """
    if isinstance(value, str):
        if is_length(value):
            name = format_path(path)
            what = f"the type of {name} is {value}, which Delta stores as string, with the length in metadata"
            yield LogFault(what, _NO_LENGTH, is_readable=True)
        return
    if not isinstance(value, dict):
        return
    match value:
        case {"type": "struct", "fields": list(fields)}:
            yield from _keys(value, "struct", path)
            for field in fields:
                yield from faults_in_field(field, path)
        case {"type": "array", "elementType": element}:
            yield from _keys(value, "array", path)
            yield from faults_in_json(element, (*path, Part.ELEMENT))
        case {"type": "map", "keyType": key, "valueType": inner_value}:
            yield from _keys(value, "map", path)
            yield from faults_in_json(key, (*path, Part.KEY))
            yield from faults_in_json(inner_value, (*path, Part.VALUE))


def faults_in_field(field: Mapping[str, Any], path: Path = ()) -> Iterator[LogFault]:
    """Yield the faults of the JSON of a field, as `faults_in_json` does; the path is that of its struct."""
    inner = (*path, str(field["name"]))
    yield from _keys(field, "field", inner)
    yield from faults_in_json(field["type"], inner)


def _keys(entry: Mapping[str, Any], kind: str, path: Path) -> Iterator[LogFault]:
    if entry.keys() == _KEYS[kind] and entry.get("metadata", {}) is not None:
        return
    name = format_path(path) if path else "the schema"
    for key in sorted(_KEYS[kind] - entry.keys() - _OPTIONAL):
        yield LogFault(f"{name} has no {key} in the schema", NO_TYPE)
    for key in sorted(entry.keys() - _KEYS[kind]):
        yield LogFault(f"{name} has the key {key} in the schema, which Delta does not have", NO_TYPE)
    if "metadata" in entry and entry["metadata"] is None:
        yield LogFault(f"the metadata of {name} is null in the schema", NO_TYPE)


def type_fault(type_: DataType, path: Path) -> LogFault | None:
    """Return why Spark does not know a type of a live table, apart from the types inside it."""
    if not isinstance(type_, Unknown):
        return None
    return LogFault(f"{format_path(path)} has the type {type_.json}, which Delta 4.4 does not know", NO_TYPE)


def metadata_faults(field: Field, path: Path) -> Iterator[LogFault]:
    """Yield why Spark cannot use the metadata of a field of a live table."""
    metadata = {key: json.loads(text) for key, text in field.extra}
    name, is_column = format_path(path), len(path) == 1
    for key in (COMMENT, DEFAULT, GENERATED):
        if metadata.get(key) is not None and is_column:
            what = f"{key} of {name} is {json.dumps(metadata[key])}, which is no text"
            yield LogFault(what, _WRONG_KIND, is_readable=key == GENERATED)
    yield from _identity_faults(field, metadata, name) if is_column else ()
    if (invariant := read_invariant(field)) is not None and invariant.fault is not None:
        yield LogFault(f"{INVARIANTS} of {name} {invariant.fault}", invariant.error, is_readable=True)
    for key, value in metadata.items():
        if (error := _list_error(value)) is not None:
            yield LogFault(f"{key} of {name} has a list that Spark cannot read", error)


def _identity_faults(field: Field, metadata: Mapping[str, object], name: str) -> Iterator[LogFault]:
    if isinstance(field.identity, Identity):
        if field.identity.step == 0:
            what = f"the identity of {name} has the step 0"
            yield LogFault(what, "IllegalArgumentException", is_readable=True)
    elif present := [key for key in _IDENTITY if key in metadata]:
        missing = [key for key in _IDENTITY if key not in metadata]
        if missing:
            what = f"the identity of {name} has {present[0]}, but no {missing[0]}"
            yield LogFault(what, _INCOMPLETE)
        else:
            what = f"the identity of {name} has numbers or a boolean that are texts"
            yield LogFault(what, _WRONG_KIND, is_readable=True, is_restorable=False)
    mark = metadata.get(IDENTITY_HIGH_WATER_MARK, 0)
    if type(mark) is not int:
        what = f"{IDENTITY_HIGH_WATER_MARK} of {name} is {json.dumps(mark)}, which is no integer"
        yield LogFault(what, _WRONG_KIND, is_readable=True)


def _list_error(value: object) -> str | None:
    """Return the error of a list of lists, of nulls, or of values of several types, also inside a value."""
    if isinstance(value, dict):
        return next(filter(None, map(_list_error, value.values())), None)
    if not isinstance(value, list):
        return None
    if value and (value[0] is None or isinstance(value[0], list)):
        return "_LEGACY_ERROR_TEMP_2120"
    if len({type(item) for item in value}) > 1:
        return _WRONG_KIND
    return next(filter(None, map(_list_error, value)), None)
