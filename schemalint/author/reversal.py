"""Derive the declaration that reverts changes, as far as Delta can revert them.

What no table has yet, the contract alone takes back, as a plain `git revert` does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
    field_at,
    map_fields_within,
    parts,
    type_at,
    walk_fields,
)
from schemalint.delta.path import Part, Path, format_path, lowercased, path_key
from schemalint.delta.properties import COLUMN_MAPPING_MODE
from schemalint.delta.table import Deletion, TableState
from schemalint.delta.type_text import print_type
from schemalint.delta.type_verdict import TypeVerdict, classify
from schemalint.model.column_tracking import track_columns
from schemalint.model.contract import Backfill, Contract
from schemalint.model.declaration import merge, merge_columns
from schemalint.model.rewrite import ColumnRewrite, Rewrites

T = TypeVar("T")

WIDENING: Final = "delta.enableTypeWidening"


@frozen
class Reversal:
    """A declaration and its reversal, with fields paired by ``column_id``.

    Attributes:
        now: The current declaration.
        wanted: The declaration that reverts it.
        fills: How columns that stay were filled, by their current paths, where that differs.
        rewrites: The rewrites of the table and of the columns that stay, by their current paths.
        notes: The changes that stay, or are reverted only in part, one sentence each.
    """

    now: TableState
    wanted: TableState
    fills: Mapping[Path, Backfill | None]
    rewrites: Rewrites
    notes: tuple[str, ...]


def reverse_changes(revisions: Sequence[Contract], tables: Sequence[TableState] | None = None) -> Reversal:
    """Return the reversal of a contract to its oldest revision.

    Args:
        revisions: The revisions, oldest first: the one to return to, all in between, and the current one.
        tables: The live tables of all targets, which tell what was applied; None if that is not known.
    """
    old, declared = revisions[0].state, revisions[-1].state
    tracking = track_columns(old.columns, [revision.state for revision in revisions])
    current = replace(declared, columns=tracking.declared)
    reverser = _Reverser(current, tables)
    columns = merge_columns(current.columns, tracking.live, reverser.pairs, reverser)
    wanted = replace(
        current,
        columns=columns,
        dropped=(
            *(entry for entry in current.dropped if path_key(entry.path) not in reverser.returned),
            *_entries_of(reverser.dropped, columns),
        ),
        description=_old_value(old.description, current.description, None),
        clustered_by=_old_value(old.clustered_by, current.clustered_by, ()),
        constraints=_entries(old.constraints, current.constraints),
        properties=reverser.properties(old.properties),
        partitioned_by=current.partitioned_by if tables != () else old.partitioned_by,
        features=old.features | reverser.kept_features(old.features),
    )
    reverser.note_what_stays(revisions[0], revisions[-1])
    fills = reverser.fills(revisions[0].backfills, tracking.live, revisions[-1].backfills)
    before = replace(old, columns=tracking.live)
    rewrites = reverser.rewrites(revisions[0].rewrites, before, wanted, revisions[-1].rewrites)
    return Reversal(current, wanted, fills, rewrites, tuple(reverser.notes))


@frozen
class _Reverser:
    current: TableState
    tables: Sequence[TableState] | None = None
    notes: list[str] = field(default_factory=list)
    dropped: list[Deletion] = field(default_factory=list)
    returned: set[tuple[str, ...]] = field(default_factory=set)
    kept_wide: list[Path] = field(default_factory=list)

    def pairs(self, current: Struct, old: Struct, path: Path) -> Iterator[tuple[Field, Field | None]]:
        """Yield the current fields that stay, with the old ones; a newer one goes where Delta can drop it."""
        old_fields = {field.column_id: field for field in old.fields}
        for current_field in current.fields:
            old_field = old_fields.get(current_field.column_id)
            inner = (*path, current_field.name)
            if old_field is None and self._is_nowhere(inner):
                continue
            if old_field is not None or not self._can_drop(inner):
                yield current_field, old_field
            else:
                self.dropped.append(Deletion(inner, current_field.type))

    def properties(self, old: Mapping[str, str | None]) -> dict[str, str | None]:
        """Return the old values, null for newer keys, and the current values that the table depends on."""
        current = self.current.properties
        reverted = _entries(old, current)
        for key, value in current.items():
            if reverted[key] != value and self._is_kept(key, value):
                reverted[key] = value
                self.notes.append(f"property {key} stays {value}: existing columns or files depend on it")
        return reverted

    def fills(
        self, old: Mapping[Path, Backfill], old_columns: Struct, current: Mapping[Path, Backfill]
    ) -> dict[Path, Backfill | None]:
        """Return the old fills of the current columns that are filled otherwise now; note what is lost."""
        by_id = {field.column_id: old[path] for path, field in walk_fields(old_columns) if path in old}
        fills = {path: by_id.pop(field.column_id, None) for path, field in walk_fields(self.current.columns)}
        self.notes.extend(
            f"`backfill` from {format_path(fill.source)} does not return" for fill in by_id.values()
        )
        return {path: fill for path, fill in fills.items() if fill != current.get(path)}

    def rewrites(
        self, old: Rewrites, old_state: TableState, wanted: TableState, current: Rewrites
    ) -> Rewrites:
        """Return the old rewrites; where the type or the layout stays that one leads to, it stays too."""
        by_id = {column.column_id: (path, column.type) for path, column in walk_fields(old_state.columns)}
        types = {column.column_id: column.type for _path, column in walk_fields(wanted.columns)}
        columns: dict[Path, ColumnRewrite] = {}
        for path, column in walk_fields(self.current.columns):
            old_path, old_type = by_id.get(column.column_id, ((), None))
            is_old = types.get(column.column_id) == old_type
            rewrite = old.columns.get(old_path) if is_old else current.columns.get(path)
            columns |= {} if rewrite is None else {path: rewrite}
        is_old = wanted.partitioned_by == old_state.partitioned_by
        return Rewrites(columns, old.partitioned_by if is_old else current.partitioned_by)

    def note_what_stays(self, old: Contract, current: Contract) -> None:
        """Note the changes that a contract cannot revert, or that are not part of the table."""
        if old.state.partitioned_by != current.state.partitioned_by and self.tables != ():
            self.notes.append("the partitioning stays: Delta cannot change it in place")
        if added := self.kept_features(old.state.features):
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

    def both(self, current: Field, old: Field, parent: Path) -> Field:
        """Return the old field, as far as Delta can revert the current one; note what stays."""
        path = (*parent, old.name)
        if self._is_everywhere(path, lambda live: _is_as_before(live, old)):
            current = replace(current, nullable=old.nullable, generated=old.generated, identity=old.identity)
        type_ = merge(current.type, old.type, self.pairs, self, path)
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
            comment=_old_value(old.comment, current.comment, None),
            default=_old_value(old.default, current.default, None),
            type_changes=current.type_changes
            if _recorded_types(type_) == _recorded_types(current.type)
            else old.type_changes,
        )

    def nulls(self, current: Managed[bool], old: Managed[bool]) -> Managed[bool]:
        """Return the nullability of elements: once nullable, it stays nullable."""
        if isinstance(old, Unmanaged) or not old:
            return current
        return old

    def leaf(self, current: DataType, old: DataType, path: Path) -> DataType:
        """Return the old type if Delta can change the current one back; note it if not."""
        if old == current or self._all(lambda table: type_at(table.columns, path) == old):
            return old
        nested = bool(path) and isinstance(path[-1], Part)
        verdict = classify(current, old, nested=nested)
        if verdict is TypeVerdict.FREE or (
            verdict is TypeVerdict.WIDENING and self.current.enabled(WIDENING)
        ):
            return old
        self.kept_wide.append(path)
        reason = "Delta cannot change the type back"
        if classify(old, current) is TypeVerdict.WIDENING:
            reason = "Delta cannot revert a widening"
        self.notes.append(f"{format_path(path)} stays {print_type(current)}, was {print_type(old)}: {reason}")
        return current

    def right_alone(self, removed: Field, names: Collection[str], path: Path) -> Field | None:
        """Return a removed column as a new one, unless it was recreated; note what it loses."""
        name, key = format_path((*path, removed.name)), path_key((*path, removed.name))
        if removed.name.lower() in names:
            self.notes.append(f"{name} was recreated since, and stays")
            return None
        if self._is_everywhere((*path, removed.name)):
            self.returned.add(key)
            return removed
        if key in self._listed:
            self.returned.add(key)
            self.notes.append(f"{name} returns empty if it was dropped: its data is gone")
        if isinstance(removed.generated, str) or isinstance(removed.identity, Identity):
            self.notes.append(
                f"{name} returns as a plain column: Delta cannot add generated or identity columns"
            )
        return _as_new(removed)

    def kept_features(self, old: frozenset[str]) -> frozenset[str]:
        """Return the features that the contract requests since, and that a table may have."""
        added = self.current.features - old
        if self.tables is None:
            return added
        supported = {name for table in self.tables for name in table.features}
        return added & supported

    def _all(self, is_so: Callable[[TableState], bool]) -> bool:
        """Whether something is so in each table; not if nobody read them."""
        return self.tables is not None and all(map(is_so, self.tables))

    def _is_nowhere(self, path: Path) -> bool:
        return self._all(lambda table: field_at(table.columns, path) is None)

    def _is_everywhere(self, path: Path, is_so: Callable[[Field], bool] = lambda _field: True) -> bool:
        def has(table: TableState) -> bool:
            live = field_at(table.columns, path)
            return live is not None and is_so(live)

        return self._all(has)

    @cached_property
    def _listed(self) -> frozenset[tuple[str, ...]]:
        return frozenset(path_key(entry.path) for entry in self.current.dropped)

    def _can_drop(self, path: Path) -> bool:
        reason = ""
        if self.current.column_mapping == "none":
            reason = f"Delta drops columns only with {COLUMN_MAPPING_MODE}"
        elif path_key(path) in self._listed:
            reason = "it is already listed as dropped, and an entry takes effect only once"
        elif path[0] in self.current.partition_columns:
            reason = "the table is partitioned by it"
        if reason:
            self.notes.append(f"{format_path(path)} stays: {reason}")
        return not reason

    def _is_kept(self, key: str, value: str | None) -> bool:
        if properties.is_protocol_key(key):
            return True
        if key == COLUMN_MAPPING_MODE:
            is_unmapped = self._all(lambda table: table.column_mapping == "none")
            return (value or "none").lower() != "none" and not is_unmapped
        return key == WIDENING and bool(self.kept_wide)


def _is_as_before(live: Field, old: Field) -> bool:
    """Whether a live column still has what Delta can only take away."""
    return (
        live.nullable == old.nullable
        and (isinstance(old.generated, Unmanaged) or live.generated == old.generated)
        and (isinstance(old.identity, Unmanaged) or live.identity == old.identity)
    )


def _old_value(old: Managed[T], current: Managed[T], nothing: T) -> Managed[T]:
    """Return the old value; ``nothing`` if only the current declaration manages it."""
    if not isinstance(old, Unmanaged):
        return old
    if isinstance(current, Unmanaged):
        return current
    return nothing


def _entries(old: Mapping[str, str | None], current: Mapping[str, str | None]) -> dict[str, str | None]:
    return {**dict.fromkeys(current), **old}


def _entries_of(dropped: Iterable[Deletion], columns: Struct) -> Iterator[Deletion]:
    """Yield the entries of ``dropped``; the type tells a column from a restored one of the same name."""
    names = {lowercased(path) for path, _field in walk_fields(columns)}
    for entry in dropped:
        yield entry if lowercased(entry.path) in names else replace(entry, type=None)


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
    if isinstance(type_, Array | Map):
        return [leaf for _part, inner in parts(type_) for leaf in _recorded_types(inner)]
    if isinstance(type_, Struct):
        return []
    return [type_]
