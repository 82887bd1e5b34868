"""Edits of the types in a native contract: in the text of a type, or where one is written out."""

from __future__ import annotations

from typing import Final, TypeVar

from schemalint.contract.dialects.native.data import Data, column
from schemalint.contract.dialects.native.declared import declared_type
from schemalint.contract.dialects.native.edits import nearest_level, record_type_changes, records, with_edit
from schemalint.contract.dialects.native.printing import print_alone, print_value
from schemalint.contract.dialects.native.spans import Written
from schemalint.delta import datatype
from schemalint.delta.datatype import UNMANAGED, Array, DataType, Field, Managed, Map, Struct, with_parts
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.type_text import parse_type_with_spans, print_type
from schemalint.document import Document, Mapping, Node, Scalar, read_documents, remove_entry, set_key
from schemalint.document.scalars import quote
from schemalint.errors import ContractError
from schemalint.model.finding import RecordTypeChanges
from schemalint.values import replace

T = TypeVar("T")

# What stands beside `type` where a type is written out.
_WRITTEN_OUT: Final = ("columns", "element", "key", "value")


def in_type_text(document: Document, columns: Struct, path: Path) -> Document:
    """The type text around a path, with the part at the path written anew; written out if no text says it.

    Args:
        document: As read.
        columns: What is to be declared.
        path: Of a part of the type.
    """
    level = nearest_level(document, path)
    written = level.node.entry("type")
    whole, part = datatype.type_at(columns, level.path), datatype.type_at(columns, path)
    if written is None or not isinstance(written.value, Scalar) or whole is None or part is None:
        message = f"the type of {format_path(path)} cannot be edited in place"
        place = document.location(level.node.span)
        raise ContractError(message, help="make the change by hand", location=place)
    text, below = written.value.text, lowercased(path[len(level.path) :])
    spans = {lowercased(place): span for place, span in parse_type_with_spans(text).spans.items()}
    start, end = spans[below]
    text = text[:start] + print_type(part) + text[end:]
    if declared_type(text) != _bare(whole):
        return with_type(document, level, whole)
    return with_edit(document, set_key(document, level.place, "type", spelled(level.node, "type", text)))


def with_type(document: Document, level: Written, type_: DataType) -> Document:
    """A level with another type, as text where text says it all, else written out."""
    keys = column(Field("", _bare(type_)))
    for key in ("type", *_WRITTEN_OUT):
        if key in keys:
            value = spelled(level.node, key, keys[key])
            document = with_edit(document, set_key(document, level.place, key, value))
        elif level.node.entry(key):
            document = with_edit(document, remove_entry(document, (*level.place, key)))
    return document


def with_records(document: Document, columns: Struct, path: Path, type_: DataType) -> Document:
    """With the records of the fields in a type that is new."""
    for below, inner in datatype.walk(type_, path):
        for field in inner.fields if isinstance(inner, Struct) else ():
            if field.type_changes and isinstance(field.type_changes, tuple):
                edit = RecordTypeChanges((*below, field.name), field.type_changes)
                text = record_type_changes(document, columns, edit)
                document = read_documents(text, document.file)[document.index]
    return document


def without_records(document: Document, columns: Struct, path: Path, *, below: bool = False) -> Document:
    """Without the entries of ``type_changes`` that would lead nowhere.

    Args:
        document: As read.
        columns: What it declares.
        path: Of a field that goes: the entries on levels above it; those on its own go with it.
        below: The field stays, and its parts go.
    """
    gone = [
        record.place
        for record in records(document, columns)
        if lowercased(record.path[: len(path)]) == lowercased(path)
        and (len(record.path) > len(path) if below else len(record.level.path) < len(path))
    ]
    for place in reversed(gone):
        document = with_edit(document, remove_entry(document, place))
    return document


def spelled(node: Node | None, key: str, value: Data) -> str:
    """A value with the quotes that the old one has, where it can have them."""
    entry = node.entry(key) if isinstance(node, Mapping) else None
    style = entry.value.style if entry and isinstance(entry.value, Scalar) else "plain"
    if isinstance(value, str) and style == "double":
        return quote(value)
    if isinstance(value, str) and style == "single" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    in_brackets = isinstance(node, Mapping) and node.flow
    return print_value(value) if in_brackets else print_alone(value)


def _bare(type_: DataType) -> DataType:
    """A type without what a level says of it beside its `type`, or what goes without saying."""
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
        comment=_said(field.comment),
        default=_said(field.default),
        generated=_said(field.generated),
        identity=_said(field.identity),
        type_changes=UNMANAGED,
    )


def _said(value: Managed[T | None]) -> Managed[T | None]:
    return UNMANAGED if value is None else value
