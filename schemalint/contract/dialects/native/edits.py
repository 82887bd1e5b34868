"""Set properties and record type changes in the text of a native contract."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

from schemalint.base.document import (
    Document,
    Node,
    TextEdit,
    append_items,
    common_length,
    entries_of,
    items_of,
    node_at,
    read_documents,
    remove_entries,
    set_keys,
    splice,
    text_of,
    value_of,
)
from schemalint.base.document import Path as YamlPath
from schemalint.base.errors import ContractError
from schemalint.base.values import frozen, grouped
from schemalint.contract.dialects.native.data import property_value, type_change
from schemalint.contract.dialects.native.declared import declared_type
from schemalint.contract.dialects.native.history import split_at_field
from schemalint.contract.dialects.native.printing import print_value
from schemalint.contract.dialects.native.spans import Written, written_columns
from schemalint.contract.dialects.native.texts import path_in
from schemalint.delta import datatype, properties
from schemalint.delta.datatype import Managed, RecordedChange, Struct, Unmanaged
from schemalint.delta.path import Path, format_path, lowercased, prefixes
from schemalint.model.finding import RecordTypeChanges

_HISTORY: Final = "type_changes"
_PROPERTIES: Final = "properties"


def set_properties(
    document: Document, values: Mapping[str, Managed[str | None]], target: str | None
) -> Document:
    """Set properties in the target's overlay if they are there, else for all targets; remove unmanaged ones.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    written = _written_properties(document, target)
    to_set: dict[YamlPath, str] = {}
    to_remove: list[YamlPath] = []
    for key, value in values.items():
        canonical = properties.canonical(key)
        yaml_path = written.get(canonical)
        if not isinstance(value, Unmanaged):
            to_set[yaml_path or (_PROPERTIES, canonical)] = print_value(property_value(value))
        elif yaml_path:
            to_remove.append(yaml_path)
    document = with_values(document, to_set)
    return without_entries(document, to_remove)


def _written_properties(document: Document, target: str | None) -> dict[str, YamlPath]:
    """Return the paths of the properties, the first of each name, those in the target's overlay first."""
    found: dict[str, YamlPath] = {}
    for yaml_path in yaml_paths(_PROPERTIES, target):
        for entry in entries_of(node_at(document, yaml_path)):
            found.setdefault(properties.canonical(entry.key.text), (*yaml_path, entry.key.text))
    return found


def yaml_paths(key: str, target: str | None) -> Iterator[YamlPath]:
    """Yield the paths in the document where a setting can be, the target's overlay first."""
    if target is not None:
        yield ("targets", target, key)
    yield (key,)


def record_type_changes(document: Document, columns: Struct, edits: Iterable[RecordTypeChanges]) -> Document:
    """Record the complete histories of fields; existing entries keep their spelling.

    Args:
        document: The document of a valid contract.
        columns: The columns that it declares.
        edits: The fields' paths and their histories, each field once.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    found = tuple(edits)
    if not found:
        return document
    existing_of_field = _existing_entries(document, columns)
    added: dict[YamlPath, list[str]] = {}
    removed: list[YamlPath] = []
    empty: dict[YamlPath, str] = {}
    for edit, level in zip(found, nearest_levels(document, [edit.path for edit in found]), strict=True):
        history_path = (*level.yaml_path, _HISTORY)
        inner_path = edit.path[len(level.path) :]
        existing = existing_of_field.get(lowercased(edit.path), ())
        kept = common_length(tuple(entry.change for entry in existing), edit.changes)
        if kept < len(edit.changes) and any(
            entry.yaml_path[:-1] != history_path for entry in existing[:kept]
        ):
            kept = 0  # entries added on this level would be read before those on another level
        for change in edit.changes[kept:]:
            value = print_value(type_change(change, (*inner_path, *change.at)))
            added.setdefault(history_path, []).append(value)
        removed += [entry.yaml_path for entry in existing[kept:]]
        if not edit.changes and node_at(document, history_path) is None:
            empty[history_path] = "[]"
    if added:
        document = with_edit(document, *append_items(document, added))
    document = without_entries(document, removed)
    return with_values(document, {path: value for path, value in empty.items() if path not in added})


def with_edit(document: Document, *edits: TextEdit) -> Document:
    """Return the document after edits."""
    return read_documents(splice(document.text, edits), document.file)[document.index]


def with_values(document: Document, values: Mapping[YamlPath, str]) -> Document:
    """Return the document with values at paths, which end with keys."""
    return with_edit(document, *set_keys(document, values)) if values else document


def without_entries(document: Document, paths: Collection[YamlPath]) -> Document:
    """Return the document without the entries or items at paths."""
    return with_edit(document, *remove_entries(document, paths)) if paths else document


def nearest_level(document: Document, path: Path) -> Written:
    """Return the innermost level (column or part with a YAML mapping of its own) at or around a path.

    Raises:
        ContractError: The contract does not have the column.
    """
    return nearest_levels(document, [path])[0]


def nearest_levels(document: Document, paths: Iterable[Path]) -> list[Written]:
    """Return the `nearest_level` of each path."""
    levels = {lowercased(level.path): level for level in reversed(tuple(written_columns(document)))}
    found: list[Written] = []
    for path in paths:
        around = [levels[prefix] for prefix in prefixes(lowercased(path)) if prefix in levels]
        if not around:
            message = f"column {format_path(path[:1])} is no longer in the contract"
            location = document.location(document.span)
            raise ContractError(message, help="run the check again", location=location)
        found.append(around[-1])
    return found


@frozen
class Record:
    """An entry of ``type_changes``.

    Attributes:
        level: The column or part with the key ``type_changes``.
        yaml_path: The path of the entry in the document.
        path: The path of the changed type in the schema.
        node: The entry.
    """

    level: Written
    yaml_path: YamlPath
    path: Path
    node: Node


def records(document: Document, columns: Struct) -> Iterator[Record]:
    """Yield all entries of ``type_changes``, in the order of the text."""
    for level in written_columns(document):
        type_ = datatype.type_at(columns, level.path)
        for index, node in enumerate(items_of(value_of(level.node, _HISTORY))):
            at = text_of(node, "at")
            inner_path = (path_in(type_, at) if at and type_ else None) or ()
            yield Record(level, (*level.yaml_path, _HISTORY, index), (*level.path, *inner_path), node)


@frozen
class _ExistingEntry:
    """An entry of ``type_changes`` that belongs to one field.

    Attributes:
        yaml_path: The path of the entry in the document.
        change: The recorded type change.
    """

    yaml_path: YamlPath
    change: RecordedChange


def _existing_entries(document: Document, columns: Struct) -> dict[Path, tuple[_ExistingEntry, ...]]:
    """Return the entries of each field in reading order: those written on inner fields first."""
    found: list[tuple[int, Path, _ExistingEntry]] = []
    for record in records(document, columns):
        field, inner_path = split_at_field(record.path)
        change = RecordedChange(
            declared_type(text_of(record.node, "from")), declared_type(text_of(record.node, "to")), inner_path
        )
        depth = len(split_at_field(record.level.path)[0])
        found.append((-depth, lowercased(field), _ExistingEntry(record.yaml_path, change)))
    found.sort(key=lambda entry: entry[0])
    return grouped((field, entry) for _depth, field, entry in found)
