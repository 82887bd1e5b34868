"""Statements for CHECK constraints; changes of a column suspend the constraints that use it."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta.change import ConstraintChanged, FieldRemoved, FieldRenamed, TypeChanged
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.path import Path
from schemalint.delta.type_verdict import alters_stored_type
from schemalint.model.plan import Cost, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import AlterContext


def constraints_dropped(context: AlterContext) -> Iterator[Step]:
    """Drop the constraints that change, and those that block a change of a column."""
    for changed in _to_drop(context):
        if not isinstance(changed.new, str):
            reason = "is declared absent"
        elif changed.old != changed.new:
            reason = "is declared differently"
        else:
            reason = "blocks a change of columns and is added again"
        yield Step(
            StepKind.DROP_CONSTRAINT,
            sql.drop_constraint(context.table, changed.name),
            (ConstraintChanged(changed.name, changed.old, UNMANAGED),),
            (f"the constraint {changed.name} {reason}",),
            undo=sql.add_constraint(context.table, changed.name, str(changed.old)),
        )


def constraints_added(context: AlterContext) -> Iterator[Step]:
    """Add the suspended constraints again, then the new and changed ones."""
    unchanged = [changed for changed in _to_drop(context) if changed.old == changed.new]
    for changed in (*unchanged, *context.of(ConstraintChanged)):
        if isinstance(changed.new, str):
            yield Step(
                StepKind.ADD_CONSTRAINT,
                sql.add_constraint(context.table, changed.name, changed.new),
                (ConstraintChanged(changed.name, UNMANAGED, changed.new),),
                (f"the constraint {changed.name} is declared",),
                context.needed(frozenset({"checkConstraints"})),
                undo=sql.drop_constraint(context.table, changed.name),
                cost=Cost.SCAN,
            )


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
        yield context.before_renames(removed.path)
    for renamed in context.of(FieldRenamed):
        yield context.before_renames((*renamed.path[:-1], renamed.old_name))
