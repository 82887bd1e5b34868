"""Which column is which: from one revision of a contract to the next, and on to the live table.

Names alone cannot say it: in a swap both are there before and after, and a column that was dropped and made
anew has the name of the old one. So the fields of both sides get numbers, and are paired by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, pairwise

from schemalint.model.datatype import (
    Array,
    DataType,
    Field,
    Map,
    Struct,
    map_fields,
    map_fields_within,
    walk_fields,
)
from schemalint.model.diff import made_anew, paired
from schemalint.model.path import Part, Path, words
from schemalint.model.table import TableState


@dataclass(frozen=True, slots=True)
class Lineage:
    """The columns of a declaration and of a live table, numbered in ``column_id``.

    Attributes:
        declared: A field that is a live one under whatever name has that one's number.
        live: Every field has a number.
        gone: The numbers of live fields that are to be dropped by declaration.
    """

    declared: Struct
    live: Struct
    gone: frozenset[int]


def trace(live: Struct, revisions: Sequence[TableState]) -> Lineage:
    """The lineage of a declaration over all that a contract was since it was applied.

    Renames of the revisions in between are composed in order. A deletion acts only where it is listed anew.

    Args:
        live: The columns of a table to which the oldest revision was applied.
        revisions: The contract's states, oldest first; the last one is the declaration.
    """
    numbers = count(1)
    first = _numbered(revisions[0].columns, numbers)
    declared, gone = _followed(first, revisions, numbers)
    return Lineage(declared, _on_live(first, live, numbers), gone)


def trace_back(live: Struct, revisions: Sequence[TableState]) -> Lineage:
    """As `trace`, where the newest revision was applied and the oldest is declared again: nothing goes."""
    numbers = count(1)
    first = _numbered(revisions[0].columns, numbers)
    newest, _gone = _followed(first, revisions, numbers)
    return Lineage(first, _on_live(newest, live, numbers), frozenset())


def resumed(live: Struct, declared: Struct, targets: Mapping[int, Path | None]) -> Lineage:
    """The lineage of a declaration that is half applied, as the table itself remembers it.

    Args:
        live: The columns, with the ids of column mapping.
        declared: Those of the very declaration that was being applied.
        targets: For each id the path that it is to have, None for a column to be dropped.
    """
    ids = {words(path): number for number, path in targets.items() if path is not None}
    numbers = count(-1, -1)
    return Lineage(
        declared=map_fields(
            declared,
            lambda path, field: replace(field, column_id=ids.get(words(path)) or next(numbers)),
        ),
        live=live,
        gone=frozenset(number for number, path in targets.items() if path is None),
    )


def numbers_of(columns: Struct) -> dict[int, Path]:
    """The path of every numbered field."""
    return {field.column_id: path for path, field in walk_fields(columns) if field.column_id is not None}


def _followed(
    columns: Struct, revisions: Sequence[TableState], numbers: Iterator[int]
) -> tuple[Struct, frozenset[int]]:
    """The newest revision's columns with the numbers of the oldest's, and the numbers that were given up."""
    gone: set[int] = set()
    for before, after in pairwise(revisions):
        following = _Following(numbers, made_anew(before, after), _newly_listed(before, after), gone)
        columns = following.struct(columns, after.columns, ())
    return columns, frozenset(gone)


def _on_live(columns: Struct, live: Struct, numbers: Iterator[int]) -> Struct:
    return _Following(numbers, set(), frozenset(), set()).struct(columns, _by_name_alone(live), ())


@dataclass(frozen=True, slots=True)
class _Following:
    """From one revision to the next: numbers are carried on, or given up."""

    numbers: Iterator[int]
    made_anew: set[tuple[str, ...]]
    listed: frozenset[tuple[str, ...]]
    gone: set[int]

    def struct(self, old: Struct, new: Struct, path: Path) -> Struct:
        pairs = paired(old, new, path, self.made_anew)
        kept = {field.name for field in pairs.values()}
        self.gone.update(
            field.column_id
            for field in old.fields
            if field.name not in kept
            and field.column_id is not None
            and words((*path, field.name)) in self.listed
        )
        return Struct(tuple(self._field(pairs.get(field.name), field, path) for field in new.fields))

    def _field(self, old: Field | None, new: Field, path: Path) -> Field:
        if old is None:
            (numbered,) = _numbered(Struct((new,)), self.numbers).fields
            return numbered
        type_ = self._type(old.type, new.type, (*path, new.name))
        return replace(new, column_id=old.column_id, type=type_)

    def _type(self, old: DataType, new: DataType, path: Path) -> DataType:
        match old, new:
            case Struct(), Struct():
                return self.struct(old, new, path)
            case Array(), Array():
                return replace(new, element=self._type(old.element, new.element, (*path, Part.ELEMENT)))
            case Map(), Map():
                return replace(
                    new,
                    key=self._type(old.key, new.key, (*path, Part.KEY)),
                    value=self._type(old.value, new.value, (*path, Part.VALUE)),
                )
            case _:
                return map_fields_within(
                    new, lambda _path, field: replace(field, column_id=next(self.numbers))
                )


def _by_name_alone(live: Struct) -> Struct:
    return map_fields(live, lambda _path, field: replace(field, column_id=None, renamed_from=None))


def _newly_listed(before: TableState, after: TableState) -> frozenset[tuple[str, ...]]:
    known = {words(entry.path) for entry in before.dropped}
    return frozenset(words(entry.path) for entry in after.dropped) - known


def _numbered(struct: Struct, numbers: Iterator[int]) -> Struct:
    return map_fields(struct, lambda _path, field: replace(field, column_id=next(numbers)))
