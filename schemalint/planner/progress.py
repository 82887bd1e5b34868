"""How far a table is on the way that was planned, by what its log says and by nothing else."""

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


def steps_behind(expected: TableState, found: TableState, steps: Sequence[Step]) -> int | None:
    """How many of the next steps the table has behind it; None if it is nowhere on the way.

    Mostly none of them. Some, where another run makes the same way at the same time, or where a statement
    took effect and its answer was lost.

    Args:
        expected: As it is to be found before the first of the steps.
        found: As it is.
        steps: Those that are left.
    """
    state = expected
    for behind in range(len(steps) + 1):
        if not _differs(state, found, _touched(steps, behind)):
            return behind
        if behind < len(steps):
            state = simulate(state, [steps[behind]])
    return None


def concurrent_changes(
    expected: TableState, before: TableState, between: Iterable[TableState], steps: Sequence[Step]
) -> list[str]:
    """What others did to the objects of the first step while it ran.

    Its own commits do not count, nor those of another run that makes the same way.

    Args:
        expected: As the table was to be found before the step.
        before: As it was found.
        between: The table after each commit since.
        steps: Those that are left, the one that ran being the first.
    """
    goal = simulate(expected, steps[:1])
    found: list[str] = []
    for raw in between:
        after = replace(raw, features=before.features)
        touched = deviations(before, after, steps[0])
        is_goal = not deviations(replace(goal, features=before.features), after, steps[0])
        if touched and not is_goal and not steps_behind(goal, raw, steps[1:]):
            found += touched
        before = after
    return found


def with_column_ids_of(expected: TableState, found: TableState) -> TableState:
    """The expected state with the column-mapping ids that Delta gave; those that were known stay."""
    numbered = map_fields(
        expected.columns,
        lambda path, field: (
            field
            if field.column_id is not None or (there := field_at(found.columns, path)) is None
            else replace(field, column_id=there.column_id)
        ),
    )
    return replace(expected, columns=numbered)


def wrongly_noted(noted: Pending, state: TableState, steps: Sequence[Step]) -> tuple[str, ...]:
    """Columns that the steps would not bring to the names that are noted for their ids.

    Once it is noted, a column that is gone has no name to come to; before, all ids must be there.
    """
    is_new = bool(steps) and steps[0].kind is StepKind.NOTE_PENDING
    leads_to = column_numbers(simulate(state, steps).columns)
    names = {number: format_path(path) for number, path in column_numbers(state.columns).items()}
    return tuple(
        names.get(number, f"column {number}")
        for number, target in noted.targets.items()
        if (is_new or number in names) and lowercased(leads_to.get(number, ())) != lowercased(target or ())
    )


def known_features(expected: TableState, found: TableState) -> TableState:
    """The found state without features that came along unasked: more than was planned does no harm."""
    return replace(found, features=found.features & expected.features) if expected.features else found


def _differs(state: TableState, found: TableState, touched: Sequence[Step]) -> bool:
    known = known_features(state, found)
    return any(deviations(state, known, step) for step in touched)


def _touched(steps: Sequence[Step], behind: int) -> Sequence[Step]:
    """The steps whose objects tell: the next one, and what would be behind.

    Once all is done the note of what is on its way may be gone.
    """
    if behind < len(steps):
        return steps[: behind + 1]
    return [step for step in steps if step.kind is not StepKind.NOTE_PENDING]
