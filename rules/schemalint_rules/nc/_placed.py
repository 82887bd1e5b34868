"""Where a finding about an expression of a table points: at a column, or at a constraint."""

from __future__ import annotations

from schemalint.delta.expressions import Expression
from schemalint.plugin import ObjectRef, Problem, replace


def placed(problem: Problem, expression: Expression) -> Problem:
    """Return the problem at the expression that it is about."""
    if expression.path is None:
        return replace(problem, object=ObjectRef("constraint", expression.name))
    return replace(problem, path=expression.path, part=expression.place.value)
