"""Edit types in a native contract, as type text or written out level by level."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypeVar

from schemalint.base.document import (
    Document,
    Entry,
    Mapping,
    Node,
    Scalar,
    TextEdit,
    remove_entry,
    set_key,
    splice,
)
from schemalint.base.document.scalars import quote
from schemalint.base.errors import ContractError
from schemalint.base.printable import printable
from schemalint.base.values import replace
from schemalint.contract.dialects.native.data import Data, column
from schemalint.contract.dialects.native.declared import declared_type
from schemalint.contract.dialects.native.edits import (
    nearest_level,
    record_type_changes,
    records,
    with_edit,
    without_entries,
)
from schemalint.contract.dialects.native.printing import print_alone, print_value
from schemalint.contract.dialects.native.spans import Written
from schemalint.delta import datatype
from schemalint.delta.datatype import UNMANAGED, Array, DataType, Field, Managed, Map, Struct, with_parts
from schemalint.delta.path import Path, format_path, lowercased, prefixes
from schemalint.delta.type_text import parse_type_with_spans, print_type
from schemalint.model.finding import RecordTypeChanges

T = TypeVar("T")

# The keys of nested types, where a type is written out level by level.
_NESTED_KEYS: Final = ("columns", "element", "key", "value")


def in_type_text(document: Document, columns: Struct, *paths: Path) -> Document:
    """Replace parts in the type text that contains them; write the type out if text cannot express it.

    Args:
        document: The document to edit.
        columns: The columns after the edit.
        paths: The paths of the parts, in one type text; none is inside another.

    Raises:
        ContractError: The type cannot be edited in place.
    """
    level = nearest_level(document, paths[0])
    written = level.node.entry("type")
    whole, parts = datatype.type_at(columns, level.path), [datatype.type_at(columns, path) for path in paths]
    if written is None or not isinstance(written.value, Scalar) or whole is None or None in parts:
        message = f"the type of {format_path(paths[0])} cannot be edited in place"
        location = document.location(level.node.span)
        raise ContractError(message, help="make the change by hand", location=location)
    text = written.value.text
    spans = {lowercased(part_path): span for part_path, span in parse_type_with_spans(text).spans.items()}
    places = [spans[lowercased(path[len(level.path) :])] for path in paths]
    text = splice(
        text,
        [TextEdit(*place, print_type(part)) for place, part in zip(places, parts, strict=True) if part],
    )
    if declared_type(text) != _bare(whole):
        return with_type(document, level, whole)
    return with_edit(document, set_key(document, level.yaml_path, "type", spelled(level.node, "type", text)))


def with_type(document: Document, level: Written, type_: DataType) -> Document:
    """Set the type of a level: as text if text can express it, else written out level by level."""
    keys = column(Field("", _bare(type_)))
    for key in ("type", *_NESTED_KEYS):
        if key in keys:
            value = spelled(level.node, key, keys[key])
            document = with_edit(document, set_key(document, level.yaml_path, key, value))
        elif level.node.entry(key):
            document = with_edit(document, remove_entry(document, (*level.yaml_path, key)))
    return document


def with_records(document: Document, columns: Struct, path: Path, type_: DataType) -> Document:
    """Add the recorded type changes of the fields inside a new type."""
    edits = [
        RecordTypeChanges((*inner_path, field.name), field.type_changes)
        for inner_path, inner in datatype.walk(type_, path)
        for field in (inner.fields if isinstance(inner, Struct) else ())
        if field.type_changes and isinstance(field.type_changes, tuple)
    ]
    return record_type_changes(document, columns, edits)


def without_records(
    document: Document, columns: Struct, paths: Iterable[Path], *, below: bool = False
) -> Document:
    """Remove the entries of ``type_changes`` whose paths removals invalidate.

    Args:
        document: The document to edit.
        columns: The columns that it declares.
        paths: The paths of the removed fields. Entries on levels above them are removed here; entries on
            their own levels are removed together with the fields.
        below: Keep the fields, and remove the entries of their parts instead.
    """
    removed = set(map(lowercased, paths))
    invalid = [
        record.yaml_path
        for record in records(document, columns)
        for path in prefixes(lowercased(record.path))
        if path in removed and (len(record.path) > len(path) if below else len(record.level.path) < len(path))
    ]
    return without_entries(document, invalid)


def spelled(node: Node | None, key: str, value: Data) -> str:
    """Print a value with the quotes of the old value, where possible."""
    return spelled_like(node.entry(key) if isinstance(node, Mapping) else None, node, value)


def spelled_like(entry: Entry | None, node: Node | None, value: Data) -> str:
    """Print a value of a mapping with the quotes of an entry's value, where possible."""
    style = entry.value.style if entry and isinstance(entry.value, Scalar) else "plain"
    if isinstance(value, str) and style == "double":
        return quote(value)
    if isinstance(value, str) and style == "single" and printable(value) == value:
        return "'" + value.replace("'", "''") + "'"
    in_brackets = isinstance(node, Mapping) and node.flow
    return print_value(value) if in_brackets else print_alone(value)


def _bare(type_: DataType) -> DataType:
    """Return a type without recorded type changes, and with null details unmanaged, as in type text."""
    match type_:
        case Struct(fields=fields):
            return Struct(tuple(_bare_field(field) for field in fields))
        case Array() | Map():
            return with_parts(type_, {part: _bare(inner) for part, inner in datatype.parts(type_)})
        case _:
            return type_


def _bare_field(field: Field) -> Field:
    return replace(
        field,
        type=_bare(field.type),
        comment=_null_as_unmanaged(field.comment),
        default=_null_as_unmanaged(field.default),
        generated=_null_as_unmanaged(field.generated),
        identity=_null_as_unmanaged(field.identity),
        type_changes=UNMANAGED,
    )


def _null_as_unmanaged(value: Managed[T | None]) -> Managed[T | None]:
    return UNMANAGED if value is None else value
