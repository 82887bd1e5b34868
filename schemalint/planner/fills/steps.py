"""Steps that fill new columns from old ones, and what guards the drop of an old one.

A fill is needed as long as both columns exist: writers that know only the old column add rows to fill. If the
plan drops the old column, it fills before; else last, when all else is as declared but for new constraints on
the filled columns: most are not true of the nulls that the rows have before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from schemalint.base.values import replace
from schemalint.delta.change import Change, FieldAdded, FieldRemoved, Renames, TypeChanged, renames_of
from schemalint.delta.column_users import columns_used
from schemalint.delta.datatype import DataType, Field, Struct, field_at, type_at
from schemalint.delta.fill_expressions import fill_fault, fill_obstacle, reads_source
from schemalint.delta.path import Path, format_path, is_within, lowercased, path_key
from schemalint.delta.table import LiveTable, TableState
from schemalint.model.contract import Backfill, Contract
from schemalint.model.effective import Effective
from schemalint.model.finding import ObjectRef
from schemalint.model.table_plan import Approval, Cost, Fill, Refusal, RefusalKind, Step, StepKind, TablePlan
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.fills.statements import fill_rows

_DECLARED: Final = RefusalKind.DECLARATION
_UNDO: Final = "nothing to undo: only nulls are replaced"
_UNDO_OF_REFILL: Final = "cannot be undone in place: values that differ are overwritten (differing: refill)"


def filled_before_drops(context: AlterContext) -> Iterator[Step]:
    """Fill columns from those that the plan drops, under the names that all columns have until then."""
    for path, fill, drops in _fills(context):
        if drops and not context.backfills[path].outlived:
            yield _step(context, fill)


def filled_last(context: AlterContext) -> Iterator[Step]:
    """Fill columns from those that stay."""
    for path, fill, drops in _fills(context):
        if not (drops or context.backfills[path].outlived):
            yield _step(context, fill)


def filling(context: AlterContext, expression: str) -> tuple[Fill, ...]:
    """Return the fills of the columns that a condition uses, under the names that it has for them."""
    used = [lowercased(names) for names in columns_used(expression) or ()]
    return tuple(
        fill
        for path, fill, _drops in _fills(context)
        if not context.backfills[path].outlived
        and any(is_within(names, lowercased(path)) or is_within(lowercased(path), names) for names in used)
    )


def guarding(context: AlterContext, removals: Iterable[FieldRemoved]) -> tuple[Fill, ...]:
    """Return the fills whose sources these changes drop, under their live names."""
    removed = [lowercased(removal.path) for removal in removals]
    return tuple(
        fill
        for _path, fill, drops in _fills(context)
        if drops and any(is_within(lowercased(fill.source), path) for path in removed)
    )


def is_filled_early(context: AlterContext, added: FieldAdded) -> bool:
    """Whether a new column is filled from one that the same plan drops."""
    return any(
        lowercased(added.path) == lowercased(path) and context.drops(backfill.source)
        for path, backfill in context.backfills.items()
    )


def _fills(context: AlterContext) -> Iterator[tuple[Path, Fill, bool]]:
    """Yield each declared column whose source is in the table, its fill, and whether the source goes."""
    for path, backfill in context.backfills.items():
        drops = context.drops(backfill.source)
        source = backfill.source if drops else context.renames.back(backfill.source)
        column = context.renames.back(path)
        type_ = _type(context, path, column, at_end=not drops)
        if field_at(context.live.columns, source) is None or type_ is None:
            continue
        name = column if drops else path
        columns = _columns(context, backfill.expression, at_end=not drops)
        used = sorted(columns_used(backfill.expression) or ())
        fill = Fill(
            name,
            type_,
            backfill.source,
            backfill.expression,
            columns,
            tuple(
                other for other in used if lowercased(other) != lowercased(source) and context.drops(other)
            ),
            backfill.ways_out,
            backfill.time_zone,
        )
        yield path, fill, drops


def _type(context: AlterContext, declared: Path, live: Path, *, at_end: bool) -> DataType | None:
    """Return the type that a column has when it is filled; None if it is not there."""
    for change in context.changes:
        if isinstance(change, FieldAdded) and lowercased(change.path) == lowercased(declared):
            return change.field.type
        if at_end and isinstance(change, TypeChanged) and lowercased(change.path) == lowercased(declared):
            return change.new
    field = field_at(context.live.columns, live)
    return None if field is None else field.type


def _columns(context: AlterContext, expression: str, *, at_end: bool) -> Struct:
    """Return the columns that an expression can read: as they are now, or at the end of the plan."""
    if not at_end:
        return context.live.columns
    added = {lowercased(change.path): change.field for change in context.of(FieldAdded)}
    retyped = {lowercased(change.path): change.new for change in context.of(TypeChanged)}
    fields: list[Field] = []
    for name in dict.fromkeys(names[0] for names in sorted(columns_used(expression) or ())):
        path = (name,)
        field = added.get(lowercased(path)) or field_at(context.live.columns, context.renames.back(path))
        if field is not None:
            type_ = retyped.get(lowercased(path), field.type)
            fields.append(replace(field, name=name, type=type_))
    return Struct(tuple(fields))


def _step(context: AlterContext, fill: Fill) -> Step:
    column, source = format_path(fill.column), format_path(fill.source)
    return Step(
        StepKind.FILL,
        fill_rows(context.table, fill),
        (),
        (f"{column} is declared to be filled from {source}",),
        undo_note=_UNDO if fill.ways_out.differing != "refill" else _UNDO_OF_REFILL,
        cost=Cost.REWRITE,
        needs=frozenset({Approval.DATA}),
        fills=(fill,),
    )


def with_size(plan: TablePlan, live: LiveTable, steps: Iterable[Step]) -> TablePlan:
    """Return the plan with the bytes of the data files, which the log is asked for only if a step fills."""
    if live.size is None or not any(step.fills for step in steps):
        return plan
    return replace(plan, size=live.size())


def refused_fills(changes: Iterable[Change], live: TableState, contract: Effective) -> Iterator[Refusal]:
    """Refuse fills that must not or cannot run; BF001 to BF003 report them before the merge."""
    all_changes = tuple(changes)
    renames = renames_of(all_changes)
    for path, backfill in contract.backfills.items():
        names = (backfill.source, renames.back(backfill.source))
        if all(type_at(live.columns, name) is None for name in names):
            continue
        name = format_path(path)
        about = ObjectRef("column", name)
        type_ = type_at(contract.state.columns, path)
        if fault := fill_fault(backfill.expression, live.columns, contract.state.columns, type_=type_):
            yield Refusal(
                _DECLARED, f"the expression that fills {name} {fault.what}", fault.help, about=about
            )
        elif obstacle := fill_obstacle(path, backfill.source, contract.state.columns):
            yield Refusal(_DECLARED, f"{name} cannot be filled: {obstacle}", "remove `backfill`", about=about)
        elif not reads_source(backfill.expression, backfill.source):
            source = format_path(backfill.source)
            reason = f"the expression that fills {name} does not read {source}"
            yield Refusal(_DECLARED, reason, f"use {source} in it, or name its column in `from`", about=about)
        elif (gone := _dropped_before(contract, backfill)) is not None:
            reason = f"the expression that fills {name} reads {gone}, which is dropped while its source stays"
            yield Refusal(_DECLARED, reason, "drop both together, or none", about=about)
        elif _drops(all_changes, backfill.source) and (renamed := _renamed(renames, backfill)):
            yield Refusal(
                RefusalKind.OPERATION,
                f"{renamed} is renamed while {name} is filled from a column that is dropped",
                "apply the rename first, then drop the column",
            )


def _dropped_before(contract: Contract, backfill: Backfill) -> str | None:
    """Return a column of an expression that the contract drops before the column that is filled from."""
    state = contract.state
    if field_at(state.columns, backfill.source) is None:
        return None
    for names in sorted(columns_used(backfill.expression) or ()):
        if path_key(names) in state.dropped_by_key and field_at(state.columns, names) is None:
            return format_path(names)
    return None


def _drops(changes: Iterable[Change], source: Path) -> bool:
    removed = (lowercased(change.path) for change in changes if isinstance(change, FieldRemoved))
    return any(is_within(lowercased(source), path) for path in removed)


def _renamed(renames: Renames, backfill: Backfill) -> str | None:
    """Return a column of an expression that the changes rename: it is evaluated before that."""
    for names in sorted(columns_used(backfill.expression) or ()):
        if lowercased(renames.back(names)) != lowercased(names):
            return format_path(names)
    return None
