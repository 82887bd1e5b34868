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
    place,
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
from schemalint.delta.path import Path, words
from schemalint.delta.properties import value_of
from schemalint.delta.statistics import COLUMNS as STATISTICS
from schemalint.delta.table import TableState
from schemalint.model.column_tracking import Lineage, numbers_of
from schemalint.model.declaration import over
from schemalint.model.plan import Step
from schemalint.values import replace


def needs_note(changes: Iterable[Change], steps: Iterable[Step], lineage: Lineage) -> bool:
    """Whether the table will look in between as if somebody else had altered it, or columns be confused.

    A name is given up and taken, or an object is changed by two steps: a constraint that goes off and comes
    back, a clustering that follows a rename before it is changed itself.
    """
    found = tuple(changes)
    return _takes_names(found, lineage.retaken) or _passes_through(steps)


def _takes_names(changes: Iterable[Change], retaken: frozenset[tuple[str, ...]]) -> bool:
    given: set[tuple[str, ...]] = set()
    taken: set[tuple[str, ...]] = set()
    for one in changes:
        match one:
            case FieldRenamed(path=path, old_name=old):
                given.add(words((*path[:-1], old)))
                taken.add(words(path))
            case FieldAdded(path=path, field=field):
                taken |= {words(below) for below, _field in walk_fields(Struct((field,)), path[:-1])}
            case FieldRemoved(path=path):
                given.add(words(path))
    return not taken.isdisjoint(given | retaken)


def _passes_through(steps: Iterable[Step]) -> bool:
    seen: set[Hashable] = set()
    renames = False
    for one in (one for step in steps for one in step.changes):
        if isinstance(one, FieldRenamed):
            renames = True
        if place(one):
            continue
        if subject(one) in seen or (renames and _follows_renames(one)):
            return True
        seen.add(subject(one))
    return False


def _follows_renames(one: Change) -> bool:
    return isinstance(one, ClusteringChanged) or (isinstance(one, PropertyChanged) and one.key == STATISTICS)


def targets(live: TableState, lineage: Lineage, declared: TableState) -> dict[int, Path | None]:
    """By column-mapping id the path that a live column is to have, None for one that is dropped.

    Where column mapping is still to be switched on, Delta gives the ids in the order of the schema, parents
    first (measured on Delta 4.4.0). Without column mapping no column is renamed or dropped.
    """
    after = over(declared, live, lineage=lineage)
    goal = numbers_of(after.columns)
    with_ids = live.columns if _has_ids(live.columns) else _as_delta_numbers(live.columns)
    found: dict[int, Path | None] = {}
    if not _is_mapped(after):
        return found
    for number, path in numbers_of(lineage.live).items():
        field = field_at(with_ids, path)
        if field is None or field.column_id is None:
            continue
        if number in lineage.gone:
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
