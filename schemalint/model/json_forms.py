"""States and consumers as JSON and back, without loss.

A state has the shape of Delta's schema JSON (PROTOCOL.md, "Schema Serialization Format"), with own keys
for what schemas keep in metadata. A key that is absent means unmanaged, as in a contract; null means none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, TypeVar

from schemalint.base.json_object import MISSING, JsonObject
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
from schemalint.delta.type_json import type_of_name
from schemalint.delta.type_text import print_type
from schemalint.model.consumer import Consumer, Stream, declared_stream

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


def own_json(value: object) -> JsonObject:
    """Return a value that must be a JSON object; its methods raise a `ValueError`."""
    return JsonObject.of(value, _refused)


def _refused(path: str, expected: str, found: object) -> ValueError:
    if found is MISSING:
        return ValueError(f"{path} is missing")
    return ValueError(f"{path}: expected {expected}, not a {type(found).__name__}".removeprefix(": "))


def state_from_json(content: JsonObject) -> TableState:
    """Return the state of a JSON object.

    Raises:
        ValueError: The object was not made by `state_to_json`.
    """
    return TableState(
        columns=_struct(content, "columns"),
        description=_managed_text(content, "description"),
        partitioned_by=content.texts("partitioned_by") if "partitioned_by" in content else UNMANAGED,
        clustered_by=paths_of(content, "clustered_by") if "clustered_by" in content else UNMANAGED,
        constraints=_entries(content.inner("constraints")),
        properties=_entries(content.inner("properties")),
        features=frozenset(content.texts("features")),
        dropped=tuple(map(_deletion, content.objects("dropped"))),
    )


def _managed(key: str, value: object) -> Json:
    if isinstance(value, Unmanaged):
        return {}
    return {key: value}


def _listed(value: tuple[T, ...] | Unmanaged) -> list[T] | Unmanaged:
    if isinstance(value, Unmanaged):
        return value
    return list(value)


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


def _struct(members: JsonObject, key: str) -> Struct:
    return Struct(tuple(map(_field, members.objects(key))))


def _field(members: JsonObject) -> Field:
    extra = members.pairs("extra") if "extra" in members else {}
    return Field(
        name=members.text("name"),
        type=_type(members, "type"),
        nullable=members.flag("nullable"),
        comment=_managed_text(members, "comment"),
        default=_managed_text(members, "default"),
        generated=_managed_text(members, "generated"),
        identity=_identity(members) if "identity" in members else UNMANAGED,
        type_changes=_recorded(members) if "type_changes" in members else UNMANAGED,
        column_id=members.optional("id", int),
        physical_name=members.optional("physical_name", str),
        renamed_from=members.optional("renamed_from", str),
        extra=tuple(extra.items()),
    )


def _managed_text(members: JsonObject, key: str) -> str | Unmanaged | None:
    if key in members:
        return members.nullable(key, str)
    return UNMANAGED


def _identity(members: JsonObject) -> Identity | None:
    if members.content["identity"] is None:
        return None
    identity = members.inner("identity")
    return Identity(identity.number("start"), identity.number("step"), identity.flag("allow_explicit_insert"))


def _recorded(members: JsonObject) -> tuple[RecordedChange, ...]:
    return tuple(
        RecordedChange(
            _type(entry, "from"),
            _type(entry, "to"),
            tuple(map(Part, entry.texts("at"))),
            entry.nullable("version", int),
        )
        for entry in members.objects("type_changes")
    )


def _type(members: JsonObject, key: str) -> DataType:
    name = members.content.get(key)
    if isinstance(name, str):
        return _named_type(name)
    type_ = members.inner(key)
    if "fields" in type_:
        return _struct(type_, "fields")
    if "elementType" in type_:
        return Array(_type(type_, "elementType"), _nullable(type_, "containsNull"))
    if "keyType" in type_:
        inner = _type(type_, "valueType")
        return Map(_type(type_, "keyType"), inner, _nullable(type_, "valueContainsNull"))
    if "collation" in type_:
        return String(type_.text("collation"))
    return Unknown(type_.text("unknown"))


@lru_cache(maxsize=1_024)  # one value for each name: equal types of many fields are compared at once
def _named_type(name: str) -> DataType:
    if (known := type_of_name(name)) is not None:
        return known
    match = _WITH_NUMBERS.fullmatch(name)
    if match is None:
        return Atomic(name)
    kind, first, second = match[1], int(match[2]), match[3]
    if kind == "decimal":
        return Decimal(first, int(second or 0))
    if kind == "char":
        return Char(first)
    return Varchar(first)


def _nullable(members: JsonObject, key: str) -> bool | Unmanaged:
    if key in members:
        return members.flag(key)
    return UNMANAGED


def path_of(members: JsonObject, key: str) -> Path:
    """Return the path that a list names."""
    return path_from_json(item for item, _path in members.items(key))


def paths_of(members: JsonObject, key: str) -> tuple[Path, ...]:
    """Return the paths that a list of lists names."""
    return tuple(path_from_json(members.require(item, list, path)) for item, path in members.items(key))


def _deletion(members: JsonObject) -> Deletion:
    return Deletion(path_of(members, "column"), _type(members, "type") if "type" in members else None)


def _entries(members: JsonObject) -> dict[str, str | None]:
    return {key: members.nullable(key, str) for key in members.content}


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


def consumer_from_json(content: JsonObject) -> Consumer:
    """Return the consumer of a JSON object.

    Raises:
        LookupError, TypeError, ValueError: The value is no consumer.
    """
    return Consumer(
        name=content.text("name"),
        client=content.nullable("client", str),
        version=content.nullable("version", str),
        read_path=content.nullable("read_path", str),
        access=content.text("access"),
        columns=paths_of(content, "columns"),
        owner=content.nullable("owner", str),
        cdf=content.flag("cdf"),
        stream=_stream(content.inner("stream")) if content.nullable("stream", dict) is not None else None,
    )


def _stream(content: JsonObject) -> Stream:
    unblock = content.inner("unblock")
    return declared_stream(
        {
            "checkpoint": content.text("checkpoint"),
            "schema_tracking_location": content.nullable("schema_tracking_location", str),
            "source": content.number("source"),
            "checkpoint_scheme": content.nullable("checkpoint_scheme", str),
            "unblock": {
                kind: until if until == "always" else unblock.number(kind)
                for kind, until in unblock.content.items()
            },
        }
    )
