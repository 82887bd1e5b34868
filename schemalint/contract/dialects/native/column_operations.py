"""Turn changes of columns into operations on the document of a native contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Mapping as MappingType
from typing import Final, Literal, TypeVar

from schemalint.base.document import (
    Document,
    Mapping,
    Node,
    Scalar,
    Sequence,
    TextEdit,
    items_of,
    splice,
    text_of,
    value_of,
)
from schemalint.base.errors import ContractError
from schemalint.base.values import as_dict, replace
from schemalint.contract.dialects.native.declared_types import declared_type
from schemalint.contract.dialects.native.plain_data import Data, backfill, column, column_rewrite
from schemalint.contract.dialects.native.printing import print_block, print_value, spelled
from schemalint.contract.dialects.native.spans import Level, written_columns
from schemalint.contract.dialects.native.type_change_records import Record, Records
from schemalint.delta.change import ColumnChange, FieldAdded, renames_of
from schemalint.delta.column_users import with_columns_renamed
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Identity,
    Managed,
    Map,
    RecordedChange,
    Struct,
    children,
    map_fields_within,
    parts,
    walk,
)
from schemalint.delta.path import Part, Path, format_path, lowercased, prefixes, split_path
from schemalint.delta.type_text import parse_type_with_spans, print_type
from schemalint.model.contract import Backfill, WaysOut
from schemalint.model.contract_edit import Assign, Insert, Operation, Remove
from schemalint.model.rewrite import ColumnRewrite

T = TypeVar("T")

# The keys of nested types, where a type is written out level by level.
_NESTED_KEYS: Final = ("columns", "element", "key", "value")
_DIFFERING: Final[MappingType[str, Literal["keep_new", "refill"]]] = {
    "keep_new": "keep_new",
    "refill": "refill",
}
_ATTRIBUTES: Final = ("nullable", "comment", "default", "generated", "identity")


class ColumnEdits:
    """Compares the columns of a contract with the wanted ones, and writes what differs."""

    def __init__(
        self,
        document: Document,
        records: Records,
        changes: Iterable[ColumnChange],
        fills: MappingType[Path, Backfill | None],
        rewrites: MappingType[Path, ColumnRewrite | None],
    ) -> None:
        """Take the contract, the changes to the wanted columns, and some of their fills and rewrites."""
        all_changes = tuple(changes)
        self._document = document
        self._records = records
        self._renames = renames_of(all_changes)
        self._fills = fills
        self._rewrites = rewrites
        self._added = {lowercased(change.path) for change in all_changes if isinstance(change, FieldAdded)}
        # Of the declared columns: the fields that go, and the types whose parts go.
        self._without: set[Path] = set()
        self._without_parts: set[Path] = set()
        self._histories: list[tuple[Path, tuple[RecordedChange, ...]]] = []

    def operations(self, old: Struct, new: Struct) -> Iterator[Operation]:
        """Yield the operations that make the wanted columns of the declared ones."""
        if isinstance(self._document.root, Mapping):  # as in every contract
            yield from self._columns(old, new, Level((), (), self._document.root), ())
        of_histories = [
            operation
            for path, changes in self._histories
            for operation in self._records.recorded(self._renames.back(path), changes, new_path=path)
        ]
        yield from of_histories
        gone = {operation.path for operation in of_histories if isinstance(operation, Remove)}
        for record in self._records.all:
            if record.yaml_path not in gone:
                yield from self._record(record)
        is_asked = self._fills or self._rewrites or self._renames.new_names
        for level in written_columns(self._document) if is_asked else ():
            if not self._goes(level.path):
                yield from self._filled(level)
                yield from self._rewritten(level)

    def _columns(self, old: Struct, new: Struct, level: Level, path: Path) -> Iterator[Operation]:
        """Yield the operations on the list of columns of a level; `path` is the level's new one."""
        siblings, yaml_path = value_of(level.node, "columns"), (*level.yaml_path, "columns")
        items = items_of(siblings)
        pairs = self._pairs(old, new, path)
        following = 0
        for index, field in pairs:
            if index is None:
                neighbour = items[max(following - 1, 0)] if items else siblings
                in_brackets = isinstance(neighbour, Mapping | Sequence) and neighbour.flow
                data = column(field)
                yield Insert(yaml_path, print_value(data) if in_brackets else print_block(data), following)
                continue
            following = index + 1
            item, old_field = items[index], old.fields[index]
            if field is not old_field and isinstance(item, Mapping):
                inner = Level((*level.path, old_field.name), (*yaml_path, index), item)
                yield from self._field(old_field, field, inner, (*path, field.name))
        for index, field in _unpaired(old, pairs):
            self._without.add(lowercased((*level.path, field.name)))
            yield Remove((*yaml_path, index))

    def _field(self, old: Field, new: Field, level: Level, path: Path) -> Iterator[Operation]:
        if new.name != old.name:
            yield self._assigned(level, "name", new.name)
            yield self._assigned(level, "renamed_from", old.name)
        yield from self._type(old.type, new.type, level, path)
        for name in _ATTRIBUTES:
            value = getattr(new, name)
            if value != getattr(old, name):
                yield self._assigned(level, name, _plain(value))
        self._note_history(old, new, path)

    def _type(self, old: DataType, new: DataType, level: Level, path: Path) -> Iterator[Operation]:
        """Yield the operations on the type of a level: text, or written out level by level."""
        if old == new:
            return
        is_written_out = any(level.node.entry(key) for key in _NESTED_KEYS)
        match old, new:
            case Struct(), Struct() if is_written_out:
                yield from self._columns(old, new, level, path)
            case (Array(), Array()) | (Map(), Map()) if is_written_out:
                yield from self._parts(old, new, level, path)
            case _ if any(children(old)) or any(children(new)):
                self._note_inside(old, new, level.path, path)
                text = None if is_written_out or type(old) is not type(new) else self._text(old, new, level)
                if text is None:
                    yield from self._written_anew(new, level)
                else:
                    yield self._assigned(level, "type", text)
            case _:
                yield self._assigned(level, "type", print_type(new))

    def _parts(self, old: DataType, new: DataType, level: Level, path: Path) -> Iterator[Operation]:
        new_parts = dict(parts(new))
        for part, inner in parts(old):
            node = value_of(level.node, part.value)
            if isinstance(node, Mapping):
                at = Level((*level.path, part), (*level.yaml_path, part.value), node)
                yield from self._type(inner, new_parts[part], at, (*path, part))
                nulls = _holds_nulls(new, part)
                if nulls != _holds_nulls(old, part):
                    yield self._assigned(at, "nullable", _plain(nulls))

    def _text(self, old: DataType, new: DataType, level: Level) -> str | None:
        """Return the type text of a level after the differences; None if text cannot express the type."""
        entry = level.node.entry("type")
        if entry is None or not isinstance(entry.value, Scalar):
            message = f"the type of {format_path(level.path)} cannot be edited in place"
            location = self._document.location(level.node.span)
            raise ContractError(message, help="make the change by hand", location=location)
        text = entry.value.text
        spans = {lowercased(path): span for path, span in parse_type_with_spans(text).spans.items()}
        edits = [
            TextEdit(*spans[lowercased(path)], print_type(inner))
            for path, inner in _differences(old, new, ())
        ]
        text = splice(text, edits)
        return text if declared_type(text) == _bare(new) else None

    def _written_anew(self, type_: DataType, level: Level) -> Iterator[Operation]:
        """Set the type of a level: as text if text can express it, else written out level by level."""
        keys = column(Field("", _bare(type_)))
        for key in ("type", *_NESTED_KEYS):
            if key in keys:
                yield self._assigned(level, key, keys[key])
            elif level.node.entry(key):
                yield Remove((*level.yaml_path, key))

    def _assigned(self, level: Level, key: str, value: Data) -> Assign:
        return Assign((*level.yaml_path, key), spelled(level.node, key, value))

    def _pairs(self, old: Struct, new: Struct, path: Path) -> list[tuple[int | None, Field]]:
        """Return the wanted fields of a struct, each with the index of its declared one."""
        same = {id(field): index for index, field in enumerate(old.fields)}
        by_name = {field.name.lower(): index for index, field in reversed([*enumerate(old.fields)])}
        pairs: list[tuple[int | None, Field]] = []
        for field in new.fields:
            key = lowercased((*path, field.name))
            index = same.get(id(field))
            if index is None and key not in self._added:
                index = by_name[self._renames.old_names.get(key, field.name).lower()]
            pairs.append((index, field))
        return pairs

    def _note_inside(self, old: DataType, new: DataType, old_path: Path, path: Path) -> None:
        """Note what goes inside a type that is text, and the histories of the fields that it has now."""
        match old, new:
            case Struct(), Struct():
                pairs = self._pairs(old, new, path)
                for index, field in pairs:
                    inner = (*path, field.name)
                    if index is None:
                        self._note_history(None, field, inner)
                        self._note_histories_in(field.type, inner)
                    else:
                        old_field = old.fields[index]
                        self._note_history(old_field, field, inner)
                        self._note_inside(old_field.type, field.type, (*old_path, old_field.name), inner)
                self._without |= {
                    lowercased((*old_path, field.name)) for _index, field in _unpaired(old, pairs)
                }
            case (Array(), Array()) | (Map(), Map()):
                new_parts = dict(parts(new))
                for part, inner_type in parts(old):
                    self._note_inside(inner_type, new_parts[part], (*old_path, part), (*path, part))
            case _ if old != new:
                self._without_parts.add(lowercased(old_path))
                self._note_histories_in(new, path)

    def _note_histories_in(self, type_: DataType, path: Path) -> None:
        for inner_path, inner in walk(type_, path):
            for field in inner.fields if isinstance(inner, Struct) else ():
                self._note_history(None, field, (*inner_path, field.name))

    def _note_history(self, old: Field | None, new: Field, path: Path) -> None:
        changes = new.type_changes
        if isinstance(changes, tuple) and (changes != old.type_changes if old else changes):
            self._histories.append((path, changes))

    def _record(self, record: Record) -> Iterator[Operation]:
        """Remove an entry whose field goes, or let it follow its field."""
        depth = len(record.level.path)
        if self._goes(record.path):
            if not self._goes(record.level.path):  # else it goes with its level
                yield Remove(record.yaml_path)
            return
        at = self._renames.forward(record.path)[depth:]
        if at != record.path[depth:]:
            yield Assign((*record.yaml_path, "at"), spelled(record.node, "at", format_path(at)))

    def _filled(self, level: Level) -> Iterator[Operation]:
        """Yield the operations on the fill of a column: what was asked for, else what the renames need."""
        key, node = lowercased(level.path), value_of(level.node, "backfill")
        fill = self._fills[key] if key in self._fills else self._with_renames(node)
        yield from self._converted(level, "backfill", None if fill is None else backfill(fill))

    def _converted(self, level: Level, key: str, new: dict[str, Data] | None) -> Iterator[Operation]:
        """Yield the operations that make a fill or a rewrite of a column as wanted; None removes it."""
        node, yaml_path = value_of(level.node, key), (*level.yaml_path, key)
        if new is None:
            yield from () if node is None else (Remove(yaml_path),)
        elif not isinstance(node, Mapping):
            yield self._assigned(level, key, new)
        else:
            for name in ("from", "with", "unfilled", "inexact", "differing", "time_zone"):
                if name in new and new[name] != text_of(node, name):
                    yield Assign((*yaml_path, name), spelled(node, name, new[name]))
                elif name not in new and node.entry(name):
                    yield Remove((*yaml_path, name))

    def _with_renames(self, node: Node | None) -> Backfill | None:
        """Return a fill that follows the columns that it names."""
        if node is None:
            return None
        expression = self._renamed(node)
        source = self._renames.forward(split_path(text_of(node, "from")))
        return replace(self._backfill_of(node), source=source, expression=expression)

    def _rewritten(self, level: Level) -> Iterator[Operation]:
        """Yield the operations on the rewrite of a column: what was asked for, else what the renames need."""
        key, node = lowercased(level.path), value_of(level.node, "rewrite")
        if key in self._rewrites:
            rewrite = self._rewrites[key]
            yield from self._converted(level, "rewrite", None if rewrite is None else column_rewrite(rewrite))
        elif node is not None and (expression := self._renamed(node)) != text_of(node, "with"):
            yield Assign((*level.yaml_path, "rewrite", "with"), spelled(node, "with", expression))

    def _renamed(self, node: Node) -> str:
        """Return the expression of a fill or a rewrite with the new names of columns."""
        text = text_of(node, "with")
        expression = with_columns_renamed(text, self._renames.forward)
        if expression is None:
            raise ContractError(
                f"the columns in {text} cannot be renamed in place",
                help="make the change by hand",
                location=self._document.location(node.span),
            )
        return expression

    @staticmethod
    def _backfill_of(node: Node) -> Backfill:
        """Return a fill as it is written; the reader has judged its words."""
        ways_out = WaysOut(
            bool(text_of(node, "unfilled")),
            bool(text_of(node, "inexact")),
            _DIFFERING.get(text_of(node, "differing")),
        )
        return Backfill((), "", ways_out, text_of(node, "time_zone") or None)

    def _goes(self, path: Path) -> bool:
        around = [*prefixes(lowercased(path))]
        return not self._without.isdisjoint(around) or not self._without_parts.isdisjoint(around[:-1])


def _unpaired(old: Struct, pairs: Iterable[tuple[int | None, Field]]) -> list[tuple[int, Field]]:
    kept = {index for index, _field in pairs}
    return [(index, field) for index, field in enumerate(old.fields) if index not in kept]


def _differences(old: DataType, new: DataType, path: Path) -> Iterator[tuple[Path, DataType]]:
    """Yield the smallest parts of a type that type text writes otherwise, with their paths."""
    match old, new:
        case Struct(), Struct() if [*map(_without_type, old.fields)] == [*map(_without_type, new.fields)]:
            for old_field, field in zip(old.fields, new.fields, strict=True):
                yield from _differences(old_field.type, field.type, (*path, field.name))
        case (Array(), Array()) | (Map(), Map()):
            new_parts = dict(parts(new))
            for part, inner in parts(old):
                yield from _differences(inner, new_parts[part], (*path, part))
        case _ if old != new:
            yield path, new


def _without_type(field: Field) -> Field:
    return replace(_bare_field(field), type=Struct(), renamed_from=None)


def _bare(type_: DataType) -> DataType:
    """Return a type without recorded type changes, and with null details unmanaged, as in type text."""
    return map_fields_within(type_, lambda _path, field: _bare_field(field))


def _bare_field(field: Field) -> Field:
    return replace(
        field,
        comment=_null_as_unmanaged(field.comment),
        default=_null_as_unmanaged(field.default),
        generated=_null_as_unmanaged(field.generated),
        identity=_null_as_unmanaged(field.identity),
        type_changes=UNMANAGED,
    )


def _null_as_unmanaged(value: Managed[T | None]) -> Managed[T | None]:
    return UNMANAGED if value is None else value


def _holds_nulls(type_: DataType, part: object) -> Managed[bool]:
    match type_:
        case Array():
            return type_.contains_null
        case Map() if part is Part.VALUE:
            return type_.value_contains_null
        case _:
            return UNMANAGED


def _plain(value: Managed[bool | str | Identity | None]) -> Data:
    if isinstance(value, Identity):
        return as_dict(value)
    return None if value is UNMANAGED else value
