"""Structs that lose all their fields: Delta cannot drop the last one, nor the last column of a table.

The error is DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA (measured on Delta 4.4.0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from schemalint.delta.change import Change, FieldAdded, FieldRemoved
from schemalint.delta.datatype import Struct, type_at
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.renames import renames_of


def emptied_structs(changes: Iterable[Change], before: Struct) -> Iterator[Path]:
    """Yield the structs that lose all their fields, by lowercased path with the parents' new names.

    Args:
        changes: All changes of the table.
        before: The columns before the changes.
    """
    found = tuple(changes)
    renames = renames_of(found)
    removals = Counter(lowercased(change.path[:-1]) for change in found if isinstance(change, FieldRemoved))
    for parent, times in removals.items():
        columns = type_at(before, renames.back(parent))
        if isinstance(columns, Struct) and times == len(columns.fields):
            yield parent


def recreated_last_fields(changes: Iterable[Change], before: Struct) -> Iterator[FieldRemoved]:
    """Yield a removed field of each struct that loses all its fields, and gets only fields with their names.

    A field with another name can be added before the drop; one with the same name only after it.
    """
    found = tuple(changes)
    added = {lowercased(change.path) for change in found if isinstance(change, FieldAdded)}
    removed = {lowercased(change.path): change for change in found if isinstance(change, FieldRemoved)}
    for parent in emptied_structs(found, before):
        new = {path for path in added if path[:-1] == parent}
        if new and new <= removed.keys():
            yield removed[min(new, key=format_path)]
