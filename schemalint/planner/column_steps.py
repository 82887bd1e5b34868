"""Statements that add, drop and rename columns.

Renames are ordered so that each new name is free; a swap uses a temporary name. Delta drops neither the last
field of a struct nor the last column of a table (DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA, measured on Delta
4.4.0).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count, groupby
from typing import Final

from schemalint.base.values import grouped, replace
from schemalint.delta.change import Change, FieldAdded, FieldRemoved, FieldRenamed, renames_of
from schemalint.delta.datatype import Field, Struct, map_fields, type_at
from schemalint.delta.path import Path, format_path, is_within, lowercased
from schemalint.delta.table import TableState
from schemalint.model.table_plan import Approval, Step, StepKind
from schemalint.planner import statements
from schemalint.planner.alter_context import IRREVERSIBLE, AlterContext
from schemalint.planner.fills.steps import guarding, is_filled_early

_UNMAPPED: Final = "drops columns only with column mapping"
_LAST: Final = "never drops the last column of a table"


def columns_added_first(context: AlterContext) -> Iterator[Step]:
    """Add fields to structs that would otherwise lose all their fields, and those filled before a drop."""
    early = [
        replace(added, path=context.renames.parents_back(added.path)) for added in _needed_early(context)
    ]
    yield from _added(context, _appended(early, context.live))


def columns_dropped(context: AlterContext) -> Iterator[Step]:
    """Drop columns under their live names, except those that are set aside.

    One statement drops all of them, but for the sources of generated columns: Delta looks for these in the
    table as it is before the statement (DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE, measured on Delta
    4.4.0).
    """
    last = [removed for removed, _name in _set_aside(context)]
    removals = [removed for removed in context.of(FieldRemoved) if removed not in last]
    drops = [replace(removed, path=context.renames.parents_back(removed.path)) for removed in removals]
    sources = [removed for removed in drops if _is_source(context, removed)]
    for together in ([removed for removed in drops if removed not in sources], sources):
        yield from _dropped(context, together, [removed.path for removed in together])


def _is_source(context: AlterContext, removed: FieldRemoved) -> bool:
    """Whether other columns are generated from a dropped one."""
    own, users = lowercased(removed.path), context.live.generated_users
    return any(not is_within(lowercased(user), own) for user in (*users.of(own), *users.unparsed))


def columns_set_aside(context: AlterContext) -> Iterator[Step]:
    """Give a dropped column another name, if only a new column with its name can replace it in its struct."""
    for removed, name in _set_aside(context):
        path = context.renames.parents_back(removed.path)
        renamed = FieldRenamed((*path[:-1], name), str(path[-1]))
        yield Step(
            StepKind.RENAME_COLUMN,
            statements.rename_column(context.table, path, name),
            (renamed,),
            (f"{format_path(path)} is dropped once the new one of that name exists",),
            undo=statements.rename_column(context.table, renamed.path, renamed.old_name),
        )


def columns_dropped_last(context: AlterContext) -> Iterator[Step]:
    """Drop the columns that were set aside."""
    drops = _set_aside(context)
    renamed = [replace(removed, path=(*removed.path[:-1], name)) for removed, name in drops]
    yield from _dropped(context, renamed, [removed.path for removed, _name in drops])


def _set_aside(context: AlterContext) -> list[tuple[FieldRemoved, str]]:
    """Return the dropped columns that are renamed before new ones take their names, and their new names."""
    drops: list[tuple[FieldRemoved, str]] = []
    for removed in recreated_last_fields(context.changes, context.live.columns):
        struct = type_at(context.live.columns, context.renames.back(removed.path[:-1]))
        names = [field.name.lower() for field in struct.fields] if isinstance(struct, Struct) else []
        drops.append((removed, unused_name(names)))
    return drops


def _dropped(
    context: AlterContext, removals: Sequence[FieldRemoved], declared: Sequence[Path]
) -> Iterator[Step]:
    """Drop columns that the contract lists under these paths."""
    if removals:
        yield Step(
            StepKind.DROP_COLUMNS,
            statements.drop_columns(context.table, [removed.path for removed in removals]),
            tuple(removals),
            tuple(f"{format_path(path)} is listed under dropped" for path in declared),
            undo_note=IRREVERSIBLE,
            needs=frozenset({Approval.DESTRUCTIVE}),
            fills=guarding(context, removals),
        )


def columns_renamed(context: AlterContext) -> Iterator[Step]:
    """Rename one column after the other, each to a name that is free at that moment."""
    renames = context.of(FieldRenamed)
    one_per_parent = {lowercased(renamed.path[:-1]): renamed for renamed in renames}
    siblings = {parent: _remaining_names(context, renamed) for parent, renamed in one_per_parent.items()}
    for renamed in ordered_renames(renames, siblings):
        old = (*renamed.path[:-1], renamed.old_name)
        yield Step(
            StepKind.RENAME_COLUMN,
            statements.rename_column(context.table, old, str(renamed.path[-1])),
            (renamed,),
            (f"{format_path(renamed.path)} is renamed from {renamed.old_name}",),
            undo=statements.rename_column(context.table, renamed.path, renamed.old_name),
        )


def columns_added(context: AlterContext) -> Iterator[Step]:
    """Add all other columns in one statement, each in its declared position."""
    early = {added.path for added in _needed_early(context)}
    yield from _added(context, [added for added in context.of(FieldAdded) if added.path not in early])


def _needed_early(context: AlterContext) -> list[FieldAdded]:
    """Return the new fields with new names in structs that lose all their live fields, or that are filled."""
    emptied = frozenset(emptied_structs(context.changes, context.live.columns))
    occupied = {lowercased(removed.path) for removed in context.of(FieldRemoved)}
    return [
        added
        for added in context.of(FieldAdded)
        if (lowercased(added.path[:-1]) in emptied and lowercased(added.path) not in occupied)
        or is_filled_early(context, added)
    ]


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
    is_undoable = context.will_be_mapped and context.live.columns.fields  # a table keeps one column
    undo, undo_note = None, f"cannot be undone: Delta {_LAST if context.will_be_mapped else _UNMAPPED}"
    if is_undoable:
        undo, undo_note = statements.drop_columns(context.table, paths), ""
    yield Step(
        StepKind.ADD_COLUMNS,
        statements.add_columns(
            context.table, [(added.path, added.field, added.after) for added in additions]
        ),
        tuple(additions),
        tuple(f"{format_path(path)} is declared and missing" for path in paths),
        context.added_features(additions),
        undo=undo,
        undo_note=undo_note,
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


def emptied_structs(changes: Iterable[Change], before: Struct) -> Iterator[Path]:
    """Yield the structs that lose all their fields, by lowercased path with the parents' new names."""
    all_changes = tuple(changes)
    renames = renames_of(all_changes)
    removals = Counter(
        lowercased(change.path[:-1]) for change in all_changes if isinstance(change, FieldRemoved)
    )
    for parent, times in removals.items():
        columns = type_at(before, renames.back(parent))
        if isinstance(columns, Struct) and times == len(columns.fields):
            yield parent


def recreated_last_fields(changes: Iterable[Change], before: Struct) -> Iterator[FieldRemoved]:
    """Yield a removed field of each struct that loses all its fields, and gets only fields with their names.

    A field with another name can be added before the drop; one with the same name only after it.
    """
    all_changes = tuple(changes)
    added = {lowercased(change.path) for change in all_changes if isinstance(change, FieldAdded)}
    removed = {lowercased(change.path): change for change in all_changes if isinstance(change, FieldRemoved)}
    for parent in emptied_structs(all_changes, before):
        new = {path for path in added if path[:-1] == parent}
        if new and new <= removed.keys():
            yield removed[min(new, key=format_path)]


def ordered_renames(
    renames: Iterable[FieldRenamed], siblings: Mapping[Path, Sequence[str]]
) -> Iterator[FieldRenamed]:
    """Yield renames that have the same result and can run one after the other.

    Delta refuses a name that exists already, ignoring case, so a change of case alone needs two steps too
    (FIELD_ALREADY_EXISTS, measured on Delta 4.4.0).

    Args:
        renames: The renames; parents come before their fields.
        siblings: The remaining live names by the lowercased path of the parent.
    """
    for parent, of_parent in groupby(renames, key=lambda renamed: renamed.path[:-1]):
        yield from _among_siblings(parent, list(of_parent), siblings.get(lowercased(parent), ()))


def _among_siblings(
    parent: Path, renames: Sequence[FieldRenamed], names: Sequence[str]
) -> Iterator[FieldRenamed]:
    """Yield the first rename whose new name is free, again and again; a temporary name breaks a circle."""
    taken = {name.lower() for name in names}
    waiting = dict(enumerate(renames))
    by_new_name = grouped((_new_name(renamed).lower(), number) for number, renamed in waiting.items())
    free = [number for name, numbers in by_new_name.items() if name not in taken for number in numbers]
    heapify(free)
    for following in count(len(renames)):
        while free and (free[0] not in waiting or _new_name(waiting[free[0]]).lower() in taken):
            heappop(free)
        if free:
            renamed = waiting.pop(heappop(free))
        elif waiting:
            first = waiting.pop(next(iter(waiting)))
            temporary = unused_name(taken | by_new_name.keys())
            renamed = FieldRenamed((*parent, temporary), first.old_name)
            waiting[following] = FieldRenamed(first.path, temporary)
            by_new_name[_new_name(first).lower()] += (following,)
        else:
            return
        old_name = renamed.old_name.lower()
        taken.discard(old_name)
        taken.add(_new_name(renamed).lower())
        for number in by_new_name.get(old_name, ()):
            heappush(free, number)
        yield renamed


def _new_name(renamed: FieldRenamed) -> str:
    return str(renamed.path[-1])


def unused_name(taken: Collection[str]) -> str:
    """Return a temporary name that is not among these names in lower case."""
    return next(name for number in count(1) if (name := f"schemalint_{number}") not in taken)
