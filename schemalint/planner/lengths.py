"""``char(n)`` and ``varchar(n)`` inside of columns: what Delta would lose; see `schemalint.delta.lengths`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from schemalint.delta import change
from schemalint.delta.change import Change
from schemalint.delta.datatype import Char, Field, Varchar, field_at, walk
from schemalint.delta.lengths import has_length, is_lost_if_altered
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.renames import Renames, renames_of
from schemalint.delta.table import TableState
from schemalint.model.finding import object_of_change
from schemalint.model.plan import Refusal


def lost_lengths(changes: Iterable[Change], live: TableState) -> Iterator[Refusal]:
    """The changes of a live table that would lose lengths, or all that stands beside them."""
    found = tuple(changes)
    renames = renames_of(found)
    gone = [
        lowercased((*renames.back(one.path[:-1]), one.path[-1]))
        for one in found
        if isinstance(one, change.FieldRemoved)
    ]
    for one in found:
        if isinstance(one, change.FieldAdded):
            yield from _lost_by_another(one, live.columns.get(str(renames.back(one.path)[0])), gone)
    told: set[str] = set()
    for one in found:
        column = _altered_itself(one, live, renames)
        if column is None or column.name in told or not is_lost_if_altered(column):
            continue
        told.add(column.name)
        name = format_path((column.name,))
        yield Refusal(
            f"{name} cannot be altered itself: Delta would lose what is in it, for its lengths",
            "what is inside of it can be altered; or make a new column, with strings",
            about=object_of_change(one),
        )


def _lost_by_another(one: change.FieldAdded, column: Field | None, gone: Sequence[Path]) -> Iterator[Refusal]:
    """A new field with a length, in a column that has lengths: Delta then keeps the new one's alone.

    The text is made anew from fields that have lost theirs. Fields without a length leave it alone.
    """
    if column is None or len(one.path) == 1 or not has_length(one.field.type):
        return
    kept = (path for path in _lengths(column) if not any(path[: len(above)] == above for above in gone))
    if any(True for _ in kept):
        yield Refusal(
            f"{format_path(one.path)} cannot be added: Delta would lose the other lengths in {column.name}",
            "declare the new field as string",
        )


def _altered_itself(one: Change, live: TableState, renames: Renames) -> Field | None:
    """The column that a statement names, where it names a column and nothing inside of one."""
    match one:
        case change.FieldRenamed(path=(_,), old_name=name):
            return live.columns.get(name)
        case change.FieldAdded(path=(_,), field=new):
            return new if isinstance(new.default, str) else None  # it is set by a statement of its own
        case (
            change.CommentChanged(path=(_,) as path)
            | change.DefaultChanged(path=(_,) as path)
            | change.NullabilityChanged(path=(_,) as path)
            | change.FieldMoved(path=(_,) as path)
        ):
            return field_at(live.columns, renames.back(path))
        case _:
            return None


def _lengths(column: Field) -> Iterator[Path]:
    """Where there are any, folded."""
    for path, inner in walk(column.type, (column.name,)):
        if isinstance(inner, Char | Varchar):
            yield lowercased(path)
