"""Statements for CHECK constraints, which go off and on around the columns that they use."""

from __future__ import annotations

from collections.abc import Iterator

from schemalint.delta import change
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.expressions import uses
from schemalint.delta.path import Path
from schemalint.model.plan import Cost, Step, StepKind
from schemalint.planner import sql
from schemalint.planner.alteration import AlterContext


def constraints_off(context: AlterContext) -> Iterator[Step]:
    """Those that are declared otherwise, or in the way."""
    for one in _in_the_way(context):
        why = "is declared otherwise" if one.old != one.new else "is in the way, and comes back"
        absent = not isinstance(one.new, str)
        yield Step(
            StepKind.DROP_CONSTRAINT,
            sql.drop_constraint(context.table, one.name),
            (change.ConstraintChanged(one.name, one.old, UNMANAGED),),
            (f"the constraint {one.name} {'is declared absent' if absent else why}",),
            undo=sql.add_constraint(context.table, one.name, str(one.old)),
        )


def constraints_on(context: AlterContext) -> Iterator[Step]:
    """Those that come back, and new ones."""
    unchanged = [one for one in _in_the_way(context) if one.old == one.new]
    for one in (*unchanged, *context.of(change.ConstraintChanged)):
        if isinstance(one.new, str):
            yield Step(
                StepKind.ADD_CONSTRAINT,
                sql.add_constraint(context.table, one.name, one.new),
                (change.ConstraintChanged(one.name, UNMANAGED, one.new),),
                (f"the constraint {one.name} is declared",),
                context.needed(frozenset({"checkConstraints"})),
                undo=sql.drop_constraint(context.table, one.name),
                cost=Cost.SCAN,
            )


def _in_the_way(context: AlterContext) -> list[change.ConstraintChanged]:
    """Constraints that go, are changed, or would not let a column change that they use."""
    declared = {one.name: one for one in context.of(change.ConstraintChanged)}
    touched = list(_touched(context))
    found = [one for one in declared.values() if isinstance(one.old, str)]
    for name, expression in context.live.constraints.items():
        if name in declared or expression is None:
            continue
        if any(uses(expression, path) is not False for path in touched):
            found.append(change.ConstraintChanged(name, expression, expression))
    return found


def _touched(context: AlterContext) -> Iterator[Path]:
    """The live columns that no constraint may use."""
    for retyped in context.of(change.TypeChanged):
        yield context.renames.back(retyped.path)
    for removed in context.of(change.FieldRemoved):
        yield context.before_renames(removed.path)
    for renamed in context.of(change.FieldRenamed):
        yield context.before_renames((*renamed.path[:-1], renamed.old_name))
