"""Statements that add, drop, rename and move columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.delta import change
from schemalint.delta.datatype import Field, Struct, at, map_fields
from schemalint.delta.path import Path, dotted, folded
from schemalint.delta.table import TableState
from schemalint.model.plan import Approval, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import NO_WAY_BACK, Alteration
from schemalint.planner.renaming import in_order
from schemalint.values import replace


def columns_added_first(todo: Alteration) -> Iterator[Step]:
    """New fields of structs that would lose all their fields before they get them."""
    early = [replace(one, path=todo.before_renames(one.path)) for one in _early(todo)]
    yield from _added(todo, _at_the_end(early, todo.live))


def columns_dropped(todo: Alteration) -> Iterator[Step]:
    """All in one statement, under their live names."""
    gone = [replace(one, path=todo.before_renames(one.path)) for one in todo.of(change.FieldRemoved)]
    if gone:
        yield Step(
            StepKind.DROP_COLUMNS,
            sql.drop_columns(todo.table, [one.path for one in gone]),
            tuple(gone),
            tuple(f"{dotted(one.path)} is listed under dropped" for one in gone),
            undo_note=NO_WAY_BACK,
            needs=Approval.DESTRUCTIVE,
        )


def columns_renamed(todo: Alteration) -> Iterator[Step]:
    """One after the other, each to a name that is free by then."""
    renames = todo.of(change.FieldRenamed)
    for one in in_order(renames, {folded(each.path[:-1]): _staying(todo, each) for each in renames}):
        old = (*one.path[:-1], one.old_name)
        yield Step(
            StepKind.RENAME_COLUMN,
            sql.rename_column(todo.table, old, str(one.path[-1])),
            (one,),
            (f"{dotted(one.path)} was {one.old_name}",),
            undo=sql.rename_column(todo.table, one.path, one.old_name),
        )


def columns_added(todo: Alteration) -> Iterator[Step]:
    """All others in one statement, each at its place."""
    early = _early(todo)
    yield from _added(todo, [one for one in todo.of(change.FieldAdded) if one not in early])


def columns_moved(todo: Alteration) -> Iterator[Step]:
    """One after the other."""
    for one in todo.of(change.FieldMoved):
        yield Step(
            StepKind.MOVE_COLUMN,
            sql.move_column(todo.table, one.path, one.after),
            (one,),
            (f"{dotted(one.path)} is declared elsewhere",),
            undo_note="by a move back, in the contract",
        )


def _early(todo: Alteration) -> list[change.FieldAdded]:
    """What a struct needs that would be empty else.

    Delta drops no struct's last field (DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA).
    """
    found: list[change.FieldAdded] = []
    for parent in {folded(one.path[:-1]) for one in todo.of(change.FieldRemoved)}:
        old = at(todo.live.columns, todo.renames.back(parent))
        gone = [one for one in todo.of(change.FieldRemoved) if folded(one.path[:-1]) == parent]
        if isinstance(old, Struct) and len(gone) == len(old.fields):
            taken = {folded(one.path) for one in gone}
            found += [
                one
                for one in todo.of(change.FieldAdded)
                if folded(one.path[:-1]) == parent and folded(one.path) not in taken
            ]
    return found


def _at_the_end(added: Sequence[change.FieldAdded], live: TableState) -> list[change.FieldAdded]:
    """Behind the fields that are still there, in their own order."""
    last: dict[Path, str | None] = {}
    placed = []
    for one in added:
        parent = folded(one.path[:-1])
        if parent not in last:
            struct = at(live.columns, parent)
            last[parent] = struct.fields[-1].name if isinstance(struct, Struct) and struct.fields else None
        placed.append(replace(one, after=last[parent]))
        last[parent] = str(one.path[-1])
    return placed


def _added(todo: Alteration, changes: Sequence[change.FieldAdded]) -> Iterator[Step]:
    if not changes:
        return
    added = [replace(one, field=_without_defaults(one.field)) for one in changes]
    undo = sql.drop_columns(todo.table, [one.path for one in added]) if todo.will_be_mapped else None
    yield Step(
        StepKind.ADD_COLUMNS,
        sql.add_columns(todo.table, [(one.path, one.field, one.after) for one in added]),
        tuple(added),
        tuple(f"{dotted(one.path)} is declared and not there" for one in added),
        todo.added_features(added),
        undo=undo,
        undo_note="" if undo else "cannot be undone: columns are dropped with column mapping only",
    )


def _without_defaults(field: Field) -> Field:
    """Delta adds no column with a default; it is set afterwards."""
    (bare,) = map_fields(Struct((field,)), lambda _path, one: replace(one, default=None)).fields
    return bare


def _staying(todo: Alteration, one: change.FieldRenamed) -> list[str]:
    """The names beside a column, once what is to be dropped is gone."""
    parent = at(todo.live.columns, todo.renames.back(one.path[:-1]))
    gone = {
        str(each.path[-1]).lower()
        for each in todo.of(change.FieldRemoved)
        if folded(each.path[:-1]) == folded(one.path[:-1])
    }
    fields = parent.fields if isinstance(parent, Struct) else ()
    return [field.name for field in fields if field.name.lower() not in gone]
