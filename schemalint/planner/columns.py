"""Statements that add, drop, rename and move columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemalint.delta.change import FieldAdded, FieldMoved, FieldRemoved, FieldRenamed
from schemalint.delta.datatype import Field, Struct, map_fields, type_at
from schemalint.delta.path import Path, format_path, lowercased
from schemalint.delta.table import TableState
from schemalint.model.plan import Approval, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import IRREVERSIBLE, AlterContext
from schemalint.planner.renaming import ordered_renames
from schemalint.values import replace


def columns_added_first(context: AlterContext) -> Iterator[Step]:
    """Add fields to structs that would otherwise lose all their fields."""
    early = [replace(added, path=context.before_renames(added.path)) for added in _needed_early(context)]
    yield from _added(context, _appended(early, context.live))


def columns_dropped(context: AlterContext) -> Iterator[Step]:
    """Drop all columns in one statement, under their live names."""
    removals = [
        replace(removed, path=context.before_renames(removed.path)) for removed in context.of(FieldRemoved)
    ]
    if removals:
        yield Step(
            StepKind.DROP_COLUMNS,
            sql.drop_columns(context.table, [removed.path for removed in removals]),
            tuple(removals),
            tuple(f"{format_path(removed.path)} is listed under dropped" for removed in removals),
            undo_note=IRREVERSIBLE,
            needs=Approval.DESTRUCTIVE,
        )


def columns_renamed(context: AlterContext) -> Iterator[Step]:
    """Rename one column after the other, each to a name that is free at that moment."""
    renames = context.of(FieldRenamed)
    siblings = {lowercased(renamed.path[:-1]): _remaining_names(context, renamed) for renamed in renames}
    for renamed in ordered_renames(renames, siblings):
        old = (*renamed.path[:-1], renamed.old_name)
        yield Step(
            StepKind.RENAME_COLUMN,
            sql.rename_column(context.table, old, str(renamed.path[-1])),
            (renamed,),
            (f"{format_path(renamed.path)} is renamed from {renamed.old_name}",),
            undo=sql.rename_column(context.table, renamed.path, renamed.old_name),
        )


def columns_added(context: AlterContext) -> Iterator[Step]:
    """Add all other columns in one statement, each in its declared position."""
    early = _needed_early(context)
    yield from _added(context, [added for added in context.of(FieldAdded) if added not in early])


def columns_moved(context: AlterContext) -> Iterator[Step]:
    """Move one column after the other."""
    for moved in context.of(FieldMoved):
        yield Step(
            StepKind.MOVE_COLUMN,
            sql.move_column(context.table, moved.path, moved.after),
            (moved,),
            (f"{format_path(moved.path)} is declared in another position",),
            undo_note="move it back in the contract",
        )


def _needed_early(context: AlterContext) -> list[FieldAdded]:
    """Return the new fields of structs that lose all their live fields.

    Delta cannot drop the last field of a struct (DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA).
    """
    found: list[FieldAdded] = []
    for parent in {lowercased(removed.path[:-1]) for removed in context.of(FieldRemoved)}:
        old = type_at(context.live.columns, context.renames.back(parent))
        removals = [
            removed for removed in context.of(FieldRemoved) if lowercased(removed.path[:-1]) == parent
        ]
        if isinstance(old, Struct) and len(removals) == len(old.fields):
            occupied = {lowercased(removed.path) for removed in removals}
            found += [
                added
                for added in context.of(FieldAdded)
                if lowercased(added.path[:-1]) == parent and lowercased(added.path) not in occupied
            ]
    return found


def _appended(additions: Sequence[FieldAdded], live: TableState) -> list[FieldAdded]:
    """Position new fields after the live fields of their struct, in the order given."""
    last: dict[Path, str | None] = {}
    appended = []
    for added in additions:
        parent = lowercased(added.path[:-1])
        if parent not in last:
            struct = type_at(live.columns, parent)
            last[parent] = struct.fields[-1].name if isinstance(struct, Struct) and struct.fields else None
        appended.append(replace(added, after=last[parent]))
        last[parent] = str(added.path[-1])
    return appended


def _added(context: AlterContext, changes: Sequence[FieldAdded]) -> Iterator[Step]:
    if not changes:
        return
    additions = [replace(added, field=_without_defaults(added.field)) for added in changes]
    paths = [added.path for added in additions]
    undo = sql.drop_columns(context.table, paths) if context.will_be_mapped else None
    yield Step(
        StepKind.ADD_COLUMNS,
        sql.add_columns(context.table, [(added.path, added.field, added.after) for added in additions]),
        tuple(additions),
        tuple(f"{format_path(path)} is declared and missing" for path in paths),
        context.added_features(additions),
        undo=undo,
        undo_note="" if undo else "cannot be undone: Delta drops columns only with column mapping",
    )


def _without_defaults(field: Field) -> Field:
    """Remove the defaults: Delta adds no column with a default, so a later step sets them."""
    (bare,) = map_fields(Struct((field,)), lambda _path, inner: replace(inner, default=None)).fields
    return bare


def _remaining_names(context: AlterContext, renamed: FieldRenamed) -> list[str]:
    """Return the live names of a column and its siblings, without the dropped ones."""
    parent = type_at(context.live.columns, context.renames.back(renamed.path[:-1]))
    dropped = {
        str(removed.path[-1]).lower()
        for removed in context.of(FieldRemoved)
        if lowercased(removed.path[:-1]) == lowercased(renamed.path[:-1])
    }
    fields = parent.fields if isinstance(parent, Struct) else ()
    return [field.name for field in fields if field.name.lower() not in dropped]
