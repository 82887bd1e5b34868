"""Turn edits of a contract into changes of its text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import assert_never

from schemalint.base.document import (
    Document,
    Entry,
    Scalar,
    entries_of,
    items_of,
    node_at,
    read_documents,
    value_of,
)
from schemalint.base.document import Path as YamlPath
from schemalint.base.document.outline import read_ends
from schemalint.base.errors import ContractError, Location
from schemalint.contract.anchors import TextAnchors, text_of
from schemalint.contract.dialects.native import document_reader
from schemalint.contract.dialects.native.column_operations import ColumnEdits
from schemalint.contract.dialects.native.plain_data import Data, deletion, property_value
from schemalint.contract.dialects.native.printing import print_value, spelled, spelled_like
from schemalint.contract.dialects.native.type_change_records import Records
from schemalint.contract.text_editor import TextEditor, edited_text
from schemalint.delta import properties
from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    ColumnChange,
    ConstraintChanged,
    DeletionListed,
    DeletionUnlisted,
    DescriptionChanged,
    FeatureChanged,
    FieldMoved,
    PartitioningChanged,
    PropertyChanged,
    TableAdded,
    TableChange,
    TableRemoved,
    TypeHistoryChanged,
)
from schemalint.delta.datatype import UNMANAGED, Managed, Unmanaged
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import Path, format_path, lowercased, path_key, split_path
from schemalint.delta.properties import FEATURE_PREFIX
from schemalint.delta.protocol import canonical
from schemalint.delta.table import Deletion, TableState
from schemalint.model.change_kind import kind_of
from schemalint.model.contract import Backfill, Contract
from schemalint.model.contract_edit import (
    Assign,
    DeclareBackfill,
    DeclareChange,
    DeclareLayoutRewrite,
    DeclareRenames,
    DeclareRewrite,
    Edit,
    Insert,
    Operation,
    RecordTypeChanges,
    Remove,
    SetProperty,
    TextChange,
)
from schemalint.model.rewrite import ColumnRewrite


class Editor:
    """Turns edits of one contract into changes of its text."""

    def __init__(self, contract: Contract, text: str) -> None:
        """Take the contract as read from the text, or effective for a target."""
        self._contract = contract
        self._text = text
        self._made: dict[tuple[Edit, ...], tuple[TextChange, ...]] = {}

    def text_changes(self, edits: Sequence[Edit]) -> tuple[TextChange, ...]:
        """Return the text changes that make the edits, in order and without overlaps; `fixes` proves them.

        Raises:
            ContractError: The text cannot be edited in place.
        """
        key = tuple(edits)
        if key not in self._made:
            of_properties = all(isinstance(edit, SetProperty) for edit in key)
            editor = self._without_columns if of_properties else self._whole
            self._made[key] = editor.changes(key)
        return self._made[key]

    def edited(self, edits: Sequence[Edit]) -> str:
        """Return the text of the file after edits, proven.

        Raises:
            ContractError: The text cannot be edited in place.
            InternalError: ruamel.yaml reads the edited text differently.
        """
        return edited_text(self._contract.file, self._text, self.text_changes(edits))

    @cached_property
    def _whole(self) -> _NativeEditor:
        return self._of(read_documents(self._text, self._contract.file))

    @cached_property
    def _without_columns(self) -> _NativeEditor:
        """The editor of all but columns: reading these again takes a seventh of a check of many contracts."""
        anchors = self._contract.anchors
        if not isinstance(anchors, TextAnchors) or anchors.text != self._text:
            return self._whole
        return self._of(read_ends(self._text, self._contract.file, anchors.outline))

    def _of(self, documents: Sequence[Document]) -> _NativeEditor:
        document = documents[self._contract.document_index]
        anchors, contract = self._contract.anchors, self._contract
        if not document_reader.handles(document):
            raise ContractError(
                "the contract is no longer in this file",
                help="run the check again",
                location=Location(contract.file),
            )
        if text_of(contract) != self._text:
            current = document_reader.read_document(document)
            if not isinstance(current, Contract):
                raise current[0]
            contract = current
        target = anchors.target if isinstance(anchors, TextAnchors) else None
        return _NativeEditor(document, contract.state, target)


class _NativeEditor:
    """Turns edits of one contract into operations on its document, and these into changes of its text."""

    def __init__(self, document: Document, state: TableState, target: str | None) -> None:
        """Take the document of a valid contract, the state that it declares, and the target, if any."""
        self._document = document
        self._state = state
        self._target = target
        self._text_editor = TextEditor(document)

    def changes(self, edits: Iterable[Edit]) -> tuple[TextChange, ...]:
        """Return the changes of the text that make all edits; see `operations`."""
        return self._text_editor.changes(self.operations(edits))

    def operations(self, edits: Iterable[Edit]) -> Iterator[Operation]:
        """Yield the operations that make all edits.

        Raises:
            ContractError: The contract does not have the column, or cannot express a change in place.
        """
        changes: list[Change] = []
        fills: dict[Path, Backfill | None] = {}
        rewrites: dict[Path, ColumnRewrite | None] = {}
        for edit in edits:
            match edit:
                case SetProperty(key=key, value=value):
                    yield from self._property(key, value)
                case RecordTypeChanges(path=path, changes=recorded):
                    yield from self._records.recorded(path, recorded)
                case DeclareChange(change=change):
                    changes.append(change)
                case DeclareRenames(renames=renames):
                    changes += renames
                case DeclareBackfill(path=path, backfill=backfill):
                    fills[lowercased(path)] = backfill
                case DeclareRewrite(path=path, rewrite=rewrite):
                    rewrites[lowercased(path)] = rewrite
                case DeclareLayoutRewrite(partitioned_by=names):
                    yield self._layout(names)
                case _:
                    assert_never(edit)
        yield from self._of_columns(changes, fills, rewrites)
        for change in changes:
            if isinstance(change, TableChange):
                yield from self._setting(change)

    def _of_columns(
        self,
        changes: Iterable[Change],
        fills: Mapping[Path, Backfill | None],
        rewrites: Mapping[Path, ColumnRewrite | None],
    ) -> Iterator[Operation]:
        of_columns = [change for change in changes if isinstance(change, ColumnChange)]
        if any(map(_is_unwritable, of_columns)):
            raise self._refusal(next(filter(_is_unwritable, of_columns)))
        if of_columns or fills or rewrites:
            columns = apply_changes(self._state, of_columns).columns
            edits = ColumnEdits(self._document, self._records, of_columns, fills, rewrites)
            yield from edits.operations(self._state.columns, columns)

    def _layout(self, names: tuple[str, ...] | None) -> Operation:
        if names is None:
            return Remove(("rewrite",))
        return self._assigned("rewrite", {"from": {"partitioned_by": list(names)}})

    @cached_property
    def _records(self) -> Records:
        return Records(self._document, self._state.columns)

    def _setting(self, change: TableChange) -> Iterator[Operation]:
        root = self._document.root
        match change:
            case PropertyChanged(key=key, new=new):
                yield from self._property(key, new)
            case ConstraintChanged(name=name, new=str() | None as new):
                entry = self._constraints.get(name)
                key = entry.key.text if entry else name
                yield Assign(("constraints", key), spelled_like(entry, value_of(root, "constraints"), new))
            case DeletionListed(path=path, type=type_):
                yield Insert(("dropped",), print_value(deletion(Deletion(path, type_))))
            case DeletionUnlisted(path=path) if path_key(path) in self._dropped:
                yield Remove(("dropped", self._dropped[path_key(path)]))
            case DeletionUnlisted():
                pass
            case DescriptionChanged(new=text):
                yield self._assigned("description", None if isinstance(text, Unmanaged) else text)
            case PartitioningChanged(new=tuple() as names):
                yield self._assigned("partitioned_by", list(names))
            case ClusteringChanged(new=tuple() as paths):
                yield self._assigned("clustered_by", [format_path(path) for path in paths])
            case FeatureChanged(name=name, new=True):
                yield Insert(("features",), print_value(name))
            case FeatureChanged(name=name):
                yield from self._without_feature(name)
            case (
                TableAdded()
                | TableRemoved()
                | ConstraintChanged()
                | PartitioningChanged()
                | ClusteringChanged()
            ):
                raise self._refusal(change)
            case _:
                assert_never(change)

    def _assigned(self, key: str, value: Data) -> Assign:
        return Assign((key,), spelled(self._document.root, key, value))

    def _property(self, key: str, value: Managed[str | None]) -> Iterator[Operation]:
        """Set a property in the target's overlay if it is there, else for all; remove an unmanaged one."""
        canonical_key = properties.canonical(key)
        yaml_path = self._properties.get(canonical_key)
        if not isinstance(value, Unmanaged):
            path = yaml_path or ("properties", canonical_key)
            yield Assign(path, print_value(property_value(value)))
        elif yaml_path:
            yield Remove(yaml_path)

    @cached_property
    def _properties(self) -> dict[str, YamlPath]:
        """The paths of the properties, the first of each name, those in the target's overlay first."""
        paths: dict[str, YamlPath] = {}
        for yaml_path in self._yaml_paths("properties"):
            for entry in entries_of(node_at(self._document, yaml_path)):
                paths.setdefault(properties.canonical(entry.key.text), (*yaml_path, entry.key.text))
        return paths

    def _yaml_paths(self, key: str) -> Iterator[YamlPath]:
        """Yield the paths in the document where a setting can be, the target's overlay first."""
        if self._target is not None:
            yield ("targets", self._target, key)
        yield (key,)

    @cached_property
    def _constraints(self) -> dict[str, Entry]:
        """The first entry of each name, in lower case."""
        entries = reversed(entries_of(value_of(self._document.root, "constraints")))
        return {entry.key.text.lower(): entry for entry in entries}

    @cached_property
    def _dropped(self) -> dict[tuple[str, ...], int]:
        """The index of the first entry of each column."""
        items = [*enumerate(items_of(value_of(self._document.root, "dropped")))]
        names = ((index, value_of(item, "column") or item) for index, item in reversed(items))
        return {path_key(split_path(name.text)): index for index, name in names if isinstance(name, Scalar)}

    def _without_feature(self, name: str) -> Iterator[Operation]:
        for yaml_path in self._yaml_paths("features"):
            for index, item in enumerate(items_of(node_at(self._document, yaml_path))):
                if isinstance(item, Scalar) and canonical(item.text) == name:
                    yield Remove((*yaml_path, index))
                    return
        yield from self._property(FEATURE_PREFIX + name, UNMANAGED)

    def _refusal(self, change: Change) -> ContractError:
        return ContractError(
            f"this change cannot be written into a contract: {kind_of(change).label}",
            help="edit the contract by hand",
            location=self._document.location(self._document.span),
        )


def _is_unwritable(change: ColumnChange) -> bool:
    return isinstance(change, FieldMoved) or (
        isinstance(change, TypeHistoryChanged) and isinstance(change.new, Unmanaged)
    )
