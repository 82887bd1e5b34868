"""Statements for CHECK constraints; changes of a column suspend the constraints that use it.

A new constraint waits for the fills of its columns. One that changes does not: between the drop of its old
condition and the new one, no approval may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.base.values import replace
from schemalint.delta.change import ConstraintChanged, FieldRemoved, FieldRenamed, TypeChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.path import Path
from schemalint.delta.properties import CONSTRAINT_PREFIX
from schemalint.delta.type_verdict import alters_stored_type
from schemalint.model.table_plan import Cost, Fill, Step, StepKind
from schemalint.planner import statements
from schemalint.planner.alter_context import AlterContext
from schemalint.planner.fills.steps import filling


def constraints_dropped(context: AlterContext) -> Iterator[Step]:
    """Drop the constraints that change, and those that block a change of a column.

    DROP CONSTRAINT takes one. Delta stores constraints as properties, and UNSET TBLPROPERTIES takes several,
    in one commit (measured on Delta 4.4.0).
    """
    dropped = _to_drop(context)
    names = [changed.name for changed in dropped]
    if not dropped:
        return
    is_one = len(dropped) == 1
    statement = statements.unset_properties(context.table, [f"{CONSTRAINT_PREFIX}{name}" for name in names])
    if is_one:
        statement = statements.drop_constraint(context.table, names[0])
    yield Step(
        StepKind.DROP_CONSTRAINT,
        statement,
        tuple(ConstraintChanged(changed.name, changed.old, UNMANAGED) for changed in dropped),
        tuple(f"the constraint {changed.name} {_reason(changed)}" for changed in dropped),
        undo=statements.add_constraint(context.table, names[0], str(dropped[0].old)) if is_one else None,
        undo_note="" if is_one else "needs several statements: one adds each constraint again",
    )


def _reason(changed: ConstraintChanged) -> str:
    if not isinstance(changed.new, str):
        return "is declared absent"
    if changed.old != changed.new:
        return "is declared differently"
    return "blocks a change of columns and is added again"


def constraints_added(context: AlterContext) -> Iterator[Step]:
    """Add the suspended constraints again, then the new and changed ones that wait for no fill."""
    unchanged = [changed for changed in _to_drop(context) if changed.old == changed.new]
    for changed in (*unchanged, *context.of(ConstraintChanged)):
        if isinstance(changed.new, str) and not _awaited(context, changed):
            yield _added(context, changed.name, changed.new)


def constraints_of_filled(context: AlterContext) -> Iterator[Step]:
    """Add the new constraints that are checked against the values of a fill."""
    for changed in context.of(ConstraintChanged):
        if isinstance(changed.new, str) and (fills := _awaited(context, changed)):
            yield replace(_added(context, changed.name, changed.new), fills=fills)


def _added(context: AlterContext, name: str, expression: str) -> Step:
    return Step(
        StepKind.ADD_CONSTRAINT,
        statements.add_constraint(context.table, name, expression),
        (ConstraintChanged(name, UNMANAGED, expression),),
        (f"the constraint {name} is declared",),
        context.needed(frozenset({"checkConstraints"})),
        undo=statements.drop_constraint(context.table, name),
        cost=Cost.SCAN,
    )


def _awaited(context: AlterContext, changed: ConstraintChanged) -> tuple[Fill, ...]:
    """Return the fills that a constraint waits for."""
    if isinstance(changed.old, str):
        return ()
    return filling(context, str(changed.new))


def _to_drop(context: AlterContext) -> list[ConstraintChanged]:
    """Return the live constraints that change, and those that use a column that changes."""
    declared = {changed.name: changed for changed in context.of(ConstraintChanged)}
    users = context.live.constraint_users
    blocking = {name for path in _changed_columns(context) for name in (*users.of(path), *users.unparsed)}
    return [
        *(changed for changed in declared.values() if isinstance(changed.old, str)),
        *(
            ConstraintChanged(name, expression, expression)
            for name, expression in context.live.constraints.items()
            if name in blocking and name not in declared
        ),
    ]


def _changed_columns(context: AlterContext) -> Iterator[Path]:
    """Yield the live paths that Delta cannot change while a constraint uses them."""
    for retyped in context.of(TypeChanged):
        if alters_stored_type(retyped.old, retyped.new, nested=len(retyped.path) > 1):
            yield context.renames.back(retyped.path)
    for removed in context.of(FieldRemoved):
        yield context.renames.parents_back(removed.path)
    for renamed in context.of(FieldRenamed):
        yield context.renames.back(renamed.path)
