"""Write changes of a table into the text of its native contract."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence as AbcSequence
from typing import Final, TypeAlias, TypeVar, assert_never

from schemalint.base.document import (
    Document,
    Mapping,
    Scalar,
    Sequence,
    append_item,
    append_items,
    entries_of,
    insert_items,
    items_of,
    node_at,
    remove_entry,
    set_key,
    text_of,
    value_of,
)
from schemalint.base.document import Path as YamlPath
from schemalint.base.errors import ContractError
from schemalint.base.values import as_dict
from schemalint.contract.dialects.native.data import Data, column, deletion
from schemalint.contract.dialects.native.edits import (
    nearest_level,
    nearest_levels,
    record_type_changes,
    records,
    set_properties,
    with_edit,
    with_values,
    without_entries,
    yaml_paths,
)
from schemalint.contract.dialects.native.printing import print_block, print_value
from schemalint.contract.dialects.native.spans import Written
from schemalint.contract.dialects.native.typeedits import (
    in_type_text,
    spelled,
    spelled_like,
    with_records,
    with_type,
    without_records,
)
from schemalint.delta import datatype
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
from schemalint.delta.datatype import UNMANAGED, DataType, Identity, Managed, Struct, Unmanaged
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import Path, format_path, lowercased, path_key, split_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.protocol import canonical
from schemalint.delta.renames import renames_of
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_text import print_type
from schemalint.model.change_kind import kind_of
from schemalint.model.finding import RecordTypeChanges

T = TypeVar("T")

_InPlace: TypeAlias = (
    TypeChanged
    | TypeHistoryChanged
    | NullabilityChanged
    | CommentChanged
    | DefaultChanged
    | GeneratedChanged
    | IdentityChanged
)
_Setting: TypeAlias = TableChange | FieldMoved | TypeHistoryChanged
_CONSTRAINTS: Final = ("constraints",)
_KEYS: Final[dict[type, str]] = {
    TypeChanged: "type",
    NullabilityChanged: "nullable",
    CommentChanged: "comment",
    DefaultChanged: "default",
    GeneratedChanged: "generated",
    IdentityChanged: "identity",
}


def declare(document: Document, state: TableState, changes: AbcSequence[Change], target: str | None) -> str:
    """Return the file's text after the contract declares changes.

    Args:
        document: The document of a valid contract.
        state: The state that the contract declares.
        changes: One change of that state, or several with the same `place`; a path uses the new names of all
            parents.
        target: The target whose overlay to edit; None for the shared settings.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    match changes[0]:
        case FieldAdded():
            return _added(document, state, _only(FieldAdded, changes)).text
        case FieldRemoved():
            return _removed(document, state, _only(FieldRemoved, changes)).text
        case FieldRenamed():
            return declare_renames(document, state, _only(FieldRenamed, changes)).text
        case TypeChanged(old=old, new=new) as retyped if any(map(_is_nested, (old, new))):
            return _retyped(document, state, retyped).text
        case (
            TypeHistoryChanged(new=tuple())
            | TypeChanged()
            | NullabilityChanged()
            | CommentChanged()
            | DefaultChanged()
            | GeneratedChanged()
            | IdentityChanged()
        ):
            in_place = [changed for changed in changes if isinstance(changed, _InPlace)]
            return _changed(document, state, in_place).text
        case PropertyChanged():
            values = {changed.key: changed.new for changed in _only(PropertyChanged, changes)}
            return set_properties(document, values, target).text
        case ConstraintChanged(new=str() | None):
            return _with_constraints(document, _only(ConstraintChanged, changes)).text
        case DeletionListed():
            return _with_deletions(document, _only(DeletionListed, changes)).text
        case DeletionUnlisted():
            return _without_deletions(document, _only(DeletionUnlisted, changes)).text
        case changed:
            return _setting(document, changed, target).text


def place(change: Change) -> object:
    """Return the same key for changes that `declare` takes together; None for one that it takes alone."""
    match change:
        case TypeChanged(old=old, new=new) if any(map(_is_nested, (old, new))):
            return None
        case TypeHistoryChanged(new=Unmanaged()):
            return None
        case FieldAdded(path=path) | FieldRemoved(path=path):
            return type(change), lowercased(path[:-1])
        case _ if isinstance(change, _InPlace):
            return _InPlace, lowercased(change.path[:-1])
        case PropertyChanged() | ConstraintChanged(new=str() | None) | DeletionListed() | DeletionUnlisted():
            return type(change)
        case _:
            return None


def declare_renames(document: Document, state: TableState, renames: Iterable[FieldRenamed]) -> Document:
    """Rename fields of one struct, all at once, as a swap needs it.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    found = tuple(renames)
    parent, paths = found[0].path[:-1], renames_of(found)
    levels = nearest_levels(document, [(*parent, renamed.old_name) for renamed in found])
    values: dict[YamlPath, str] = {}
    for record in records(document, state.columns):
        depth = len(record.level.path)
        new_path = paths.forward(record.path)[depth:]
        if new_path != record.path[depth:]:
            values[*record.yaml_path, "at"] = spelled(record.node, "at", format_path(new_path))
    document = with_values(document, values)
    values = {}
    for renamed, level in zip(found, levels, strict=True):
        if not _is_at(level, (*parent, renamed.old_name)):
            return in_type_text(document, apply_changes(state, found).columns, parent)
        for key, name in (("name", str(renamed.path[-1])), ("renamed_from", renamed.old_name)):
            values[*level.yaml_path, key] = spelled(level.node, key, name)
    return with_values(document, values)


def _removed(document: Document, state: TableState, changes: AbcSequence[FieldRemoved]) -> Document:
    paths = [removed.path for removed in changes]
    document = without_records(document, state.columns, paths)
    levels = list(zip(nearest_levels(document, paths), paths, strict=True))
    if all(_is_at(level, path) for level, path in levels):
        return without_entries(document, [level.yaml_path for level, _path in levels])
    return in_type_text(document, apply_changes(state, changes).columns, paths[0][:-1])


def _added(document: Document, state: TableState, changes: AbcSequence[FieldAdded]) -> Document:
    parent = changes[0].path[:-1]
    yaml_path: YamlPath = ("columns",)
    if parent:
        level = nearest_level(document, parent)
        yaml_path = (*level.yaml_path, "columns")
        if not _is_at(level, parent) or node_at(document, yaml_path) is None:
            columns = apply_changes(state, changes).columns
            document = in_type_text(document, columns, parent)
            return with_records(document, columns, parent, Struct(tuple(added.field for added in changes)))
    siblings = node_at(document, yaml_path)
    items = items_of(siblings)
    # The index of the item that follows each field; what follows a new field follows the same item.
    names = [text_of(item, "name").lower() for item in items]
    following = {name: index for index, name in reversed(list(enumerate(names, start=1)))}
    inserted: dict[int, list[str]] = {}
    for added in changes:
        index = 0 if added.after is None else following[added.after.lower()]
        following[added.field.name.lower()] = index
        neighbour = items[max(index - 1, 0)] if items else siblings
        in_brackets = isinstance(neighbour, Mapping | Sequence) and neighbour.flow
        data = column(added.field)
        inserted.setdefault(index, []).append(print_value(data) if in_brackets else print_block(data))
    return with_edit(document, *insert_items(document, yaml_path, inserted))


def _retyped(document: Document, state: TableState, retyped: TypeChanged) -> Document:
    """Change a type from or to one with parts."""
    columns, level = apply_changes(state, [retyped]).columns, nearest_level(document, retyped.path)
    if _is_at(level, retyped.path):
        if _is_nested(retyped.old):
            document = without_records(document, state.columns, [retyped.path], below=True)
        document = with_type(document, level, retyped.new)
    else:
        document = in_type_text(document, columns, retyped.path)
    return with_records(document, columns, retyped.path, retyped.new)


def _changed(document: Document, state: TableState, changes: AbcSequence[_InPlace]) -> Document:
    """Change types without parts, attributes, and recorded type changes."""
    values: dict[YamlPath, str] = {}
    in_text: list[_InPlace] = []
    histories: list[RecordTypeChanges] = []
    levels = nearest_levels(document, [changed.path for changed in changes])
    for changed, level in zip(changes, levels, strict=True):
        if isinstance(changed, TypeHistoryChanged):
            if isinstance(changed.new, tuple):
                histories.append(RecordTypeChanges(changed.path, changed.new))
        elif _is_at(level, changed.path):
            key = _KEYS[type(changed)]
            values[*level.yaml_path, key] = spelled(level.node, key, _plain(changed.new))
        else:
            in_text.append(changed)
    document = with_values(document, values)
    columns = apply_changes(state, changes).columns
    if in_text:
        types = [changed.path for changed in in_text if isinstance(changed, TypeChanged)]
        paths = types if len(types) == len(in_text) else [in_text[0].path[:-1]]
        document = in_type_text(document, columns, *paths)
    return record_type_changes(document, columns, histories)


def _with_constraints(document: Document, changes: Iterable[ConstraintChanged]) -> Document:
    node = node_at(document, _CONSTRAINTS)
    known = {entry.key.text.lower(): entry for entry in reversed(entries_of(node))}
    values: dict[YamlPath, str] = {}
    for changed in changes:
        entry = known.get(changed.name)
        if not isinstance(changed.new, Unmanaged):
            key = entry.key.text if entry else changed.name
            values[*_CONSTRAINTS, key] = spelled_like(entry, node, changed.new)
    return with_values(document, values)


def _with_deletions(document: Document, changes: Iterable[DeletionListed]) -> Document:
    values = [print_value(deletion(Deletion(listed.path, listed.type))) for listed in changes]
    return with_edit(document, *append_items(document, {("dropped",): values}))


def _without_deletions(document: Document, changes: Iterable[DeletionUnlisted]) -> Document:
    indexes: dict[tuple[str, ...], int] = {}
    for index, item in enumerate(items_of(node_at(document, ("dropped",)))):
        name = value_of(item, "column") or item
        if isinstance(name, Scalar):
            indexes.setdefault(path_key(split_path(name.text)), index)
    found = {indexes.get(path_key(changed.path)) for changed in changes}
    return without_entries(document, [("dropped", index) for index in found if index is not None])


def _setting(document: Document, change: _Setting, target: str | None) -> Document:
    """Write a top-level setting of a contract."""
    match change:
        case DescriptionChanged(new=text):
            return _with_key(document, "description", _plain(text))
        case PartitioningChanged(new=tuple() as names):
            return _with_key(document, "partitioned_by", list(names))
        case ClusteringChanged(new=tuple() as paths):
            return _with_key(document, "clustered_by", [format_path(path) for path in paths])
        case FeatureChanged(name=name, new=True):
            return with_edit(document, append_item(document, ("features",), print_value(name)))
        case FeatureChanged(name=name):
            return _without_feature(document, name, target)
        case (
            TableAdded()
            | TableRemoved()
            | FieldMoved()
            | TypeHistoryChanged()
            | DescriptionChanged()
            | PropertyChanged()
            | ConstraintChanged()
            | DeletionListed()
            | DeletionUnlisted()
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


def _without_feature(document: Document, name: str, target: str | None) -> Document:
    for yaml_path in yaml_paths("features", target):
        for index, item in enumerate(items_of(node_at(document, yaml_path))):
            if isinstance(item, Scalar) and canonical(item.text) == name:
                return with_edit(document, remove_entry(document, (*yaml_path, index)))
    return set_properties(document, {FEATURE_PREFIX + name: UNMANAGED}, target)


def _plain(value: Managed[DataType | bool | str | Identity | None]) -> Data:
    if isinstance(value, DataType):
        return print_type(value)
    if isinstance(value, Identity):
        return as_dict(value)
    return None if value is UNMANAGED else value


def _only(kind: type[T], changes: Iterable[object]) -> list[T]:
    return [changed for changed in changes if isinstance(changed, kind)]


def _is_nested(type_: DataType) -> bool:
    return any(datatype.children(type_))


def _is_at(level: Written, path: Path) -> bool:
    return lowercased(level.path) == lowercased(path)
