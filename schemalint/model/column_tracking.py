"""Which column is which: from one revision of a contract to the next, and on to the live table.

Names alone cannot say it: in a swap both are there before and after, and a column that was dropped and made
anew has the name of the old one. So the fields of both sides get numbers, and are paired by them.
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
        declared: A field that is a live one under whatever name has that one's number.
        live: Every field has a number.
        gone: The numbers of live fields that are to be dropped by declaration.
        applied: The names of the columns, by number, when the contract was applied last.
        retaken: The declared paths whose names other columns had since then.
    """

    declared: Struct
    live: Struct
    gone: frozenset[int]
    applied: Mapping[int, str]
    retaken: frozenset[tuple[str, ...]] = frozenset()

    def composed(self, declared: TableState) -> TableState:
        """The declaration as one edit of the table: what revisions in between say of names is composed.

        A rename is from the name that the column has, or had when the contract was applied last; what is
        newer than that is renamed from none. What goes is listed under its own name.
        """
        former = {**self.applied, **_names(self.live)}
        now = _names(self.declared)
        columns = map_fields(
            self.declared,
            lambda _path, one: replace(one, column_id=None, renamed_from=_renamed_from(one, former)),
        )
        renamed = map_fields(
            self.live, lambda _path, one: replace(one, name=now.get(one.column_id or 0, one.name))
        )
        listed = {path_key(entry.path) for entry in declared.dropped}
        gone = (
            Deletion(path, one.type)
            for path, one in walk_fields(renamed)
            if one.column_id in self.gone and path_key(path) not in listed
        )
        return replace(declared, columns=columns, dropped=(*declared.dropped, *gone))


def track_columns(live: Struct, revisions: Sequence[TableState]) -> ColumnTracking:
    """The tracking of a declaration over all that a contract was since it was applied.

    Renames of the revisions in between are composed in order. A deletion acts only where it is listed anew.

    Args:
        live: The columns of a table to which the oldest revision was applied.
        revisions: The contract's states, oldest first; the last one is the declaration.
    """
    numbers = count(1)
    editions, gone = _followed(revisions, numbers)
    finding = _Finding(numbers, _newly_listed(revisions[0], revisions[-1]), set(gone))
    found = finding.struct([editions[0], *reversed(editions[1:])], live, ())
    retaken = _retaken(editions[:-1], editions[-1])
    return ColumnTracking(editions[-1], found, frozenset(finding.gone), _names(editions[0]), retaken)


def track_back(live: Struct, revisions: Sequence[TableState]) -> ColumnTracking:
    """As `track_columns`, where the newest revision was applied and the oldest is declared again.

    No column is dropped.
    """
    numbers = count(1)
    editions, _gone = _followed(revisions, numbers)
    found = _Finding(numbers, frozenset(), set()).struct([editions[-1], *editions[:-1]], live, ())
    retaken = _retaken(editions[1:], editions[0])
    return ColumnTracking(editions[0], found, frozenset(), _names(editions[-1]), retaken)


def resume_tracking(live: Struct, declared: Struct, targets: Mapping[int, Path | None]) -> ColumnTracking:
    """The tracking of a declaration that is half applied, as the table itself remembers it.

    Args:
        live: The columns, with the ids of column mapping.
        declared: Those of the very declaration that was being applied.
        targets: For each id the path that it is to have, None for a column to be dropped.
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
    """The path of every numbered field."""
    return {field.column_id: path for path, field in walk_fields(columns) if field.column_id is not None}


def _names(columns: Struct) -> dict[int, str]:
    return {number: str(path[-1]) for number, path in column_numbers(columns).items()}


def _renamed_from(one: Field, former: Mapping[int, str]) -> str | None:
    name = former.get(one.column_id or 0)
    if name is None or name.lower() != one.name.lower():
        return name
    return name if one.renamed_from == name else None  # a change of case counts where it is declared


def _followed(revisions: Sequence[TableState], numbers: Iterator[int]) -> tuple[list[Struct], frozenset[int]]:
    """The columns of each revision with the numbers that they carry on, and the numbers given up for good.

    A deletion that a later revision takes back never was: only what the newest one lists goes.
    """
    editions = [_numbered(revisions[0].columns, numbers)]
    lost: dict[tuple[tuple[object, ...], str], Field] = {}
    gone: dict[int, tuple[str, ...]] = {}
    for before, after in pairwise(revisions):
        following = _Following(
            numbers, recreated_columns(before, after), _newly_listed(before, after), lost, gone
        )
        editions.append(following.struct(editions[-1], after.columns, (), ()))
    listed = {path_key(entry.path) for entry in revisions[-1].dropped}
    return editions, frozenset(number for number, path in gone.items() if path in listed)


def _retaken(editions: Iterable[Struct], declared: Struct) -> frozenset[tuple[str, ...]]:
    return frozenset(path for edition in editions for path in _taken_from(edition, declared, ()))


def _taken_from(old: Struct, new: Struct, path: Path) -> Iterator[tuple[str, ...]]:
    by_number = {field.column_id: field for field in old.fields}
    for field in new.fields:
        namesake, before = old.get(field.name), by_number.get(field.column_id)
        below = (*path, field.name)
        if namesake is not None and namesake.column_id != field.column_id:
            yield path_key(below)
        if before is not None:
            for inside, inner, other in _structs(before.type, field.type, below):
                yield from _taken_from(inner, other, inside)


def _structs(old: DataType, new: DataType, path: Path) -> Iterator[tuple[Path, Struct, Struct]]:
    """The structs of two types that stand at the same place, without those inside of structs."""
    if isinstance(old, Struct) and isinstance(new, Struct):
        yield path, old, new
        return
    others = dict(parts(new))
    for part, inner in parts(old):
        if part in others:
            yield from _structs(inner, others[part], (*path, part))


@frozen
class _Following:
    """From one revision to the next: numbers are carried on, or given up.

    Attributes:
        lost: Takes the fields that are declared no longer, by the struct they were in and their names.
        gone: Takes the paths of those that are listed to be dropped.
    """

    numbers: Iterator[int]
    recreated_columns: set[tuple[str, ...]]
    listed: frozenset[tuple[str, ...]]
    lost: dict[tuple[tuple[object, ...], str], Field]
    gone: dict[int, tuple[str, ...]]

    def struct(self, old: Struct, new: Struct, path: Path, inside: tuple[object, ...]) -> Struct:
        pairs = pair_fields(old, new, path, self.recreated_columns)
        for field in new.fields:
            key = (inside, field.name.lower())
            if (
                field.name not in pairs
                and path_key((*path, field.name)) not in self.recreated_columns
                and key in self.lost
            ):
                pairs[field.name] = self.lost.pop(key)
            elif field.name not in pairs and (former := _renamed_otherwise(field, old, new)):
                pairs[field.name] = former
        kept = {field.column_id for field in pairs.values()}
        for field in old.fields:
            if field.column_id not in kept:
                self.lost[inside, field.name.lower()] = field
        self._give_up(path, inside)
        return Struct(tuple(self._field(pairs.get(field.name), field, path) for field in new.fields))

    def _give_up(self, path: Path, inside: tuple[object, ...]) -> None:
        """What is listed now, also if it was left out by an earlier revision."""
        for (where, name), field in self.lost.items():
            below = path_key((*path, name))
            if where == inside and field.column_id is not None and below in self.listed:
                self.gone[field.column_id] = below

    def _field(self, old: Field | None, new: Field, path: Path) -> Field:
        if old is None or old.column_id is None:
            (numbered,) = _numbered(Struct((new,)), self.numbers).fields
            return numbered
        self.gone.pop(old.column_id, None)
        type_ = self._type(old.type, new.type, (*path, new.name), (old.column_id,))
        return replace(new, column_id=old.column_id, type=type_)

    def _type(self, old: DataType, new: DataType, path: Path, inside: tuple[object, ...]) -> DataType:
        if isinstance(old, Struct) and isinstance(new, Struct):
            return self.struct(old, new, path, inside)
        others = dict(parts(old))
        if isinstance(new, Array | Map) and others.keys() == dict(parts(new)).keys():
            followed = {
                part: self._type(others[part], inner, (*path, part), (*inside, part))
                for part, inner in parts(new)
            }
            return with_parts(new, followed)
        return map_fields_within(new, lambda _path, field: replace(field, column_id=next(self.numbers)))


def _renamed_otherwise(one: Field, old: Struct, new: Struct) -> Field | None:
    """The old field that was renamed from the same one: the rename was edited before it was applied."""
    if one.renamed_from is None:
        return None
    return next(
        (
            former
            for former in old.fields
            if new.get(former.name) is None and _lower(former.renamed_from) == one.renamed_from.lower()
        ),
        None,
    )


def _lower(name: str | None) -> str | None:
    return None if name is None else name.lower()


@frozen
class _Finding:
    """From the revisions to the live table, by names: a run that was cut short left it at those of any.

    Attributes:
        listed: The paths that were listed to be dropped.
        gone: Takes the numbers of live fields that no revision knows, and that are listed.
    """

    numbers: Iterator[int]
    listed: frozenset[tuple[str, ...]]
    gone: set[int]

    def struct(self, editions: Sequence[Struct], live: Struct, path: Path) -> Struct:
        """The live fields with their numbers.

        Args:
            editions: The revisions of the struct, the one that was applied first, then as they are likely;
                where there is no such struct, an empty one.
            live: As it is.
            path: As the newest revision has it.
        """
        known = _recognized(editions, live)
        return Struct(
            tuple(self._field(known.get(field.name), editions, field, path) for field in live.fields)
        )

    def _field(self, number: int | None, editions: Sequence[Struct], live: Field, path: Path) -> Field:
        if number is None:
            number = next(self.numbers)
            if path_key((*path, live.name)) in self.listed:
                self.gone.add(number)
        known = [_numbered_as(number, edition) for edition in editions]
        newest = next((one for one in known[1:] if one is not None), live)
        type_ = self._type([one.type if one else _NOTHING for one in known], live.type, (*path, newest.name))
        return replace(live, column_id=number, type=type_)

    def _type(self, editions: Sequence[DataType], live: DataType, path: Path) -> DataType:
        if isinstance(live, Struct):
            return self.struct([one if isinstance(one, Struct) else _NOTHING for one in editions], live, path)
        if not isinstance(live, Array | Map):
            return live
        inside = {
            part: self._type([dict(parts(one)).get(part, _NOTHING) for one in editions], inner, (*path, part))
            for part, inner in parts(live)
        }
        return with_parts(live, inside)


def _recognized(editions: Sequence[Struct], live: Struct) -> dict[str, int]:
    """The number of each live field by its name.

    Of the columns that were applied; then of later ones that have its type; then of any.
    """
    applied = {field.column_id for field in editions[0].fields}
    found: dict[str, int] = {}
    tests: tuple[Callable[[Field, Field], bool], ...] = (
        lambda known, _field: known.column_id in applied,
        lambda known, field: _is_alike(known.type, field.type),
        lambda _known, _field: True,
    )
    for is_it in tests:
        for edition in editions:
            for field in live.fields:
                known = edition.get(field.name)
                number = known.column_id if known else None
                if known is None or number is None or field.name in found or number in found.values():
                    continue
                if is_it(known, field):
                    found[field.name] = number
    return found


def _is_alike(one: DataType, other: DataType) -> bool:
    """Whether a column of the one type could be left as one of the other by a run that was cut short."""
    if isinstance(one, Struct | Array | Map):
        return type(one) is type(other)
    return one == other


def _numbered_as(number: int, edition: Struct) -> Field | None:
    return next((field for field in edition.fields if field.column_id == number), None)


def _newly_listed(before: TableState, after: TableState) -> frozenset[tuple[str, ...]]:
    known = {path_key(entry.path) for entry in before.dropped}
    return frozenset(path_key(entry.path) for entry in after.dropped) - known


def _numbered(struct: Struct, numbers: Iterator[int]) -> Struct:
    return map_fields(struct, lambda _path, field: replace(field, column_id=next(numbers)))
