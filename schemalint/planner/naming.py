"""Names that are given up and taken in one plan: what the table has to note, and how that is finished."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import count

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
    map_fields,
    parts,
    walk_fields,
    with_parts,
)
from schemalint.delta.path import Path, path_key
from schemalint.delta.properties import value_of
from schemalint.delta.statistics import COLUMNS as STATISTICS
from schemalint.delta.table import TableState
from schemalint.model.column_tracking import ColumnTracking, column_numbers
from schemalint.model.declaration import apply_declaration
from schemalint.model.plan import Step
from schemalint.values import replace


def needs_note(changes: Iterable[Change], steps: Iterable[Step], tracking: ColumnTracking) -> bool:
    """Whether the table will look in between as if somebody else had altered it, or columns be confused.

    A name is given up and taken, or an object is changed by two steps: a constraint that goes off and comes
    back, a clustering that follows a rename before it is changed itself.
    """
    found = tuple(changes)
    return _takes_names(found, tracking.retaken) or _passes_through(steps)


def _takes_names(changes: Iterable[Change], retaken: frozenset[tuple[str, ...]]) -> bool:
    given: set[tuple[str, ...]] = set()
    taken: set[tuple[str, ...]] = set()
    for one in changes:
        match one:
            case FieldRenamed(path=path, old_name=old):
                given.add(path_key((*path[:-1], old)))
                taken.add(path_key(path))
            case FieldAdded(path=path, field=field):
                taken |= {path_key(below) for below, _field in walk_fields(Struct((field,)), path[:-1])}
            case FieldRemoved(path=path):
                given.add(path_key(path))
    return not taken.isdisjoint(given | retaken)


def _passes_through(steps: Iterable[Step]) -> bool:
    seen: set[Hashable] = set()
    renames = False
    for one in (one for step in steps for one in step.changes):
        if isinstance(one, FieldRenamed):
            renames = True
        if change_path(one):
            continue
        if subject(one) in seen or (renames and _follows_renames(one)):
            return True
        seen.add(subject(one))
    return False


def _follows_renames(one: Change) -> bool:
    return isinstance(one, ClusteringChanged) or (isinstance(one, PropertyChanged) and one.key == STATISTICS)


def targets(live: TableState, tracking: ColumnTracking, declared: TableState) -> dict[int, Path | None]:
    """By column-mapping id the path that a live column is to have, None for one that is dropped.

    Where column mapping is still to be switched on, Delta gives the ids in the order of the schema, parents
    first (measured on Delta 4.4.0). Without column mapping no column is renamed or dropped.
    """
    after = apply_declaration(declared, live, tracking=tracking)
    goal = column_numbers(after.columns)
    with_ids = live.columns if _has_ids(live.columns) else _as_delta_numbers(live.columns)
    found: dict[int, Path | None] = {}
    if not _is_mapped(after):
        return found
    for number, path in column_numbers(tracking.live).items():
        field = field_at(with_ids, path)
        if field is None or field.column_id is None:
            continue
        if number in tracking.gone:
            found[field.column_id] = None
        elif number in goal:
            found[field.column_id] = goal[number]
    return found


def finished(live: TableState, wanted: Mapping[int, Path | None]) -> TableState:
    """The table with each column under the name that it was to have."""
    return replace(live, columns=_named(live.columns, wanted))


def _named(struct: Struct, wanted: Mapping[int, Path | None]) -> Struct:
    return Struct(tuple(_renamed(struct.fields, wanted)))


def _renamed(fields: Iterable[Field], wanted: Mapping[int, Path | None]) -> Iterator[Field]:
    for field in fields:
        path = wanted.get(field.column_id, (field.name,)) if field.column_id is not None else (field.name,)
        if path is not None:
            yield replace(field, name=str(path[-1]), type=_named_inside(field.type, wanted))


def _named_inside(type_: DataType, wanted: Mapping[int, Path | None]) -> DataType:
    match type_:
        case Struct():
            return _named(type_, wanted)
        case Array() | Map():
            return with_parts(type_, {part: _named_inside(inner, wanted) for part, inner in parts(type_)})
        case _:
            return type_


def _is_mapped(state: TableState) -> bool:
    return value_of("delta.columnMapping.mode", state.properties) != "none"


def _has_ids(columns: Struct) -> bool:
    return any(field.column_id is not None for _path, field in walk_fields(columns))


def _as_delta_numbers(columns: Struct) -> Struct:
    numbers = count(1)
    return map_fields(columns, lambda _path, field: replace(field, column_id=next(numbers)))
