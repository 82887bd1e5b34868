"""Refuse changes that would lose the lengths of ``char(n)`` and ``varchar(n)`` inside columns.

`schemalint.delta.lengths` says how Delta stores these lengths, and what damages them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemalint.base.values import replace
from schemalint.delta.change import (
    Change,
    CommentChanged,
    DefaultChanged,
    FieldAdded,
    FieldMoved,
    FieldRemoved,
    FieldRenamed,
    NullabilityChanged,
    Renames,
    renames_of,
)
from schemalint.delta.datatype import Field, field_at
from schemalint.delta.lengths import (
    columns_with_lengths,
    is_lost_if_altered,
    loses_lengths,
    shifted_structs,
)
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import format_path, lowercased
from schemalint.delta.table import TableState
from schemalint.model.finding import object_of_change
from schemalint.model.table_plan import Refusal, RefusalKind


def lost_lengths(changes: Iterable[Change], live: TableState) -> Iterator[Refusal]:
    """Refuse the changes of a live table that would lose lengths, or damage the column around them."""
    all_changes = tuple(changes)
    renames = renames_of(all_changes)
    removed = [
        renames.parents_back(change.path) for change in all_changes if isinstance(change, FieldRemoved)
    ]
    lengths = columns_with_lengths(live.columns, removed)
    for change in all_changes:
        if isinstance(change, FieldAdded) and loses_lengths(
            replace(change, path=renames.back(change.path)), lengths
        ):
            yield Refusal(
                RefusalKind.DECLARATION,
                f"{format_path(change.path)} cannot be added: Delta would lose the other lengths in "
                f"{change.path[0]}",
                "declare the new field as string",
                about=object_of_change(change),
            )
    yield from _moves_that_shift(all_changes, live)
    refused: set[str] = set()
    for change in all_changes:
        column = _altered_column(change, live, renames)
        if column is None or column.name in refused or not is_lost_if_altered(column):
            continue
        refused.add(column.name)
        yield Refusal(
            # Only this run requests the moves: check does not know of them.
            RefusalKind.OPERATION if isinstance(change, FieldMoved) else RefusalKind.DECLARATION,
            f"{format_path((column.name,))} itself cannot be altered: Delta would damage its nested types, "
            "because some are char or varchar",
            "alter only fields inside it; or add a new column that uses string instead",
            about=object_of_change(change),
        )


def _moves_that_shift(changes: tuple[Change, ...], live: TableState) -> Iterator[Refusal]:
    moves = [change for change in changes if isinstance(change, FieldMoved)]
    if not moves:
        return
    # The moves come last: the text that a new field wrote does not follow them.
    before = apply_changes(live, [change for change in changes if not isinstance(change, FieldMoved)])
    shifted = shifted_structs(before.columns, apply_changes(live, changes).columns, ())
    for move in moves:
        if lowercased(move.path[:-1]) in shifted:
            yield Refusal(
                RefusalKind.OPERATION,
                f"{format_path(move.path)} cannot be moved: Delta would find the lengths of char and varchar "
                f"in {format_path(move.path[:-1])} at other fields",
                "leave the fields of this struct in their order",
                about=object_of_change(move),
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
