"""The metadata that Delta and Spark store for the fields of a schema, as `Field` values and back.

Sources of the keys: PROTOCOL.md ("Column Metadata", "Type Change Metadata", "Column Mapping", "Identity
Columns") and ResolveDefaultColumnsUtils.scala of Spark.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, TypeAlias, TypeVar

from schemalint.delta.datatype import Atomic, DataType, Decimal, Field, Identity, RecordedChange, items_of
from schemalint.delta.path import Part
from schemalint.delta.type_json import (
    COLLATIONS,
    RAW_TYPE,
    collations,
    name_of_type,
    raw_type,
    type_of_name,
    with_collations,
    with_lengths,
)
from schemalint.delta.type_text import TypeTextError, parse_type, print_type

COMMENT: Final = "comment"
DEFAULT: Final = "CURRENT_DEFAULT"
GENERATED: Final = "delta.generationExpression"
COLUMN_ID: Final = "delta.columnMapping.id"
PHYSICAL_NAME: Final = "delta.columnMapping.physicalName"
IDENTITY_START: Final = "delta.identity.start"
IDENTITY_STEP: Final = "delta.identity.step"
IDENTITY_HIGH_WATER_MARK: Final = "delta.identity.highWaterMark"
IDENTITY_EXPLICIT: Final = "delta.identity.allowExplicitInsert"
TYPE_CHANGES: Final = "delta.typeChanges"

Metadata: TypeAlias = dict[str, object]
"""The metadata of one field, as parsed JSON."""

T = TypeVar("T")


def with_metadata(
    name: str, type_: DataType, metadata: Mapping[str, object], *, nullable: bool, top_level: bool
) -> Field:
    """Build a field from its schema entry.

    Metadata that is unknown or malformed becomes ``Field.extra``, sorted by key, because Spark's key order
    differs between commits.

    Args:
        name: The name of the field.
        type_: Its type, without what its metadata says of it.
        metadata: The metadata of its entry.
        nullable: Whether it can be NULL.
        top_level: Whether the field is a column. Spark ignores lengths of char and varchar in the metadata of
            other fields (measured on Delta 4.4.0).
    """
    rest: Metadata = dict(metadata)
    type_ = _take_collations(rest, name, type_)
    if top_level:
        type_ = _take_lengths(rest, type_)
    return Field(
        name,
        type_,
        nullable,
        comment=_take(rest, COMMENT, str),
        default=_take(rest, DEFAULT, str),
        generated=_take(rest, GENERATED, str),
        identity=_take_identity(rest),
        type_changes=_take_type_changes(rest),
        column_id=_take(rest, COLUMN_ID, int),
        physical_name=_take(rest, PHYSICAL_NAME, str),
        # What is not taken above.
        extra=tuple((key, json.dumps(rest[key], sort_keys=True)) for key in sorted(rest)),
    )


def metadata_of(field: Field, *, top_level: bool) -> Metadata:
    """Return the metadata of a field; the inverse of `with_metadata`.

    Unmanaged values are omitted, and ``extra`` overrides all other keys.

    Args:
        field: The field.
        top_level: Whether the field is a column. Spark stores lengths of char and varchar only on columns,
            for all depths.
    """
    metadata: Metadata = {}
    for key, text in ((COMMENT, field.comment), (DEFAULT, field.default), (GENERATED, field.generated)):
        if isinstance(text, str):
            metadata[key] = text
    if field.column_id is not None:
        metadata[COLUMN_ID] = field.column_id
    if field.physical_name is not None:
        metadata[PHYSICAL_NAME] = field.physical_name
    if isinstance(field.identity, Identity):
        metadata[IDENTITY_START] = field.identity.start
        metadata[IDENTITY_STEP] = field.identity.step
        metadata[IDENTITY_EXPLICIT] = field.identity.allow_explicit_insert
    if type_changes := items_of(field.type_changes):
        metadata[TYPE_CHANGES] = [_type_change_json(change) for change in type_changes]
    if identifiers := collations(field.name, field.type):
        metadata[COLLATIONS] = identifiers
    if top_level and (text := raw_type(field.type)):
        metadata[RAW_TYPE] = text
    metadata.update((key, json.loads(text)) for key, text in field.extra)
    return metadata


def _take(metadata: Metadata, key: str, kind: type[T]) -> T | None:
    value = metadata.get(key)
    if type(value) is not kind:  # isinstance(True, int) is true
        return None
    del metadata[key]
    return value


def _take_collations(metadata: Metadata, name: str, type_: DataType) -> DataType:
    identifiers = metadata.get(COLLATIONS)
    if not isinstance(identifiers, dict):
        return type_
    collated = with_collations(name, type_, identifiers)
    if identifiers == collations(name, collated):
        del metadata[COLLATIONS]
    return collated


def _take_lengths(metadata: Metadata, type_: DataType) -> DataType:
    text = metadata.get(RAW_TYPE)
    if not isinstance(text, str):
        return type_
    sized = with_lengths(type_, text)
    if text == raw_type(sized):
        del metadata[RAW_TYPE]
    return sized


def _take_identity(metadata: Metadata) -> Identity | None:
    start, step = metadata.get(IDENTITY_START), metadata.get(IDENTITY_STEP)
    explicit = metadata.get(IDENTITY_EXPLICIT)
    if type(start) is not int or type(step) is not int or not isinstance(explicit, bool):
        return None
    for key in (IDENTITY_START, IDENTITY_STEP, IDENTITY_EXPLICIT):
        del metadata[key]
    return Identity(start, step, explicit)


def _take_type_changes(metadata: Metadata) -> tuple[RecordedChange, ...]:
    entries = metadata.get(TYPE_CHANGES)
    if not isinstance(entries, list):
        return ()
    changes = [change for entry in entries if (change := _type_change(entry))]
    if not entries or len(changes) < len(entries):
        return ()
    del metadata[TYPE_CHANGES]
    return tuple(changes)


def _type_change(entry: object) -> RecordedChange | None:
    if not isinstance(entry, dict):
        return None
    from_type, to_type = recorded_type(entry.get("fromType")), recorded_type(entry.get("toType"))
    field_path, version = entry.get("fieldPath"), entry.get("tableVersion")
    if from_type is None or to_type is None or not (version is None or type(version) is int):
        return None
    if field_path is None:
        return RecordedChange(from_type, to_type, (), version)
    if not isinstance(field_path, str):
        return None
    words = field_path.split(".")
    if not set(words) <= {part.value for part in Part}:
        return None
    return RecordedChange(from_type, to_type, tuple(map(Part, words)), version)


def recorded_type(text: object) -> DataType | None:
    """Parse ``fromType`` or ``toType`` of a type change; None if the value is not a type.

    Spark accepts DDL in these keys (``DataType.fromDDL``), so ``bigint`` is valid as well as ``long``.
    """
    if not isinstance(text, str):
        return None
    if type_ := type_of_name(text):
        return type_
    try:
        return parse_type(text)
    except TypeTextError:
        return None


def _type_change_json(change: RecordedChange) -> Metadata:
    entry: Metadata = {}
    if change.version is not None:
        entry["tableVersion"] = change.version
    for key, type_ in (("fromType", change.from_type), ("toType", change.to_type)):
        entry[key] = name_of_type(type_) if isinstance(type_, Atomic | Decimal) else print_type(type_)
    if change.at:
        entry["fieldPath"] = ".".join(part.value for part in change.at)
    return entry
