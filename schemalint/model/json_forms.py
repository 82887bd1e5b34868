"""States and consumers as JSON and back, without loss, and typed access to JSON that others may have written.

A state has the shape of Delta's schema JSON (PROTOCOL.md, "Schema Serialization Format"), with own keys
for what schemas keep in metadata. A key that is absent means unmanaged, as in a contract; null means none.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn, TypeVar

from schemalint.delta.datatype import (
    BINARY_COLLATION,
    UNMANAGED,
    Array,
    Atomic,
    Char,
    DataType,
    Decimal,
    Field,
    Identity,
    Map,
    RecordedChange,
    String,
    Struct,
    Unknown,
    Unmanaged,
    Varchar,
)
from schemalint.delta.path import Part, Path, path_from_json, path_to_json
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.consumer import Consumer, declared_stream

T = TypeVar("T")
Json = dict[str, Any]

_WITH_NUMBERS: Final = re.compile(r"(decimal|char|varchar)\((-?[0-9]{1,9})(?:,(-?[0-9]{1,9}))?\)")


def state_to_json(state: TableState) -> Json:
    """Return the JSON object of a state."""
    members = state.clustered_by
    return {
        "columns": [_field_to_json(field) for field in state.columns.fields],
        **_managed("description", state.description),
        **_managed("partitioned_by", _listed(state.partitioned_by)),
        **_managed(
            "clustered_by", members if isinstance(members, Unmanaged) else [*map(path_to_json, members)]
        ),
        "constraints": dict(state.constraints),
        "properties": dict(state.properties),
        "features": sorted(state.features),
        "dropped": [
            {"column": path_to_json(entry.path)}
            | ({} if entry.type is None else {"type": _type_to_json(entry.type)})
            for entry in state.dropped
        ],
    }


def state_from_json(content: object) -> TableState:
    """Return the state of a JSON object.

    Raises:
        ValueError: The object was not made by `state_to_json`.
    """
    members = object_of(content)
    return TableState(
        columns=_struct(members["columns"]),
        description=_optional_text(members, "description"),
        partitioned_by=(
            tuple(map(text_of, list_of(members["partitioned_by"])))
            if "partitioned_by" in members
            else UNMANAGED
        ),
        clustered_by=(
            tuple(map(_path, list_of(members["clustered_by"]))) if "clustered_by" in members else UNMANAGED
        ),
        constraints=_entries(members["constraints"]),
        properties=_entries(members["properties"]),
        features=frozenset(map(text_of, list_of(members["features"]))),
        dropped=tuple(map(_deletion, list_of(members["dropped"]))),
    )


def _managed(key: str, value: object) -> Json:
    return {} if isinstance(value, Unmanaged) else {key: value}


def _listed(value: tuple[T, ...] | Unmanaged) -> list[T] | Unmanaged:
    return value if isinstance(value, Unmanaged) else list(value)


def _field_to_json(field: Field) -> Json:
    identity, changes = field.identity, field.type_changes
    return {
        "name": field.name,
        "type": _type_to_json(field.type),
        "nullable": field.nullable,
        **_managed("comment", field.comment),
        **_managed("default", field.default),
        **_managed("generated", field.generated),
        **_managed("identity", _identity_to_json(identity) if isinstance(identity, Identity) else identity),
        **_managed(
            "type_changes",
            changes if isinstance(changes, Unmanaged) else [_recorded_to_json(entry) for entry in changes],
        ),
        **{
            key: value
            for key, value in (
                ("id", field.column_id),
                ("physical_name", field.physical_name),
                ("renamed_from", field.renamed_from),
                ("extra", dict(field.extra) or None),
            )
            if value is not None
        },
    }


def _identity_to_json(identity: Identity) -> Json:
    return {
        "start": identity.start,
        "step": identity.step,
        "allow_explicit_insert": identity.allow_explicit_insert,
    }


def _recorded_to_json(entry: RecordedChange) -> Json:
    return {
        "from": _type_to_json(entry.from_type),
        "to": _type_to_json(entry.to_type),
        "at": [part.value for part in entry.at],
        "version": entry.version,
    }


def _type_to_json(type_: DataType) -> str | Json:
    match type_:
        case Struct(fields=fields):
            return {"fields": [_field_to_json(field) for field in fields]}
        case Array(element=element, contains_null=nullable):
            return {"elementType": _type_to_json(element), **_managed("containsNull", nullable)}
        case Map(key=key, value=value, value_contains_null=nullable):
            return {
                "keyType": _type_to_json(key),
                "valueType": _type_to_json(value),
                **_managed("valueContainsNull", nullable),
            }
        case Unknown(json=text):
            return {"unknown": text}
        case String(collation=collation) if collation != BINARY_COLLATION:
            return {"collation": collation}
        case Atomic(name=name):
            return name
        case _:
            return print_type(type_)


def _struct(value: object) -> Struct:
    return Struct(tuple(map(_field, list_of(value))))


def _field(value: object) -> Field:
    members = object_of(value)
    name, number, physical = members["name"], members.get("id"), members.get("physical_name")
    return Field(
        name=text_of(name),
        type=_type(members["type"]),
        nullable=flag_of(members["nullable"]),
        comment=_optional_text(members, "comment"),
        default=_optional_text(members, "default"),
        generated=_optional_text(members, "generated"),
        identity=_identity(members["identity"]) if "identity" in members else UNMANAGED,
        type_changes=(
            tuple(map(_recorded, list_of(members["type_changes"])))
            if "type_changes" in members
            else UNMANAGED
        ),
        column_id=None if number is None else number_of(number),
        physical_name=optional_text_of(physical),
        renamed_from=optional_text_of(members.get("renamed_from")),
        extra=tuple((key, text_of(text)) for key, text in object_of(members.get("extra", {})).items()),
    )


def _optional_text(members: Content, key: str) -> str | Unmanaged | None:
    return optional_text_of(members[key]) if key in members else UNMANAGED


def _identity(value: object) -> Identity | None:
    if value is None:
        return None
    members = object_of(value)
    return Identity(
        number_of(members["start"]), number_of(members["step"]), flag_of(members["allow_explicit_insert"])
    )


def _recorded(value: object) -> RecordedChange:
    members = object_of(value)
    version = members["version"]
    return RecordedChange(
        _type(members["from"]),
        _type(members["to"]),
        tuple(Part(text_of(part)) for part in list_of(members["at"])),
        None if version is None else number_of(version),
    )


def _type(value: object) -> DataType:
    if isinstance(value, str):
        return _named_type(value)
    members = object_of(value)
    if "fields" in members:
        return _struct(members["fields"])
    if "elementType" in members:
        return Array(_type(members["elementType"]), _nullable(members, "containsNull"))
    if "keyType" in members:
        key, inner = _type(members["keyType"]), _type(members["valueType"])
        return Map(key, inner, _nullable(members, "valueContainsNull"))
    if "collation" in members:
        return String(text_of(members["collation"]))
    return Unknown(text_of(members["unknown"]))


def _named_type(name: str) -> DataType:
    match = _WITH_NUMBERS.fullmatch(name)
    if match is None:
        return String() if name == "string" else Atomic(name)
    kind, first, second = match[1], int(match[2]), match[3]
    if kind == "decimal":
        return Decimal(first, int(second or 0))
    return Char(first) if kind == "char" else Varchar(first)


def _nullable(members: Content, key: str) -> bool | Unmanaged:
    return flag_of(members[key]) if key in members else UNMANAGED


def _path(value: object) -> Path:
    return path_from_json(list_of(value))


def _deletion(value: object) -> Deletion:
    members = object_of(value)
    return Deletion(_path(members["column"]), _type(members["type"]) if "type" in members else None)


def _entries(value: object) -> dict[str, str | None]:
    return {key: optional_text_of(text) for key, text in object_of(value).items()}


class Content(dict[str, object]):
    """A JSON object; a key that it lacks is a `ValueError`."""

    def __missing__(self, key: str) -> NoReturn:
        """Refuse a key that is missing."""
        raise ValueError(f"{key} is missing")


def object_of(value: object) -> Content:
    """Return a value that must be an object."""
    return Content(value) if isinstance(value, dict) else _refuse(value, "an object")


def list_of(value: object) -> list[object]:
    """Return a value that must be a list."""
    return value if isinstance(value, list) else _refuse(value, "a list")


def text_of(value: object) -> str:
    """Return a value that must be text."""
    return value if isinstance(value, str) else _refuse(value, "text")


def number_of(value: object) -> int:
    """Return a value that must be a whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else _refuse(value, "a number")


def flag_of(value: object) -> bool:
    """Return a value that must be true or false."""
    return value if isinstance(value, bool) else _refuse(value, "true or false")


def optional_text_of(value: object) -> str | None:
    """Return a value that must be text or null."""
    return None if value is None else text_of(value)


def _refuse(value: object, expected: str) -> NoReturn:
    raise ValueError(f"expected {expected}, not a {type(value).__name__}")


def consumer_to_json(consumer: Consumer) -> dict[str, object]:
    """Return all that is declared of a consumer, and nothing that changes by itself."""
    stream = consumer.stream
    return {
        "name": consumer.name,
        "client": consumer.client,
        "version": consumer.version,
        "read_path": consumer.read_path,
        "access": consumer.access,
        "columns": [path_to_json(path) for path in consumer.columns],
        "owner": consumer.owner,
        "cdf": consumer.cdf,
        "stream": stream
        and {
            "checkpoint": stream.checkpoint,
            "schema_tracking_location": stream.schema_tracking_location,
            "source": stream.source,
            "checkpoint_scheme": stream.checkpoint_scheme,
            "unblock": {kind.key: until for kind, until in stream.unblock.items()},
        },
    }


def consumer_from_json(value: object) -> Consumer:
    """Return the consumer of a JSON value.

    Raises:
        LookupError, TypeError, ValueError: The value is no consumer.
    """
    content = object_of(value)
    return Consumer(
        name=text_of(content["name"]),
        client=optional_text_of(content["client"]),
        version=optional_text_of(content["version"]),
        read_path=optional_text_of(content["read_path"]),
        access=text_of(content["access"]),
        columns=tuple(map(_path, list_of(content["columns"]))),
        owner=optional_text_of(content["owner"]),
        cdf=flag_of(content["cdf"]),
        stream=None
        if content["stream"] is None
        else declared_stream(_stream_keys(object_of(content["stream"]))),
    )


def _stream_keys(content: Content) -> Json:
    return {
        "checkpoint": text_of(content["checkpoint"]),
        "schema_tracking_location": optional_text_of(content["schema_tracking_location"]),
        "source": number_of(content["source"]),
        "checkpoint_scheme": optional_text_of(content["checkpoint_scheme"]),
        "unblock": {
            kind: until if until == "always" else number_of(until)
            for kind, until in object_of(content["unblock"]).items()
        },
    }
