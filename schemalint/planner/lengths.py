"""Refuse changes that would lose the lengths of ``char(n)`` and ``varchar(n)`` inside columns.

`schemalint.delta.lengths` says how Delta stores these lengths, and what damages them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemalint.delta.change import (
    Change,
    CommentChanged,
    DefaultChanged,
    FieldAdded,
    FieldMoved,
    FieldRemoved,
    FieldRenamed,
    NullabilityChanged,
)
from schemalint.delta.datatype import Char, Field, Varchar, field_at, walk
from schemalint.delta.lengths import has_length, is_lost_if_altered
from schemalint.delta.path import Path, format_path, is_within, lowercased
from schemalint.delta.renames import Renames, renames_of
from schemalint.delta.table import TableState
from schemalint.model.finding import object_of_change
from schemalint.model.plan import Refusal


def lost_lengths(changes: Iterable[Change], live: TableState) -> Iterator[Refusal]:
    """Refuse the changes of a live table that would lose lengths, or damage the column around them."""
    found = tuple(changes)
    renames = renames_of(found)
    removed = [
        lowercased((*renames.back(change.path[:-1]), change.path[-1]))
        for change in found
        if isinstance(change, FieldRemoved)
    ]
    for change in found:
        if isinstance(change, FieldAdded):
            column = live.columns.get(str(renames.back(change.path)[0]))
            yield from _lost_by_addition(change, column, removed)
    refused: set[str] = set()
    for change in found:
        column = _altered_column(change, live, renames)
        if column is None or column.name in refused or not is_lost_if_altered(column):
            continue
        refused.add(column.name)
        yield Refusal(
            f"{format_path((column.name,))} itself cannot be altered: Delta would damage its nested types, "
            "because some are char or varchar",
            "alter only fields inside it; or add a new column that uses string instead",
            about=object_of_change(change),
        )


def _lost_by_addition(added: FieldAdded, column: Field | None, removed: Sequence[Path]) -> Iterator[Refusal]:
    """Refuse a new field with a length in a column that has lengths: Delta keeps only the new one.

    Delta rebuilds the stored text from fields that have lost their lengths. A field without a length does not
    change the text.
    """
    if column is None or len(added.path) == 1 or not has_length(added.field.type):
        return
    kept = (path for path in _length_paths(column) if not any(is_within(path, above) for above in removed))
    if any(True for _ in kept):
        yield Refusal(
            f"{format_path(added.path)} cannot be added: Delta would lose the other lengths in {column.name}",
            "declare the new field as string",
        )


def _altered_column(change: Change, live: TableState, renames: Renames) -> Field | None:
    """Return the top-level column that the statement alters; None if it alters only something inside one."""
    match change:
        case FieldRenamed(path=(_,), old_name=name):
            return live.columns.get(name)
        case FieldAdded(path=(_,), field=new):
            return new if isinstance(new.default, str) else None  # a separate statement sets the default
        case (
            CommentChanged(path=(_,) as path)
            | DefaultChanged(path=(_,) as path)
            | NullabilityChanged(path=(_,) as path)
            | FieldMoved(path=(_,) as path)
        ):
            return field_at(live.columns, renames.back(path))
        case _:
            return None


def _length_paths(column: Field) -> Iterator[Path]:
    """Yield the paths of char and varchar in a column, in lower case."""
    for path, inner in walk(column.type, (column.name,)):
        if isinstance(inner, Char | Varchar):
            yield lowercased(path)
