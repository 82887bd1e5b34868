"""Columns that swap or reuse names in one plan: the note in the table, and how a later run finishes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import count

from schemalint.base.values import replace
from schemalint.delta.change import (
    Change,
    ClusteringChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    PropertyChanged,
    change_path,
    subject,
)
from schemalint.delta.datatype import (
    Array,
    DataType,
    Field,
    Map,
    Struct,
    field_at,
    parts,
    walk_fields,
    with_parts,
)
from schemalint.delta.path import Path, path_key
from schemalint.delta.statistics import STATISTICS_COLUMNS
from schemalint.delta.table import TableState
from schemalint.model.column_tracking import ColumnTracking, column_numbers
from schemalint.model.declaration import apply_declaration
from schemalint.model.revision_columns import with_numbers
from schemalint.model.table_plan import Step


def needs_note(changes: Iterable[Change], steps: Iterable[Step], tracking: ColumnTracking) -> bool:
    """Whether an interrupted run could leave a table that looks altered by someone else, or mixes up columns.

    This happens if a name is given up and reused, or if two steps change the same object: a constraint that
    is dropped and added again, or a clustering that follows a rename before it changes itself.
    """
    all_changes = tuple(changes)
    return _reuses_names(all_changes, tracking.retaken) or _changes_twice(steps)


def _reuses_names(changes: Iterable[Change], retaken: frozenset[tuple[str, ...]]) -> bool:
    released: set[tuple[str, ...]] = set()
    taken: set[tuple[str, ...]] = set()
    for change in changes:
        match change:
            case FieldRenamed(path=path, old_name=old):
                released.add(path_key((*path[:-1], old)))
                taken.add(path_key(path))
            case FieldAdded(path=path, field=field):
                new_paths = (new_path for new_path, _field in walk_fields(Struct((field,)), path[:-1]))
                taken |= set(map(path_key, new_paths))
            case FieldRemoved(path=path):
                released.add(path_key(path))
    return not taken.isdisjoint(released | retaken)


def _changes_twice(steps: Iterable[Step]) -> bool:
    """Whether two steps change the same object of the table, other than a column."""
    seen: set[Hashable] = set()
    renames = False
    for change in (change for step in steps for change in step.changes):
        if isinstance(change, FieldRenamed):
            renames = True
        if change_path(change):
            continue
        if subject(change) in seen or (renames and _follows_renames(change)):
            return True
        seen.add(subject(change))
    return False


def _follows_renames(change: Change) -> bool:
    """Whether Delta itself changes the object when a column is renamed."""
    return isinstance(change, ClusteringChanged) or (
        isinstance(change, PropertyChanged) and change.key == STATISTICS_COLUMNS
    )


def target_paths(live: TableState, tracking: ColumnTracking, declared: TableState) -> dict[int, Path | None]:
    """Return the path that each live column will have, by column-mapping id; None for a dropped column.

    If the plan switches column mapping on, Delta assigns the ids in the order of the schema, parents first
    (measured on Delta 4.4.0). Without column mapping no column is renamed or dropped.
    """
    after = apply_declaration(declared, live, tracking=tracking)
    goal = column_numbers(after.columns)
    with_ids = live.columns if has_ids(live.columns) else with_assigned_ids(live.columns)
    paths: dict[int, Path | None] = {}
    if after.column_mapping == "none":
        return paths
    for number, path in column_numbers(tracking.live).items():
        field = field_at(with_ids, path)
        if field is None or field.column_id is None:
            continue
        if number in tracking.gone:
            paths[field.column_id] = None
        elif number in goal:
            paths[field.column_id] = goal[number]
    return paths


def with_target_names(live: TableState, targets: Mapping[int, Path | None]) -> TableState:
    """Return the table with the noted name of each column."""
    return replace(live, columns=Struct(tuple(_renamed(live.columns.fields, targets))))


def _renamed(fields: Iterable[Field], targets: Mapping[int, Path | None]) -> Iterator[Field]:
    for field in fields:
        path = targets.get(field.column_id, (field.name,)) if field.column_id is not None else (field.name,)
        if path is not None:
            yield replace(field, name=str(path[-1]), type=_with_names_inside(field.type, targets))


def _with_names_inside(type_: DataType, targets: Mapping[int, Path | None]) -> DataType:
    match type_:
        case Struct(fields=fields):
            return Struct(tuple(_renamed(fields, targets)))
        case Array() | Map():
            return with_parts(
                type_, {part: _with_names_inside(inner, targets) for part, inner in parts(type_)}
            )
        case _:
            return type_


def has_ids(columns: Struct) -> bool:
    """Whether fields have column-mapping ids."""
    return any(field.column_id is not None for _path, field in walk_fields(columns))


def with_assigned_ids(columns: Struct) -> Struct:
    """Number the fields as Delta does when column mapping is switched on."""
    return with_numbers(columns, count(1))
