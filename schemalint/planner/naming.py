"""Names that are given up and taken in one plan: what the table has to note, and how that is finished."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from schemalint.model.change import Change, FieldAdded, FieldRemoved, FieldRenamed
from schemalint.model.datatype import (
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
from schemalint.model.lineage import Lineage, numbers_of
from schemalint.model.overlay import over
from schemalint.model.path import Path, folded
from schemalint.model.table import TableState


def needs_note(changes: Iterable[Change]) -> bool:
    """Whether a name is both given up and taken: a run that is cut short would leave it open who is who."""
    given: set[Path] = set()
    taken: set[Path] = set()
    for one in changes:
        match one:
            case FieldRenamed(path=path, old_name=old):
                given.add(folded((*path[:-1], old)))
                taken.add(folded(path))
            case FieldAdded(path=path):
                taken.add(folded(path))
            case FieldRemoved(path=path):
                given.add(folded(path))
    return bool(given & taken)


def targets(live: TableState, lineage: Lineage, declared: TableState) -> dict[int, Path | None]:
    """By column-mapping id the path that a live column is to have, None for one that is dropped.

    Where column mapping is still to be switched on, Delta gives the ids in the order of the schema, parents
    first (measured on Delta 4.4.0).
    """
    goal = numbers_of(over(declared, live, lineage=lineage).columns)
    with_ids = live.columns if _has_ids(live.columns) else _as_delta_numbers(live.columns)
    found: dict[int, Path | None] = {}
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


def _has_ids(columns: Struct) -> bool:
    return any(field.column_id is not None for _path, field in walk_fields(columns))


def _as_delta_numbers(columns: Struct) -> Struct:
    numbers = count(1)
    return map_fields(columns, lambda _path, field: replace(field, column_id=next(numbers)))
