"""Changes of a table written into the text of its native contract, each where it belongs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

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
from schemalint.delta import change, datatype, properties
from schemalint.delta.change import Change
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
    insert_item,
    node_at,
    remove_entry,
    set_key,
)
from schemalint.document import Path as YamlPath
from schemalint.errors import ContractError
from schemalint.model.finding import RecordTypeChanges, SetProperty
from schemalint.values import as_dict

_Attribute = (
    change.NullabilityChanged
    | change.CommentChanged
    | change.DefaultChanged
    | change.GeneratedChanged
    | change.IdentityChanged
)
_KEYS: Final[dict[type, str]] = {
    change.NullabilityChanged: "nullable",
    change.CommentChanged: "comment",
    change.DefaultChanged: "default",
    change.GeneratedChanged: "generated",
    change.IdentityChanged: "identity",
}


def declare(document: Document, state: TableState, one: Change, target: str | None) -> str:
    """The file's text, in which the contract says what a change makes of the table.

    Args:
        document: Of a valid contract.
        state: What it declares.
        one: From what it says to what it is to say; its path has the new names of what is above it.
        target: The target whose overlay counts, None for what all share.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    match one:
        case change.FieldAdded() | change.FieldRemoved() | change.FieldRenamed() | change.TypeChanged():
            return _column(document, state, one).text
        case change.TypeHistoryChanged(path=path, new=tuple() as history):
            return record_type_changes(document, state.columns, RecordTypeChanges(path, history))
        case (
            change.NullabilityChanged()
            | change.CommentChanged()
            | change.DefaultChanged()
            | change.GeneratedChanged()
            | change.IdentityChanged()
        ):
            return _attribute(document, state, one).text
        case change.PropertyChanged(key=key, new=Unmanaged()):
            return _without_property(document, key, target).text
        case change.PropertyChanged(key=key, new=str() | None as value):
            return set_property(document, SetProperty(key, value), target)
        case _:
            return _setting(document, one, target).text


def declare_renames(
    document: Document, state: TableState, renames: Iterable[change.FieldRenamed]
) -> Document:
    """The document in which fields of one struct have other names, all at once, as a swap needs it.

    Raises:
        ContractError: The text cannot be edited in place.
    """
    found = tuple(renames)
    parent, names = found[0].path[:-1], renames_of(found)
    levels = [nearest_level(document, (*parent, one.old_name)) for one in found]
    for record in records(document, state.columns):
        depth = len(record.level.path)
        inside = names.forward(record.path)[depth:]
        if inside != record.path[depth:]:
            at = spelled(record.node, "at", format_path(inside))
            document = with_edit(document, set_key(document, record.place, "at", at))
    for one, level in zip(found, levels, strict=True):
        if not _is_at(level, (*parent, one.old_name)):
            return in_type_text(document, apply_changes(state, found).columns, parent)
        for key, name in (("name", str(one.path[-1])), ("renamed_from", one.old_name)):
            edit = set_key(document, level.place, key, spelled(level.node, key, name))
            document = with_edit(document, edit)
    return document


def _column(
    document: Document,
    state: TableState,
    one: change.FieldAdded | change.FieldRemoved | change.FieldRenamed | change.TypeChanged,
) -> Document:
    match one:
        case change.FieldAdded():
            return _added(document, state, one)
        case change.FieldRemoved(path=path):
            document = without_records(document, state.columns, path)
            level = nearest_level(document, path)
            if _is_at(level, path):
                return with_edit(document, remove_entry(document, level.place))
            return in_type_text(document, apply_changes(state, [one]).columns, path[:-1])
        case change.FieldRenamed():
            return declare_renames(document, state, (one,))
        case change.TypeChanged(path=path):
            return _retyped(document, state, one, nearest_level(document, path))


def _added(document: Document, state: TableState, one: change.FieldAdded) -> Document:
    parent = one.path[:-1]
    place: YamlPath = ("columns",)
    if parent:
        level = nearest_level(document, parent)
        place = (*level.place, "columns")
        if not _is_at(level, parent) or node_at(document, place) is None:
            columns = apply_changes(state, [one]).columns
            document = in_type_text(document, columns, parent)
            return with_records(document, columns, parent, Struct((one.field,)))
    siblings = node_at(document, place)
    items = siblings.items if isinstance(siblings, Sequence) else ()
    names = [_name(item) for item in items]
    index = 0 if one.after is None else names.index(one.after.lower()) + 1
    neighbour = items[max(index - 1, 0)] if items else siblings
    in_brackets = isinstance(neighbour, Mapping | Sequence) and neighbour.flow
    data = column(one.field)
    value = print_value(data) if in_brackets else print_block(data)
    return with_edit(document, insert_item(document, place, index, value))


def _retyped(document: Document, state: TableState, one: change.TypeChanged, level: Written) -> Document:
    columns = apply_changes(state, [one]).columns
    if _is_at(level, one.path):
        if any(datatype.children(one.old)):
            document = without_records(document, state.columns, one.path, below=True)
        document = with_type(document, level, one.new)
    else:
        document = in_type_text(document, columns, one.path)
    return with_records(document, columns, one.path, one.new)


def _attribute(document: Document, state: TableState, one: _Attribute) -> Document:
    level = nearest_level(document, one.path)
    if not _is_at(level, one.path):
        return in_type_text(document, apply_changes(state, [one]).columns, one.path[:-1])
    key, value = _KEYS[type(one)], _plain(one.new)
    return with_edit(document, set_key(document, level.place, key, spelled(level.node, key, value)))


def _setting(document: Document, one: Change, target: str | None) -> Document:
    """What stands at the top of a contract."""
    match one:
        case change.DescriptionChanged(new=text):
            return _with_key(document, "description", _plain(text))
        case change.PartitioningChanged(new=tuple() as names):
            return _with_key(document, "partitioned_by", list(names))
        case change.ClusteringChanged(new=tuple() as paths):
            return _with_key(document, "clustered_by", [format_path(path) for path in paths])
        case change.ConstraintChanged(name=name, new=str() | None as expression):
            known = node_at(document, ("constraints",))
            keys = [entry.key.text for entry in known.entries] if isinstance(known, Mapping) else []
            key = next((key for key in keys if key.lower() == name), name)
            value = spelled(known, key, expression)
            return with_edit(document, set_key(document, ("constraints",), key, value))
        case change.FeatureChanged(name=name, new=True):
            return with_edit(document, append_item(document, ("features",), print_value(name)))
        case change.FeatureChanged(name=name):
            return _without_feature(document, name, target)
        case change.DeletionListed(path=path, type=type_):
            value = print_value(deletion(Deletion(path, type_)))
            return with_edit(document, append_item(document, ("dropped",), value))
        case change.DeletionUnlisted(path=path):
            return _without_deletion(document, path)
        case _:
            raise ContractError(
                f"this change cannot be written into a contract: {type(one).__name__}",
                help="make it by hand",
                location=document.location(document.span),
            )


def _with_key(document: Document, key: str, value: Data) -> Document:
    return with_edit(document, set_key(document, (), key, spelled(document.root, key, value)))


def _without_property(document: Document, key: str, target: str | None) -> Document:
    for place in _places("properties", target):
        node = node_at(document, place)
        for entry in node.entries if isinstance(node, Mapping) else ():
            if properties.canonical(entry.key.text) == key:
                return with_edit(document, remove_entry(document, (*place, entry.key.text)))
    return document


def _without_feature(document: Document, name: str, target: str | None) -> Document:
    for place in _places("features", target):
        for index, item in enumerate(_items(node_at(document, place))):
            if isinstance(item, Scalar) and canonical(item.text) == name:
                return with_edit(document, remove_entry(document, (*place, index)))
    return _without_property(document, FEATURE_PREFIX + name, target)


def _without_deletion(document: Document, path: Path) -> Document:
    for index, item in enumerate(_items(node_at(document, ("dropped",)))):
        written = item.entry("column") if isinstance(item, Mapping) else None
        name = written.value if written else item
        if isinstance(name, Scalar) and path_key(split_path(name.text)) == path_key(path):
            return with_edit(document, remove_entry(document, ("dropped", index)))
    return document


def _places(key: str, target: str | None) -> Iterator[YamlPath]:
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
