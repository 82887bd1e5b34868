"""Edits of a native contract, named by what they change, in its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.contract.dialects.native.data import property_value, type_change
from schemalint.contract.dialects.native.declared import declared_type
from schemalint.contract.dialects.native.history import split_at_field
from schemalint.contract.dialects.native.printing import print_value
from schemalint.contract.dialects.native.spans import Written, written_columns
from schemalint.contract.dialects.native.texts import path_in
from schemalint.delta import datatype, properties
from schemalint.delta.datatype import RecordedChange, Struct
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.document import (
    Document,
    Mapping,
    Node,
    Scalar,
    TextEdit,
    append_item,
    common_length,
    node_at,
    read_documents,
    remove_entry,
    set_key,
    splice,
)
from schemalint.document import Path as YamlPath
from schemalint.document import Sequence as YamlSequence
from schemalint.errors import ContractError
from schemalint.model.finding import RecordTypeChanges, SetProperty
from schemalint.values import frozen

_HISTORY = "type_changes"


def set_property(document: Document, edit: SetProperty, target: str | None) -> str:
    """The file's text with the property set: in the target's overlay if it is set there, else for all."""
    wanted = properties.canonical(edit.key)
    shared: YamlPath = ("properties",)
    for place in (("targets", target, *shared), shared) if target is not None else (shared,):
        node = node_at(document, place)
        for entry in node.entries if isinstance(node, Mapping) else ():
            if properties.canonical(entry.key.text) == wanted:
                return _set(document, place, entry.key.text, edit.value)
    return _set(document, shared, wanted, edit.value)


def record_type_changes(document: Document, columns: Struct, edit: RecordTypeChanges) -> str:
    """The file's text with the whole history of one field; entries that are there stay as they are written.

    Args:
        document: Of a valid contract.
        columns: What it declares.
        edit: The field's path and its history.
    """
    level = nearest_level(document, edit.path)
    place = (*level.place, _HISTORY)
    below = edit.path[len(level.path) :]
    known = _known(document, columns, edit.path)
    kept = common_length([entry.change for entry in known], edit.changes)
    if kept < len(edit.changes) and any(entry.place[:-1] != place for entry in known[:kept]):
        kept = 0  # what is added here would be read before what stands on another level
    for change in edit.changes[kept:]:
        value = print_value(type_change(change, (*below, *change.at)))
        document = with_edit(document, append_item(document, place, value))
    for entry in sorted(known[kept:], key=lambda entry: entry.order, reverse=True):
        document = with_edit(document, remove_entry(document, entry.place))
    if not edit.changes and node_at(document, place) is None:
        document = with_edit(document, set_key(document, level.place, _HISTORY, "[]"))
    return document.text


def with_edit(document: Document, edit: TextEdit) -> Document:
    """The document after an edit."""
    return read_documents(splice(document.text, [edit]), document.file)[document.index]


def nearest_level(document: Document, path: Path) -> Written:
    """The innermost column or part around a path, or at it, that has keys of its own.

    Raises:
        ContractError: There is no such column.
    """
    wanted = lowercased(path)
    around = [
        level for level in written_columns(document) if lowercased(level.path) == wanted[: len(level.path)]
    ]
    if not around:
        message = f"there is no column {format_path(path[:1])} here any more"
        place = document.location(document.span)
        raise ContractError(message, help="run the check again", location=place)
    return max(around, key=lambda level: len(level.path))


@frozen
class Record:
    """An entry of ``type_changes``.

    Attributes:
        level: The column or part that it is written on.
        place: Where in the document.
        path: Of the type that changed, from the columns.
    """

    level: Written
    place: YamlPath
    path: Path
    node: Node


def records(document: Document, columns: Struct) -> Iterator[Record]:
    """All entries of ``type_changes``, in the order of the text."""
    for level in written_columns(document):
        type_ = datatype.type_at(columns, level.path)
        for index, node in enumerate(_entries(level.node)):
            at = _text(node, "at")
            inside = (path_in(type_, at) if at and type_ else None) or ()
            yield Record(level, (*level.place, _HISTORY, index), (*level.path, *inside), node)


@frozen
class _Known:
    """An entry of ``type_changes`` that belongs to the field.

    Attributes:
        order: Where it stands among all entries of the document.
        place: Of the entry.
    """

    order: int
    place: YamlPath
    change: RecordedChange


def _set(document: Document, place: YamlPath, key: str, value: str | None) -> str:
    return with_edit(document, set_key(document, place, key, print_value(property_value(value)))).text


def _known(document: Document, columns: Struct, path: Path) -> list[_Known]:
    """The entries of a field in the order in which they are read: those of inner columns first."""
    found: list[tuple[int, _Known]] = []
    for record in records(document, columns):
        field, inside = split_at_field(record.path)
        if lowercased(field) == lowercased(path):
            change = RecordedChange(
                declared_type(_text(record.node, "from")), declared_type(_text(record.node, "to")), inside
            )
            depth = len(split_at_field(record.level.path)[0])
            found.append((-depth, _Known(len(found), record.place, change)))
    return [entry for _, entry in sorted(found, key=lambda pair: pair[0])]


def _entries(node: Mapping) -> Sequence[Node]:
    entry = node.entry(_HISTORY)
    return entry.value.items if entry and isinstance(entry.value, YamlSequence) else ()


def _text(node: Node, key: str) -> str:
    entry = node.entry(key) if isinstance(node, Mapping) else None
    return entry.value.text if entry and isinstance(entry.value, Scalar) else ""
