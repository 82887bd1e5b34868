"""Track columns through the revisions of a contract and on to the live table.

Names alone cannot identify a column: a swap leaves the set of names unchanged, and a recreated column has the
name of the dropped one. So the fields of both sides get numbers and are paired by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import MappingProxyType
from typing import Final

from schemalint.base.values import frozen, grouped, replace
from schemalint.delta.change import FieldRemoved
from schemalint.delta.datatype import (
    Array,
    DataType,
    Field,
    Map,
    Struct,
    map_fields,
    parts,
    type_at,
    walk_fields,
    with_parts,
)
from schemalint.delta.path import Path, PathIndex, path_key
from schemalint.delta.table import Deletion, TableState
from schemalint.model.revision_columns import listed_paths, numbered_revisions

_NOTHING: Final = Struct(())


@frozen
class ColumnTracking:
    """The columns of a declaration and of a live table, numbered in ``column_id``.

    Attributes:
        declared: The declared fields. A field matched to a live column shares its number, whatever its name.
        live: The live fields; each has a number.
        gone: The numbers of the live fields that the declaration drops.
        applied: By number, the column names at the last apply.
        retaken: The declared paths whose names belonged to other columns since the last apply.
        origins: By number, the `renamed_from` of the columns that no revision declares under that name.
        dropped_types: By number, the types that the revisions give the dropped columns.
    """

    declared: Struct
    live: Struct
    gone: frozenset[int]
    applied: Mapping[int, str]
    retaken: frozenset[tuple[str, ...]] = frozenset()
    origins: Mapping[int, str] = MappingProxyType({})
    dropped_types: Mapping[int, tuple[DataType, ...]] = MappingProxyType({})

    @property
    def left_out(self) -> tuple[FieldRemoved, ...]:
        """The live columns of the last apply that the declaration neither has, nor renames, nor drops.

        Without the fields inside columns that are gone themselves, or have a type without these fields.
        """
        declared = column_numbers(self.declared)
        removals: list[FieldRemoved] = []
        gone: PathIndex[None] = PathIndex()
        for path, column in walk_fields(self._renamed_live()):
            if column.column_id in declared or gone.around(path):
                continue
            gone.add(path, None)
            if not isinstance(type_at(self.declared, path[:-1]), Struct):
                continue
            if column.column_id in self.applied and column.column_id not in self.gone:
                removals.append(FieldRemoved(path, replace(column, column_id=None)))
        return tuple(removals)

    def _renamed_live(self) -> Struct:
        """Return the live columns under their declared names."""
        new_names = _names(self.declared)
        return map_fields(
            self.live,
            lambda _path, column: replace(column, name=new_names.get(column.column_id or 0, column.name)),
        )

    def composed(self, declared: TableState) -> TableState:
        """Return the declaration as one edit of the table, with the renames of all revisions composed.

        A rename starts from the live name, or from the name at the last apply. Newer columns have no rename,
        unless no revision declares the column that they are renamed from; applied columns that are gone keep
        theirs. Dropped columns are listed under their own names.
        """
        live = _names(self.live)
        former = {**self.origins, **self.applied, **live}
        lost = self.applied.keys() - live.keys()

        def composed(_path: Path, field: Field) -> Field:
            renamed_from = _renamed_from(field, former)
            if renamed_from is None and field.column_id in lost:
                renamed_from = field.renamed_from
            return replace(field, column_id=None, renamed_from=renamed_from)

        columns = map_fields(self.declared, composed)
        listed = declared.dropped_by_key
        dropped = (
            Deletion(path, field.type)
            for path, field in walk_fields(self._renamed_live())
            if field.column_id in self.gone and path_key(path) not in listed
        )
        return replace(declared, columns=columns, dropped=(*declared.dropped, *dropped))


def track_columns(live: Struct, revisions: Sequence[TableState]) -> ColumnTracking:
    """Track columns through all revisions of a contract since the last apply.

    The renames of these revisions are composed in order. A deletion counts only if it is newly listed.

    Args:
        live: The columns of a table to which the oldest revision was applied.
        revisions: The contract's states, oldest first; the last one is the declaration.
    """
    numbers = count(1)
    editions, dropped, origins = numbered_revisions(revisions, numbers)
    numbering = _LiveNumbering(numbers, listed_paths(revisions[0], revisions[-1]), set(dropped), origins)
    numbered = numbering.struct([editions[0], *reversed(editions[1:])], live, ())
    retaken = _retaken_paths(editions[:-1], editions[-1])
    dropped = frozenset(numbering.dropped)
    types = grouped(
        (column.column_id, column.type)
        for edition in editions
        for _path, column in walk_fields(edition)
        if column.column_id in dropped
    )
    return ColumnTracking(editions[-1], numbered, dropped, _names(editions[0]), retaken, origins, types)


def track_back(live: Struct, revisions: Sequence[TableState]) -> ColumnTracking:
    """Track columns back from the newest revision, which was applied, to the oldest, which is declared again.

    No column is dropped.
    """
    numbers = count(1)
    editions, _dropped, _origins = numbered_revisions(revisions, numbers)
    numbered = _LiveNumbering(numbers, frozenset(), set(), {}).struct(
        [editions[-1], *editions[:-1]], live, ()
    )
    retaken = _retaken_paths(editions[1:], editions[0])
    return ColumnTracking(editions[0], numbered, frozenset(), _names(editions[-1]), retaken)


def resume_tracking(live: Struct, declared: Struct, targets: Mapping[int, Path | None]) -> ColumnTracking:
    """Return the tracking of a half-applied declaration, as the table itself has stored it.

    Args:
        live: The live columns, with their column mapping ids.
        declared: The columns of the declaration that was being applied.
        targets: By id, the path that the column gets; None for a column to drop.
    """
    ids = {path_key(path): number for number, path in targets.items() if path is not None}
    numbers = count(-1, -1)
    return ColumnTracking(
        declared=map_fields(
            declared,
            lambda path, field: replace(field, column_id=ids.get(path_key(path)) or next(numbers)),
        ),
        live=live,
        gone=frozenset(number for number, path in targets.items() if path is None),
        applied={},
    )


def column_numbers(columns: Struct) -> dict[int, Path]:
    """Return the path of every numbered field."""
    return {field.column_id: path for path, field in walk_fields(columns) if field.column_id is not None}


def _names(columns: Struct) -> dict[int, str]:
    return {number: str(path[-1]) for number, path in column_numbers(columns).items()}


def _renamed_from(field: Field, former: Mapping[int, str]) -> str | None:
    name = former.get(field.column_id or 0)
    if name is None or name.lower() != field.name.lower():
        return name
    return name if field.renamed_from == name else None  # a change of case counts only if declared


def _retaken_paths(editions: Iterable[Struct], declared: Struct) -> frozenset[tuple[str, ...]]:
    return frozenset(path for edition in editions for path in _retaken_in(edition, declared, ()))


def _retaken_in(old: Struct, new: Struct, path: Path) -> Iterator[tuple[str, ...]]:
    by_number = {field.column_id: field for field in old.fields}
    for field in new.fields:
        namesake, before = old.get(field.name), by_number.get(field.column_id)
        field_path = (*path, field.name)
        if namesake is not None and namesake.column_id != field.column_id:
            yield path_key(field_path)
        if before is not None:
            for inner_path, old_inner, new_inner in _structs(before.type, field.type, field_path):
                yield from _retaken_in(old_inner, new_inner, inner_path)


def _structs(old: DataType, new: DataType, path: Path) -> Iterator[tuple[Path, Struct, Struct]]:
    """Yield the pairs of structs at equal paths of two types, without structs inside of structs."""
    if isinstance(old, Struct) and isinstance(new, Struct):
        yield path, old, new
        return
    new_parts = dict(parts(new))
    for part, inner in parts(old):
        if part in new_parts:
            yield from _structs(inner, new_parts[part], (*path, part))


@frozen
class _LiveNumbering:
    """The step from the revisions to the live table, by name.

    An interrupted run may have left the names of any revision.

    Attributes:
        listed: The paths that are newly listed as dropped.
        dropped: Collects the numbers of the listed live fields that no revision knows.
        origins: By number, the old names of renamed fields that no revision has under these names.
    """

    numbers: Iterator[int]
    listed: frozenset[tuple[str, ...]]
    dropped: set[int]
    origins: Mapping[int, str]

    def struct(self, editions: Sequence[Struct], live: Struct, path: Path) -> Struct:
        """Return the live fields with their numbers.

        Args:
            editions: The struct in each revision: the applied revision first, then the others by likelihood;
                empty where a revision has no such struct.
            live: The live struct.
            path: The struct's path in the newest revision.
        """
        numbers = _recognized(editions, live, self._renamed_undeclared(editions, live))
        return Struct(
            tuple(self._field(numbers.get(field.name), editions, field, path) for field in live.fields)
        )

    def _renamed_undeclared(self, editions: Sequence[Struct], live: Struct) -> dict[str, int]:
        """Return the numbers of the live fields that only a `renamed_from` names, by live name."""
        columns = (column.column_id or 0 for edition in editions for column in edition.fields)
        renames = ((number, live.get(self.origins[number])) for number in columns if number in self.origins)
        return {column.name: number for number, column in renames if column is not None}

    def _field(self, number: int | None, editions: Sequence[Struct], live: Field, path: Path) -> Field:
        if number is None:
            number = next(self.numbers)
            if path_key((*path, live.name)) in self.listed:
                self.dropped.add(number)
        fields = [edition.by_id.get(number) for edition in editions]
        newest = next((field for field in fields[1:] if field is not None), live)
        type_ = self._type(
            [field.type if field else _NOTHING for field in fields], live.type, (*path, newest.name)
        )
        return replace(live, column_id=number, type=type_)

    def _type(self, editions: Sequence[DataType], live: DataType, path: Path) -> DataType:
        if isinstance(live, Struct):
            return self.struct(
                [edition if isinstance(edition, Struct) else _NOTHING for edition in editions], live, path
            )
        if not isinstance(live, Array | Map):
            return live
        inner_types = {
            part: self._type(
                [dict(parts(edition)).get(part, _NOTHING) for edition in editions], inner, (*path, part)
            )
            for part, inner in parts(live)
        }
        return with_parts(live, inner_types)


def _recognized(editions: Sequence[Struct], live: Struct, renamed: Mapping[str, int]) -> dict[str, int]:
    """Return the number of each live field, by its name.

    Columns that only a `renamed_from` names come first, then applied columns, then later columns of the same
    type, then all later columns.
    """
    applied = {field.column_id for field in editions[0].fields}
    numbers_by_name = dict(renamed)
    taken = set(renamed.values())
    tests: tuple[Callable[[Field, Field], bool], ...] = (
        lambda column, _field: column.column_id in applied,
        lambda column, field: is_alike(column.type, field.type),
        lambda _known, _field: True,
    )
    for matches in tests:
        for edition in editions:
            for field in live.fields:
                column = edition.get(field.name)
                number = column.column_id if column else None
                if column is None or number is None or field.name in numbers_by_name or number in taken:
                    continue
                if matches(column, field):
                    numbers_by_name[field.name] = number
                    taken.add(number)
    return numbers_by_name


def is_alike(declared: DataType, live: DataType) -> bool:
    """Return whether an interrupted run can leave a column of the declared type with the live type."""
    if isinstance(declared, Struct | Array | Map):
        return type(declared) is type(live)
    return declared == live
