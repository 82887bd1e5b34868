"""Track columns through the revisions of a contract and on to the live table.

Names alone cannot identify a column: a swap leaves the set of names unchanged, and a recreated column has the
name of the dropped one. So the fields of both sides get numbers and are paired by number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise
from typing import Final

from schemalint.delta.datatype import (
    Array,
    DataType,
    Field,
    Map,
    Struct,
    map_fields,
    map_fields_within,
    parts,
    walk_fields,
    with_parts,
)
from schemalint.delta.diff import pair_fields, recreated_columns
from schemalint.delta.path import Path, path_key
from schemalint.delta.table import Deletion, TableState
from schemalint.values import frozen, replace

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
    """

    declared: Struct
    live: Struct
    gone: frozenset[int]
    applied: Mapping[int, str]
    retaken: frozenset[tuple[str, ...]] = frozenset()

    def composed(self, declared: TableState) -> TableState:
        """Return the declaration as one edit of the table, with the renames of all revisions composed.

        A rename starts from the live name, or from the name at the last apply. Newer columns have no rename.
        Dropped columns are listed under their own names.
        """
        former = {**self.applied, **_names(self.live)}
        new_names = _names(self.declared)
        columns = map_fields(
            self.declared,
            lambda _path, field: replace(field, column_id=None, renamed_from=_renamed_from(field, former)),
        )
        renamed = map_fields(
            self.live,
            lambda _path, field: replace(field, name=new_names.get(field.column_id or 0, field.name)),
        )
        listed = {path_key(entry.path) for entry in declared.dropped}
        dropped = (
            Deletion(path, field.type)
            for path, field in walk_fields(renamed)
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
    editions, dropped = _numbered_revisions(revisions, numbers)
    numbering = _LiveNumbering(numbers, _newly_listed(revisions[0], revisions[-1]), set(dropped))
    numbered = numbering.struct([editions[0], *reversed(editions[1:])], live, ())
    retaken = _retaken_paths(editions[:-1], editions[-1])
    return ColumnTracking(editions[-1], numbered, frozenset(numbering.dropped), _names(editions[0]), retaken)


def track_back(live: Struct, revisions: Sequence[TableState]) -> ColumnTracking:
    """Track columns back from the newest revision, which was applied, to the oldest, which is declared again.

    No column is dropped.
    """
    numbers = count(1)
    editions, _dropped = _numbered_revisions(revisions, numbers)
    numbered = _LiveNumbering(numbers, frozenset(), set()).struct([editions[-1], *editions[:-1]], live, ())
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


def _numbered_revisions(
    revisions: Sequence[TableState], numbers: Iterator[int]
) -> tuple[list[Struct], frozenset[int]]:
    """Return the numbered columns of each revision, and the numbers of the dropped columns.

    Only deletions that the newest revision still lists count.
    """
    editions = [_numbered(revisions[0].columns, numbers)]
    lost: dict[tuple[tuple[object, ...], str], Field] = {}
    dropped: dict[int, tuple[str, ...]] = {}
    for before, after in pairwise(revisions):
        step = _RevisionStep(
            numbers, recreated_columns(before, after), _newly_listed(before, after), lost, dropped
        )
        editions.append(step.struct(editions[-1], after.columns, (), ()))
    listed = {path_key(entry.path) for entry in revisions[-1].dropped}
    return editions, frozenset(number for number, path in dropped.items() if path in listed)


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
class _RevisionStep:
    """The step from one revision to the next: each field keeps its number or loses it.

    Attributes:
        lost: Collects the fields that are no longer declared, by their struct and name.
        dropped: Collects, by number, the paths of the fields that are listed as dropped.
    """

    numbers: Iterator[int]
    recreated_columns: set[tuple[str, ...]]
    listed: frozenset[tuple[str, ...]]
    lost: dict[tuple[tuple[object, ...], str], Field]
    dropped: dict[int, tuple[str, ...]]

    def struct(self, old: Struct, new: Struct, path: Path, struct_id: tuple[object, ...]) -> Struct:
        pairs = pair_fields(old, new, path, self.recreated_columns)
        for field in new.fields:
            key = (struct_id, field.name.lower())
            if (
                field.name not in pairs
                and path_key((*path, field.name)) not in self.recreated_columns
                and key in self.lost
            ):
                pairs[field.name] = self.lost.pop(key)
            elif field.name not in pairs and (former := _field_of_edited_rename(field, old, new)):
                pairs[field.name] = former
        kept = {field.column_id for field in pairs.values()}
        for field in old.fields:
            if field.column_id not in kept:
                self.lost[struct_id, field.name.lower()] = field
        self._collect_dropped(path, struct_id)
        return Struct(tuple(self._field(pairs.get(field.name), field, path) for field in new.fields))

    def _collect_dropped(self, path: Path, struct_id: tuple[object, ...]) -> None:
        """Collect the fields that are listed as dropped, even if an earlier revision left them out."""
        for (struct_key, name), field in self.lost.items():
            field_path = path_key((*path, name))
            if struct_key == struct_id and field.column_id is not None and field_path in self.listed:
                self.dropped[field.column_id] = field_path

    def _field(self, old: Field | None, new: Field, path: Path) -> Field:
        if old is None or old.column_id is None:
            (new_field,) = _numbered(Struct((new,)), self.numbers).fields
            return new_field
        self.dropped.pop(old.column_id, None)
        type_ = self._type(old.type, new.type, (*path, new.name), (old.column_id,))
        return replace(new, column_id=old.column_id, type=type_)

    def _type(self, old: DataType, new: DataType, path: Path, struct_id: tuple[object, ...]) -> DataType:
        if isinstance(old, Struct) and isinstance(new, Struct):
            return self.struct(old, new, path, struct_id)
        old_parts = dict(parts(old))
        if isinstance(new, Array | Map) and old_parts.keys() == dict(parts(new)).keys():
            inner_types = {
                part: self._type(old_parts[part], inner, (*path, part), (*struct_id, part))
                for part, inner in parts(new)
            }
            return with_parts(new, inner_types)
        return map_fields_within(new, lambda _path, field: replace(field, column_id=next(self.numbers)))


def _field_of_edited_rename(field: Field, old: Struct, new: Struct) -> Field | None:
    """Return the old field with the same ``renamed_from``: the rename was edited before it was applied."""
    if field.renamed_from is None:
        return None
    return next(
        (
            former
            for former in old.fields
            if new.get(former.name) is None and _lower(former.renamed_from) == field.renamed_from.lower()
        ),
        None,
    )


def _lower(name: str | None) -> str | None:
    return None if name is None else name.lower()


@frozen
class _LiveNumbering:
    """The step from the revisions to the live table, by name.

    An interrupted run may have left the names of any revision.

    Attributes:
        listed: The paths that are newly listed as dropped.
        dropped: Collects the numbers of the listed live fields that no revision knows.
    """

    numbers: Iterator[int]
    listed: frozenset[tuple[str, ...]]
    dropped: set[int]

    def struct(self, editions: Sequence[Struct], live: Struct, path: Path) -> Struct:
        """Return the live fields with their numbers.

        Args:
            editions: The struct in each revision: the applied revision first, then the others by likelihood;
                empty where a revision has no such struct.
            live: The live struct.
            path: The struct's path in the newest revision.
        """
        known = _recognized(editions, live)
        return Struct(
            tuple(self._field(known.get(field.name), editions, field, path) for field in live.fields)
        )

    def _field(self, number: int | None, editions: Sequence[Struct], live: Field, path: Path) -> Field:
        if number is None:
            number = next(self.numbers)
            if path_key((*path, live.name)) in self.listed:
                self.dropped.add(number)
        known = [_numbered_as(number, edition) for edition in editions]
        newest = next((field for field in known[1:] if field is not None), live)
        type_ = self._type(
            [field.type if field else _NOTHING for field in known], live.type, (*path, newest.name)
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


def _recognized(editions: Sequence[Struct], live: Struct) -> dict[str, int]:
    """Return the number of each live field, by its name.

    Applied columns come first, then later columns of the same type, then all later columns.
    """
    applied = {field.column_id for field in editions[0].fields}
    numbers_by_name: dict[str, int] = {}
    tests: tuple[Callable[[Field, Field], bool], ...] = (
        lambda known, _field: known.column_id in applied,
        lambda known, field: _is_alike(known.type, field.type),
        lambda _known, _field: True,
    )
    for matches in tests:
        for edition in editions:
            for field in live.fields:
                known = edition.get(field.name)
                number = known.column_id if known else None
                if (
                    known is None
                    or number is None
                    or field.name in numbers_by_name
                    or number in numbers_by_name.values()
                ):
                    continue
                if matches(known, field):
                    numbers_by_name[field.name] = number
    return numbers_by_name


def _is_alike(declared: DataType, live: DataType) -> bool:
    """Return whether an interrupted run can leave a column of the declared type with the live type."""
    if isinstance(declared, Struct | Array | Map):
        return type(declared) is type(live)
    return declared == live


def _numbered_as(number: int, edition: Struct) -> Field | None:
    return next((field for field in edition.fields if field.column_id == number), None)


def _newly_listed(before: TableState, after: TableState) -> frozenset[tuple[str, ...]]:
    known = {path_key(entry.path) for entry in before.dropped}
    return frozenset(path_key(entry.path) for entry in after.dropped) - known


def _numbered(struct: Struct, numbers: Iterator[int]) -> Struct:
    return map_fields(struct, lambda _path, field: replace(field, column_id=next(numbers)))
