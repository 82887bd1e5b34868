"""Number the columns of a contract's revisions: a column keeps its number under all its names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from schemalint.base.values import frozen, replace
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
from schemalint.delta.diff import newly_listed, pair_fields, recreated_columns
from schemalint.delta.path import Path, path_key
from schemalint.delta.table import TableState


def numbered_revisions(
    revisions: Sequence[TableState], numbers: Iterator[int]
) -> tuple[list[Struct], frozenset[int], dict[int, str]]:
    """Return the numbered columns of each revision, the numbers of the dropped columns, and the origins.

    Only deletions that the newest revision still lists count.
    """
    editions = [with_numbers(revisions[0].columns, numbers)]
    lost: defaultdict[tuple[object, ...], dict[str, Field]] = defaultdict(dict)
    dropped: dict[int, tuple[str, ...]] = {}
    origins: dict[int, str] = {}
    for before, after in pairwise(revisions):
        step = _RevisionStep(
            numbers, recreated_columns(before, after), listed_paths(before, after), lost, dropped, origins
        )
        editions.append(step.struct(editions[-1], after.columns, (), ()))
    listed = revisions[-1].dropped_by_key
    return editions, frozenset(number for number, path in dropped.items() if path in listed), origins


@frozen
class _RevisionStep:
    """The step from one revision to the next: each field keeps its number or loses it.

    Attributes:
        lost: Collects the fields that are no longer declared, by their struct and name.
        dropped: Collects, by number, the paths of the fields that are listed as dropped.
        origins: Collects, by number, the old names of renamed fields that no revision has under these names.
    """

    numbers: Iterator[int]
    recreated_columns: set[tuple[str, ...]]
    listed: frozenset[tuple[str, ...]]
    lost: defaultdict[tuple[object, ...], dict[str, Field]]
    dropped: dict[int, tuple[str, ...]]
    origins: dict[int, str]

    def struct(self, old: Struct, new: Struct, path: Path, struct_id: tuple[object, ...]) -> Struct:
        pairs = pair_fields(old, new, path, self.recreated_columns)
        lost = self.lost[struct_id]
        edited = _by_edited_rename(old, new)
        for field in new.fields:
            key, old_key = field.name.lower(), (field.renamed_from or "").lower()
            namesake = old.get(field.name)
            is_renamed = namesake is None or namesake.renamed_from != field.renamed_from
            if is_renamed and pairs.get(field.name) in (None, namesake) and old_key in lost:
                pairs[field.name] = lost.pop(old_key)
            elif (
                field.name not in pairs
                and path_key((*path, field.name)) not in self.recreated_columns
                and key in lost
            ):
                pairs[field.name] = lost.pop(key)
            elif field.name not in pairs and old_key in edited:
                pairs[field.name] = edited[old_key]
        kept = {field.column_id for field in pairs.values()}
        for field in old.fields:
            if field.column_id not in kept:
                lost[field.name.lower()] = field
        self._collect_dropped(path, struct_id)
        return Struct(tuple(self._field(pairs.get(field.name), field, path) for field in new.fields))

    def _collect_dropped(self, path: Path, struct_id: tuple[object, ...]) -> None:
        """Collect the fields that are listed as dropped, even if an earlier revision left them out."""
        for name, field in self.lost[struct_id].items():
            field_path = path_key((*path, name))
            if field.column_id is not None and field_path in self.listed:
                self.dropped[field.column_id] = field_path

    def _field(self, old: Field | None, new: Field, path: Path) -> Field:
        if old is None or old.column_id is None:
            numbered = with_numbers(Struct((new,)), self.numbers)
            for _path, field in walk_fields(numbered):
                self._collect_origin(field)
            return numbered.fields[0]
        self.dropped.pop(old.column_id, None)
        if old.column_id in self.origins and old.name.lower() == new.name.lower():
            self.origins.pop(old.column_id)  # the rename may be corrected, or taken back
            self._collect_origin(replace(new, column_id=old.column_id))
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

    def _collect_origin(self, field: Field) -> None:
        if field.renamed_from is not None and field.column_id is not None:
            self.origins[field.column_id] = field.renamed_from


def _by_edited_rename(old: Struct, new: Struct) -> dict[str, Field]:
    """Return the old fields that are gone, by their ``renamed_from`` in lower case.

    A new field with the same one is the old field: the rename was edited before it was applied.
    """
    return {
        field.renamed_from.lower(): field
        for field in reversed(old.fields)
        if field.renamed_from and new.get(field.name) is None
    }


def listed_paths(before: TableState, after: TableState) -> frozenset[tuple[str, ...]]:
    """Return the paths of the deletions that the later revision lists newly."""
    return frozenset(path_key(entry.path) for entry in newly_listed(before, after))


def with_numbers(struct: Struct, numbers: Iterator[int | None]) -> Struct:
    """Return the columns with these numbers in place of their ids, in the order of `map_fields`."""
    return map_fields(struct, lambda _path, field: replace(field, column_id=next(numbers)))
