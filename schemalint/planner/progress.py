"""Compare a table with its plan: how many steps are done, judged by the log alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemalint.delta.datatype import field_at, map_fields
from schemalint.delta.path import format_path, lowercased
from schemalint.delta.table import TableState
from schemalint.model.column_tracking import column_numbers
from schemalint.model.marker import Pending
from schemalint.model.plan import Step, StepKind
from schemalint.planner.simulate import deviations, simulate
from schemalint.values import replace


def completed_steps(expected: TableState, found: TableState, steps: Sequence[Step]) -> int | None:
    """Return how many of the next steps are already done; None if the table matches no point of the plan.

    The usual answer is 0. It is more if another run executes the same plan at the same time, or if a
    statement took effect but its answer was lost.

    Args:
        expected: The state that the plan expects before the first of the steps.
        found: The state of the table.
        steps: The remaining steps.
    """
    state = expected
    for behind in range(len(steps) + 1):
        if not _differs(state, found, _compared(steps, behind)):
            return behind
        if behind < len(steps):
            state = simulate(state, [steps[behind]])
    return None


def concurrent_changes(
    expected: TableState, before: TableState, between: Iterable[TableState], steps: Sequence[Step]
) -> list[str]:
    """Return what other writers did to the objects of the first step while it ran.

    The step's own commits do not count, nor those of another run that executes the same plan.

    Args:
        expected: The state that the plan expects before the step.
        before: The state of the table before the step.
        between: The state of the table after each later commit.
        steps: The remaining steps, beginning with the one that ran.
    """
    goal = simulate(expected, steps[:1])
    found: list[str] = []
    for state in between:
        after = replace(state, features=before.features)
        touched = deviations(before, after, steps[0])
        is_goal = not deviations(replace(goal, features=before.features), after, steps[0])
        if touched and not is_goal and not completed_steps(goal, state, steps[1:]):
            found += touched
        before = after
    return found


def with_column_ids_of(expected: TableState, found: TableState) -> TableState:
    """Return the expected state with the column-mapping ids that Delta assigned; known ids stay."""
    numbered = map_fields(
        expected.columns,
        lambda path, field: (
            field
            if field.column_id is not None or (live := field_at(found.columns, path)) is None
            else replace(field, column_id=live.column_id)
        ),
    )
    return replace(expected, columns=numbered)


def columns_missing_noted_names(noted: Pending, state: TableState, steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the columns that the steps do not bring to the names noted for their ids.

    Before the step that writes the note, the table must have all noted ids. After it, a dropped column has no
    id and needs no name.
    """
    is_new = bool(steps) and steps[0].kind is StepKind.NOTE_PENDING
    final_paths = column_numbers(simulate(state, steps).columns)
    names = {number: format_path(path) for number, path in column_numbers(state.columns).items()}
    return tuple(
        names.get(number, f"column {number}")
        for number, target in noted.targets.items()
        if (is_new or number in names) and lowercased(final_paths.get(number, ())) != lowercased(target or ())
    )


def without_unplanned_features(expected: TableState, found: TableState) -> TableState:
    """Return the found state without unplanned features: additional features do no harm."""
    return replace(found, features=found.features & expected.features) if expected.features else found


def _differs(state: TableState, found: TableState, steps: Sequence[Step]) -> bool:
    known = without_unplanned_features(state, found)
    return any(deviations(state, known, step) for step in steps)


def _compared(steps: Sequence[Step], behind: int) -> Sequence[Step]:
    """Return the steps whose objects to compare: those that would be done, and the next one.

    After the last step the pending note may be gone, so it is not compared.
    """
    if behind < len(steps):
        return steps[: behind + 1]
    return [step for step in steps if step.kind is not StepKind.NOTE_PENDING]
