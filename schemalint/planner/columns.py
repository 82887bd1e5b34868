"""Statements that add, drop, rename and move columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.delta import change
from schemalint.delta.datatype import Field, Struct, map_fields, type_at
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.table import TableState
from schemalint.model.plan import Approval, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import NO_WAY_BACK, AlterContext
from schemalint.planner.renaming import in_order
from schemalint.values import replace


def columns_added_first(context: AlterContext) -> Iterator[Step]:
    """New fields of structs that would lose all their fields before they get them."""
    early = [replace(one, path=context.before_renames(one.path)) for one in _early(context)]
    yield from _added(context, _at_the_end(early, context.live))


def columns_dropped(context: AlterContext) -> Iterator[Step]:
    """All in one statement, under their live names."""
    gone = [replace(one, path=context.before_renames(one.path)) for one in context.of(change.FieldRemoved)]
    if gone:
        yield Step(
            StepKind.DROP_COLUMNS,
            sql.drop_columns(context.table, [one.path for one in gone]),
            tuple(gone),
            tuple(f"{format_path(one.path)} is listed under dropped" for one in gone),
            undo_note=NO_WAY_BACK,
            needs=Approval.DESTRUCTIVE,
        )


def columns_renamed(context: AlterContext) -> Iterator[Step]:
    """One after the other, each to a name that is free by then."""
    renames = context.of(change.FieldRenamed)
    for one in in_order(renames, {lowercased(each.path[:-1]): _staying(context, each) for each in renames}):
        old = (*one.path[:-1], one.old_name)
        yield Step(
            StepKind.RENAME_COLUMN,
            sql.rename_column(context.table, old, str(one.path[-1])),
            (one,),
            (f"{format_path(one.path)} was {one.old_name}",),
            undo=sql.rename_column(context.table, one.path, one.old_name),
        )


def columns_added(context: AlterContext) -> Iterator[Step]:
    """All others in one statement, each at its place."""
    early = _early(context)
    yield from _added(context, [one for one in context.of(change.FieldAdded) if one not in early])


def columns_moved(context: AlterContext) -> Iterator[Step]:
    """One after the other."""
    for one in context.of(change.FieldMoved):
        yield Step(
            StepKind.MOVE_COLUMN,
            sql.move_column(context.table, one.path, one.after),
            (one,),
            (f"{format_path(one.path)} is declared elsewhere",),
            undo_note="by a move back, in the contract",
        )


def _early(context: AlterContext) -> list[change.FieldAdded]:
    """What a struct needs that would be empty else.

    Delta drops no struct's last field (DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA).
    """
    found: list[change.FieldAdded] = []
    for parent in {lowercased(one.path[:-1]) for one in context.of(change.FieldRemoved)}:
        old = type_at(context.live.columns, context.renames.back(parent))
        gone = [one for one in context.of(change.FieldRemoved) if lowercased(one.path[:-1]) == parent]
        if isinstance(old, Struct) and len(gone) == len(old.fields):
            taken = {lowercased(one.path) for one in gone}
            found += [
                one
                for one in context.of(change.FieldAdded)
                if lowercased(one.path[:-1]) == parent and lowercased(one.path) not in taken
            ]
    return found


def _at_the_end(added: Sequence[change.FieldAdded], live: TableState) -> list[change.FieldAdded]:
    """Behind the fields that are still there, in their own order."""
    last: dict[Path, str | None] = {}
    placed = []
    for one in added:
        parent = lowercased(one.path[:-1])
        if parent not in last:
            struct = type_at(live.columns, parent)
            last[parent] = struct.fields[-1].name if isinstance(struct, Struct) and struct.fields else None
        placed.append(replace(one, after=last[parent]))
        last[parent] = str(one.path[-1])
    return placed


def _added(context: AlterContext, changes: Sequence[change.FieldAdded]) -> Iterator[Step]:
    if not changes:
        return
    added = [replace(one, field=_without_defaults(one.field)) for one in changes]
    undo = sql.drop_columns(context.table, [one.path for one in added]) if context.will_be_mapped else None
    yield Step(
        StepKind.ADD_COLUMNS,
        sql.add_columns(context.table, [(one.path, one.field, one.after) for one in added]),
        tuple(added),
        tuple(f"{format_path(one.path)} is declared and not there" for one in added),
        context.added_features(added),
        undo=undo,
        undo_note="" if undo else "cannot be undone: columns are dropped with column mapping only",
    )


def _without_defaults(field: Field) -> Field:
    """Delta adds no column with a default; it is set afterwards."""
    (bare,) = map_fields(Struct((field,)), lambda _path, one: replace(one, default=None)).fields
    return bare


def _staying(context: AlterContext, one: change.FieldRenamed) -> list[str]:
    """The names beside a column, once what is to be dropped is gone."""
    parent = type_at(context.live.columns, context.renames.back(one.path[:-1]))
    gone = {
        str(each.path[-1]).lower()
        for each in context.of(change.FieldRemoved)
        if lowercased(each.path[:-1]) == lowercased(one.path[:-1])
    }
    fields = parent.fields if isinstance(parent, Struct) else ()
    return [field.name for field in fields if field.name.lower() not in gone]
