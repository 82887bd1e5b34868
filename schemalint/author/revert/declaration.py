"""Derive the declaration that reverts changes, as far as Delta can revert them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeVar

from schemalint.base.values import field, frozen, replace
from schemalint.delta import properties
from schemalint.delta.datatype import (
    UNMANAGED,
    Array,
    DataType,
    Field,
    Identity,
    Managed,
    Map,
    Struct,
    Unmanaged,
    map_fields_within,
    parts,
)
from schemalint.delta.path import Part, Path, format_path, path_key
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.model.column_tracking import track_columns
from schemalint.model.contract import Contract

T = TypeVar("T")

WIDENING: Final = "delta.enableTypeWidening"


@frozen
class Reversal:
    """A declaration and its reversal, with fields paired by ``column_id``.

    Attributes:
        now: The current declaration.
        wanted: The declaration that reverts it.
        notes: The changes that stay, or are reverted only in part, one sentence each.
    """

    now: TableState
    wanted: TableState
    notes: tuple[str, ...]


def reverse_changes(revisions: Sequence[Contract]) -> Reversal:
    """Return the reversal of a contract to its oldest revision.

    Args:
        revisions: The revisions, oldest first: the one to return to, all in between, and the current one.
    """
    old, declared = revisions[0].state, revisions[-1].state
    tracking = track_columns(old.columns, [revision.state for revision in revisions])
    current = replace(declared, columns=tracking.declared)
    reverser = _Reverser(current)
    columns = reverser.struct(tracking.live, current.columns, ())
    wanted = replace(
        current,
        columns=columns,
        dropped=(
            *(entry for entry in current.dropped if path_key(entry.path) not in reverser.returned),
            *reverser.dropped,
        ),
        description=_old_value(old.description, current.description),
        clustered_by=_old_tuple(old.clustered_by, current.clustered_by),
        constraints=_entries(old.constraints, current.constraints),
        properties=reverser.properties(old.properties),
        features=current.features | old.features,
    )
    reverser.note_what_stays(revisions[0], revisions[-1])
    return Reversal(current, wanted, tuple(reverser.notes))


@frozen
class _Reverser:
    current: TableState
    notes: list[str] = field(default_factory=list)
    dropped: list[Deletion] = field(default_factory=list)
    returned: set[tuple[str, ...]] = field(default_factory=set)
    kept_wide: list[Path] = field(default_factory=list)

    def struct(self, old: Struct, current: Struct, path: Path) -> Struct:
        """Return the old fields under their old names, in current order; drop newer fields where possible."""
        old_fields = {field.column_id: field for field in old.fields}
        fields: list[Field] = []
        removed: list[Field] = []
        for current_field in current.fields:
            old_field = old_fields.get(current_field.column_id)
            if old_field is not None:
                fields.append(self._field(old_field, current_field, path))
            elif self._can_drop((*path, current_field.name)):
                removed.append(current_field)
            else:
                fields.append(current_field)
        current_ids = {field.column_id for field in current.fields}
        fields = self._restored(old, current_ids, fields, path)
        names = {field.name.lower() for field in fields}
        for removed_field in removed:
            # The type tells the dropped column from a restored one of the same name.
            type_ = removed_field.type if removed_field.name.lower() in names else None
            self.dropped.append(Deletion((*path, removed_field.name), type_))
        return Struct(tuple(fields))

    def properties(self, old: Mapping[str, str | None]) -> dict[str, str | None]:
        """Return the old values, null for newer keys, and the current values that the table depends on."""
        current = self.current.properties
        reverted = _entries(old, current)
        for key, value in current.items():
            if reverted[key] != value and self._is_kept(key, value):
                reverted[key] = value
                self.notes.append(f"property {key} stays {value}: existing columns or files depend on it")
        return reverted

    def note_what_stays(self, old: Contract, current: Contract) -> None:
        """Note the changes that a contract cannot revert, or that are not part of the table."""
        if old.state.partitioned_by != current.state.partitioned_by:
            self.notes.append("the partitioning stays: Delta cannot change it in place")
        if added := current.state.features - old.state.features:
            self.notes.append(f"the features stay: {', '.join(sorted(added))} (drop_features removes them)")
        differences = {
            "location": old.location != current.location,
            "targets": old.targets != current.targets,
            "managed_by": (old.managed_by, old.managed_how, old.on_column_change)
            != (current.managed_by, current.managed_how, current.on_column_change),
            "drop_features": (old.drop_features, old.truncated_features)
            != (current.drop_features, current.truncated_features),
            "open": old.open != current.open,
        }
        if kept := [key for key, differs in differences.items() if differs]:
            self.notes.append(f"not reverted, because it does not change the table: {', '.join(kept)}")

    def _field(self, old: Field, current: Field, parent: Path) -> Field:
        path = (*parent, old.name)
        type_ = self._type(old.type, current.type, path)
        if current.nullable and not old.nullable:
            self.notes.append(f"{format_path(path)} stays nullable: Delta never sets NOT NULL again")
        for attribute, differs in (
            ("generation expression", old.generated != current.generated),
            ("identity", old.identity != current.identity),
        ):
            if differs:
                self.notes.append(
                    f"the {attribute} of {format_path(path)} stays: Delta cannot change it in place"
                )
        return replace(
            current,
            name=old.name,
            renamed_from=current.renamed_from if old.name == current.name else current.name,
            type=type_,
            nullable=current.nullable or old.nullable,
            comment=_old_value(old.comment, current.comment),
            default=_old_value(old.default, current.default),
            type_changes=current.type_changes
            if _recorded_types(type_) == _recorded_types(current.type)
            else old.type_changes,
        )

    def _type(self, old: DataType, current: DataType, path: Path) -> DataType:
        match old, current:
            case Struct(), Struct():
                return self.struct(old, current, path)
            case Array(), Array():
                element = self._type(old.element, current.element, (*path, Part.ELEMENT))
                return Array(element, _loosened(old.contains_null, current.contains_null))
            case Map(), Map():
                key = self._type(old.key, current.key, (*path, Part.KEY))
                value = self._type(old.value, current.value, (*path, Part.VALUE))
                return Map(key, value, _loosened(old.value_contains_null, current.value_contains_null))
            case _:
                return current if old == current else self._leaf(old, current, path)

    def _leaf(self, old: DataType, current: DataType, path: Path) -> DataType:
        nested = bool(path) and isinstance(path[-1], Part)
        verdict = classify(current, old, nested=nested)
        if verdict is TypeVerdict.FREE or (
            verdict is TypeVerdict.WIDENING and self.current.enabled(WIDENING)
        ):
            return old
        self.kept_wide.append(path)
        reason = (
            "Delta cannot revert a widening"
            if classify(old, current) is TypeVerdict.WIDENING
            else "Delta cannot change the type back"
        )
        self.notes.append(f"{format_path(path)} stays {print_type(current)}, was {print_type(old)}: {reason}")
        return current

    def _restored(
        self, old: Struct, current_ids: Container[int | None], kept: Sequence[Field], path: Path
    ) -> list[Field]:
        """Return the kept columns, and the removed ones as new ones: each after its last old predecessor."""
        names = {field.name.lower() for field in kept}
        indexes = {field.name: index for index, field in enumerate(kept)}
        following: defaultdict[int, list[Field]] = defaultdict(list)
        last = -1
        for old_field in old.fields:
            if old_field.column_id not in current_ids and self._returns(old_field, names, path):
                names.add(old_field.name.lower())
                following[last].append(_as_new(old_field))
            last = max(last, indexes.get(old_field.name, -1))
        fields = following[-1]
        for index, kept_field in enumerate(kept):
            fields += [kept_field, *following[index]]
        return fields

    def _returns(self, removed: Field, names: Container[str], path: Path) -> bool:
        """Return whether a removed column comes back; note what it loses."""
        name, key = format_path((*path, removed.name)), path_key((*path, removed.name))
        if removed.name.lower() in names:
            self.notes.append(f"{name} was recreated since, and stays")
            return False
        if key in self._listed:
            self.returned.add(key)
            self.notes.append(f"{name} returns empty if it was dropped: its data is gone")
        if isinstance(removed.generated, str) or isinstance(removed.identity, Identity):
            self.notes.append(
                f"{name} returns as a plain column: Delta cannot add generated or identity columns"
            )
        return True

    @cached_property
    def _listed(self) -> frozenset[tuple[str, ...]]:
        return frozenset(path_key(entry.path) for entry in self.current.dropped)

    def _can_drop(self, path: Path) -> bool:
        reason = ""
        if self.current.column_mapping == "none":
            reason = f"Delta drops columns only with {COLUMN_MAPPING_MODE}"
        elif path_key(path) in self._listed:
            reason = "it is already listed as dropped, and an entry takes effect only once"
        elif isinstance(self.current.partitioned_by, tuple) and path[0] in self.current.partitioned_by:
            reason = "the table is partitioned by it"
        if reason:
            self.notes.append(f"{format_path(path)} stays: {reason}")
        return not reason

    def _is_kept(self, key: str, value: str | None) -> bool:
        if properties.is_protocol_key(key):
            return True
        if key == COLUMN_MAPPING_MODE:
            return (value or "none").lower() != "none"
        return key == WIDENING and bool(self.kept_wide)


def _old_value(old: Managed[T | None], current: Managed[T | None]) -> Managed[T | None]:
    """Return the old value; None if only the current declaration manages it."""
    if not isinstance(old, Unmanaged):
        return old
    return current if isinstance(current, Unmanaged) else None


def _old_tuple(old: Managed[tuple[T, ...]], current: Managed[tuple[T, ...]]) -> Managed[tuple[T, ...]]:
    if not isinstance(old, Unmanaged):
        return old
    return current if isinstance(current, Unmanaged) else ()


def _entries(old: Mapping[str, str | None], current: Mapping[str, str | None]) -> dict[str, str | None]:
    return {**dict.fromkeys(current), **old}


def _loosened(old: Managed[bool], current: Managed[bool]) -> Managed[bool]:
    """Return the nullability of elements: once nullable, it stays nullable."""
    return current if isinstance(old, Unmanaged) or not old else old


def _as_new(field: Field) -> Field:
    """Return a field as Delta adds a column: nullable, not generated, without type history."""
    type_ = map_fields_within(field.type, lambda _path, inner: _bare(inner))
    return replace(_bare(field), type=type_)


def _bare(field: Field) -> Field:
    return replace(
        field,
        nullable=True,
        generated=UNMANAGED,
        identity=UNMANAGED,
        renamed_from=None,
        type_changes=UNMANAGED,
    )


def _recorded_types(type_: DataType) -> list[DataType]:
    """Return the leaf types of a field's own record; the fields of inner structs have their own records."""
    return list(_leaves(type_))


def _leaves(type_: DataType) -> Iterator[DataType]:
    if isinstance(type_, Array | Map):
        for _part, inner in parts(type_):
            yield from _leaves(inner)
    elif not isinstance(type_, Struct):
        yield type_
