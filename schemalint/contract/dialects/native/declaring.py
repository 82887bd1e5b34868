"""Write changes of a table into the text of its native contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias, assert_never

from schemalint.contract.dialects.native.data import Data, column, deletion
from schemalint.contract.dialects.native.edits import (
    nearest_level,
    record_type_changes,
    records,
    set_property,
    with_edit,
)
from schemalint.contract.dialects.native.printing import print_block, print_value
from schemalint.contract.dialects.native.spans import Written
from schemalint.contract.dialects.native.typeedits import (
    in_type_text,
    spelled,
    with_records,
    with_type,
    without_records,
)
from schemalint.delta import datatype, properties
from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    CommentChanged,
    ConstraintChanged,
    DefaultChanged,
    DeletionListed,
    DeletionUnlisted,
    DescriptionChanged,
    FeatureChanged,
    FieldAdded,
    FieldMoved,
    FieldRemoved,
    FieldRenamed,
    GeneratedChanged,
    IdentityChanged,
    NullabilityChanged,
    PartitioningChanged,
    PropertyChanged,
    TableAdded,
    TableChange,
    TableRemoved,
    TypeChanged,
    TypeHistoryChanged,
)
from schemalint.delta.datatype import UNMANAGED, Identity, Managed, Struct, Unmanaged
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import Path, format_path, lowercased, path_key, split_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.protocol import canonical
from schemalint.delta.renames import renames_of
from schemalint.delta.table import Deletion, TableState
from schemalint.document import (
    Document,
    Mapping,
    Node,
    Scalar,
    Sequence,
    append_item,
    append_items,
    insert_item,
    node_at,
    remove_entry,
    set_key,
)
from schemalint.document import Path as YamlPath
from schemalint.errors import ContractError
from schemalint.model.change_kind import kind_of
from schemalint.model.finding import RecordTypeChanges, SetProperty
from schemalint.values import as_dict

_Attribute = NullabilityChanged | CommentChanged | DefaultChanged | GeneratedChanged | IdentityChanged
_Setting: TypeAlias = TableChange | FieldMoved | TypeHistoryChanged
_KEYS: Final[dict[type, str]] = {
    NullabilityChanged: "nullable",
    CommentChanged: "comment",
    DefaultChanged: "default",
    GeneratedChanged: "generated",
    IdentityChanged: "identity",
}


def declare(document: Document, state: TableState, change: Change, target: str | None) -> str:
    """Return the file's text after the contract declares a change.

    Args:
        document: The document of a valid contract.
        state: The state that the contract declares.
        change: The change of that state; its path uses the new names of all parents.
        target: The target whose overlay to edit; None for the shared settings.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    match change:
        case FieldAdded() | FieldRemoved() | FieldRenamed() | TypeChanged():
            return _column(document, state, change).text
        case TypeHistoryChanged(path=path, new=tuple() as history):
            return record_type_changes(document, state.columns, RecordTypeChanges(path, history))
        case (
            NullabilityChanged()
            | CommentChanged()
            | DefaultChanged()
            | GeneratedChanged()
            | IdentityChanged()
        ):
            return _attribute(document, state, change).text
        case PropertyChanged(key=key, new=Unmanaged()):
            return _without_property(document, key, target).text
        case PropertyChanged(key=key, new=str() | None as value):
            return set_property(document, SetProperty(key, value), target)
        case _:
            return _setting(document, change, target).text


def declare_renames(document: Document, state: TableState, renames: Iterable[FieldRenamed]) -> Document:
    """Rename fields of one struct, all at once, as a swap needs it.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    found = tuple(renames)
    parent, paths = found[0].path[:-1], renames_of(found)
    levels = [nearest_level(document, (*parent, renamed.old_name)) for renamed in found]
    for record in records(document, state.columns):
        depth = len(record.level.path)
        new_path = paths.forward(record.path)[depth:]
        if new_path != record.path[depth:]:
            at = spelled(record.node, "at", format_path(new_path))
            document = with_edit(document, set_key(document, record.yaml_path, "at", at))
    for renamed, level in zip(found, levels, strict=True):
        if not _is_at(level, (*parent, renamed.old_name)):
            return in_type_text(document, apply_changes(state, found).columns, parent)
        for key, name in (("name", str(renamed.path[-1])), ("renamed_from", renamed.old_name)):
            edit = set_key(document, level.yaml_path, key, spelled(level.node, key, name))
            document = with_edit(document, edit)
    return document


def declare_deletions(document: Document, deletions: Iterable[DeletionListed]) -> Document:
    """List columns as dropped, all at once.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    values = [print_value(deletion(Deletion(listed.path, listed.type))) for listed in deletions]
    return with_edit(document, append_items(document, ("dropped",), values))


def _column(
    document: Document,
    state: TableState,
    change: FieldAdded | FieldRemoved | FieldRenamed | TypeChanged,
) -> Document:
    match change:
        case FieldAdded():
            return _added(document, state, change)
        case FieldRemoved(path=path):
            document = without_records(document, state.columns, path)
            level = nearest_level(document, path)
            if _is_at(level, path):
                return with_edit(document, remove_entry(document, level.yaml_path))
            return in_type_text(document, apply_changes(state, [change]).columns, path[:-1])
        case FieldRenamed():
            return declare_renames(document, state, (change,))
        case TypeChanged(path=path):
            return _retyped(document, state, change, nearest_level(document, path))


def _added(document: Document, state: TableState, added: FieldAdded) -> Document:
    parent = added.path[:-1]
    yaml_path: YamlPath = ("columns",)
    if parent:
        level = nearest_level(document, parent)
        yaml_path = (*level.yaml_path, "columns")
        if not _is_at(level, parent) or node_at(document, yaml_path) is None:
            columns = apply_changes(state, [added]).columns
            document = in_type_text(document, columns, parent)
            return with_records(document, columns, parent, Struct((added.field,)))
    siblings = node_at(document, yaml_path)
    items = siblings.items if isinstance(siblings, Sequence) else ()
    names = [_name(item) for item in items]
    index = 0 if added.after is None else names.index(added.after.lower()) + 1
    neighbour = items[max(index - 1, 0)] if items else siblings
    in_brackets = isinstance(neighbour, Mapping | Sequence) and neighbour.flow
    data = column(added.field)
    value = print_value(data) if in_brackets else print_block(data)
    return with_edit(document, insert_item(document, yaml_path, index, value))


def _retyped(document: Document, state: TableState, retyped: TypeChanged, level: Written) -> Document:
    columns = apply_changes(state, [retyped]).columns
    if _is_at(level, retyped.path):
        if any(datatype.children(retyped.old)):
            document = without_records(document, state.columns, retyped.path, below=True)
        document = with_type(document, level, retyped.new)
    else:
        document = in_type_text(document, columns, retyped.path)
    return with_records(document, columns, retyped.path, retyped.new)


def _attribute(document: Document, state: TableState, change: _Attribute) -> Document:
    level = nearest_level(document, change.path)
    if not _is_at(level, change.path):
        return in_type_text(document, apply_changes(state, [change]).columns, change.path[:-1])
    key, value = _KEYS[type(change)], _plain(change.new)
    return with_edit(document, set_key(document, level.yaml_path, key, spelled(level.node, key, value)))


def _setting(document: Document, change: _Setting, target: str | None) -> Document:
    """Write a top-level setting of a contract."""
    match change:
        case DescriptionChanged(new=text):
            return _with_key(document, "description", _plain(text))
        case PartitioningChanged(new=tuple() as names):
            return _with_key(document, "partitioned_by", list(names))
        case ClusteringChanged(new=tuple() as paths):
            return _with_key(document, "clustered_by", [format_path(path) for path in paths])
        case ConstraintChanged(name=name, new=str() | None as expression):
            known = node_at(document, ("constraints",))
            keys = [entry.key.text for entry in known.entries] if isinstance(known, Mapping) else []
            key = next((key for key in keys if key.lower() == name), name)
            value = spelled(known, key, expression)
            return with_edit(document, set_key(document, ("constraints",), key, value))
        case FeatureChanged(name=name, new=True):
            return with_edit(document, append_item(document, ("features",), print_value(name)))
        case FeatureChanged(name=name):
            return _without_feature(document, name, target)
        case DeletionListed():
            return declare_deletions(document, [change])
        case DeletionUnlisted(path=path):
            return _without_deletion(document, path)
        case (
            TableAdded()
            | TableRemoved()
            | FieldMoved()
            | TypeHistoryChanged()
            | DescriptionChanged()
            | PropertyChanged()
            | ConstraintChanged()
            | PartitioningChanged()
            | ClusteringChanged()
        ):
            raise ContractError(
                f"this change cannot be written into a contract: {kind_of(change).label}",
                help="edit the contract by hand",
                location=document.location(document.span),
            )
        case _:
            assert_never(change)


def _with_key(document: Document, key: str, value: Data) -> Document:
    return with_edit(document, set_key(document, (), key, spelled(document.root, key, value)))


def _without_property(document: Document, key: str, target: str | None) -> Document:
    for yaml_path in _yaml_paths("properties", target):
        node = node_at(document, yaml_path)
        for entry in node.entries if isinstance(node, Mapping) else ():
            if properties.canonical(entry.key.text) == key:
                return with_edit(document, remove_entry(document, (*yaml_path, entry.key.text)))
    return document


def _without_feature(document: Document, name: str, target: str | None) -> Document:
    for yaml_path in _yaml_paths("features", target):
        for index, item in enumerate(_items(node_at(document, yaml_path))):
            if isinstance(item, Scalar) and canonical(item.text) == name:
                return with_edit(document, remove_entry(document, (*yaml_path, index)))
    return _without_property(document, FEATURE_PREFIX + name, target)


def _without_deletion(document: Document, path: Path) -> Document:
    for index, item in enumerate(_items(node_at(document, ("dropped",)))):
        entry = item.entry("column") if isinstance(item, Mapping) else None
        name = entry.value if entry else item
        if isinstance(name, Scalar) and path_key(split_path(name.text)) == path_key(path):
            return with_edit(document, remove_entry(document, ("dropped", index)))
    return document


def _yaml_paths(key: str, target: str | None) -> Iterator[YamlPath]:
    """Yield the paths in the document where a setting can be, the target's overlay first."""
    if target is not None:
        yield ("targets", target, key)
    yield (key,)


def _plain(value: Managed[bool | str | Identity | None]) -> Data:
    if isinstance(value, Identity):
        return as_dict(value)
    return None if value is UNMANAGED else value


def _is_at(level: Written, path: Path) -> bool:
    return lowercased(level.path) == lowercased(path)


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else ()


def _name(item: Node) -> str:
    entry = item.entry("name") if isinstance(item, Mapping) else None
    return entry.value.text.lower() if entry and isinstance(entry.value, Scalar) else ""
