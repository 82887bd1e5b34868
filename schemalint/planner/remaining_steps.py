"""Compare a table with its plan: how many steps are done, judged by the log alone."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from schemalint.base.values import frozen, replace
from schemalint.delta.change import FeatureChanged, FieldRenamed, PropertyChanged, change_path, subject
from schemalint.delta.datatype import Field, field_at, map_fields
from schemalint.delta.feature_drop import set_by_drops
from schemalint.delta.path import Path, format_path, is_within, lowercased
from schemalint.delta.table import TableState
from schemalint.model.column_tracking import column_numbers
from schemalint.model.marker import Pending
from schemalint.model.table_plan import Step, StepKind
from schemalint.planner.name_swaps import has_ids, with_assigned_ids
from schemalint.planner.simulate import deviations, simulate, touched_differences


@frozen
class Remaining:
    """The rest of a plan that a table has completed in part."""

    expected: TableState
    steps: tuple[Step, ...]


def remaining_steps(
    planned_from: TableState, live: TableState, steps: Sequence[Step]
) -> Remaining | tuple[str, ...]:
    """Return the steps of a plan that a table has still to take, whoever took the others.

    The table must be in exactly one of the states that the plan leads through, in all objects that the plan
    touches. A feature is dropped once the protocol lacks it: its statement makes several commits, and waits
    for the retention period while later steps go on. A table that a run left between these commits has taken
    the steps before the drop. Only the data tells whether a fill is over, so it stays while its source is
    there.

    Returns:
        The rest of the plan; or the differences from the nearest of these states if the table is in none of
        them, and no difference if it is in several.
    """
    others: list[Step] = []
    drops: dict[str, int] = {}
    for step in steps:
        drops |= dict.fromkeys(_dropped_features(step), len(others))
        others += [] if _dropped_features(step) or step.kind is StepKind.FILL else [step]
    dropped = frozenset(drops)
    matches: list[int] = []
    nearest: tuple[str, ...] | None = None
    if has_ids(live.columns) and not has_ids(planned_from.columns):
        planned_from = replace(planned_from, columns=with_assigned_ids(planned_from.columns))
    state = planned_from
    subjects = _subjects_by_state(others)
    own_values = {*planned_from.properties.items(), *_values_set(others)}
    for completed in range(len(others) + 1):
        expected = with_column_ids_of(state, live)
        features = expected.features - dropped
        compared = others if completed < len(others) else _compared(others, completed)
        begun = frozenset(name for name, others_before in drops.items() if others_before <= completed)
        differences = touched_differences(
            replace(expected, features=features),
            replace(_before_drops(live, expected, begun, own_values), features=live.features & features),
            [change for step in compared for change in step.changes],
            subjects[completed],
        )
        if not differences:
            matches.append(completed)
        elif nearest is None or len(differences) < len(nearest):
            nearest = differences
        state = simulate(state, others[completed : completed + 1])
    # A feature that is supported already makes the states before and after its step alike.
    if not matches or not all(_only_adds_features(step) for step in others[matches[0] : matches[-1]]):
        return () if matches else nearest or ()
    done: list[Step] = []
    rest: list[Step] = []
    left = matches[-1]
    for step in steps:
        names = _dropped_features(step)
        if step.kind is StepKind.FILL:
            is_done = any(field_at(live.columns, fill.source) is None for fill in step.fills)
        else:
            is_done = not names & live.features if names else left > 0
            left -= not names
        (done if is_done else rest).append(step)
    return Remaining(with_column_ids_of(simulate(planned_from, done), live), tuple(rest))


def completed_steps(expected: TableState, live: TableState, steps: Sequence[Step]) -> int | None:
    """Return how many of the next steps are already done; None if the table matches no point of the plan.

    The usual answer is 0. It is more if another run executes the same plan at the same time, or if a
    statement took effect but its answer was lost.
    """
    state = expected
    for behind in range(len(steps) + 1):
        if not _differs(state, live, _compared(steps, behind)):
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
    differences: list[str] = []
    for state in between:
        after = replace(state, features=before.features)
        touched = deviations(before, after, steps[0])
        is_goal = not deviations(replace(goal, features=before.features), after, steps[0])
        if touched and not is_goal and not completed_steps(goal, state, steps[1:]):
            differences += touched
        before = after
    return differences


def with_column_ids_of(expected: TableState, live_state: TableState) -> TableState:
    """Return the expected state with the column-mapping ids that Delta assigned; known ids stay."""

    def with_id(path: Path, field: Field) -> Field:
        live = field_at(live_state.columns, path)
        if field.column_id is not None or live is None:
            return field
        return replace(field, column_id=live.column_id)

    return replace(expected, columns=map_fields(expected.columns, with_id))


def columns_missing_noted_names(noted: Pending, state: TableState, steps: Sequence[Step]) -> tuple[str, ...]:
    """Return the columns that the steps do not bring to the names noted for their ids, up to another note.

    Before the step that writes the note, the table must have all noted ids. After it, a dropped column has no
    id and needs no name.
    """
    is_new = bool(steps) and steps[0].kind is StepKind.NOTE_PENDING
    notes = (number for number, step in enumerate(steps) if step.kind is StepKind.NOTE_PENDING and number)
    steps = steps[: next(notes, len(steps))]
    final_paths = column_numbers(simulate(state, steps).columns)
    names = {number: format_path(path) for number, path in column_numbers(state.columns).items()}
    return tuple(
        names.get(number, f"column {number}")
        for number, target in noted.targets.items()
        if (is_new or number in names) and lowercased(final_paths.get(number, ())) != lowercased(target or ())
    )


def without_unplanned_features(expected: TableState, live: TableState) -> TableState:
    """Return the found state without unplanned features: additional features do no harm."""
    if expected.features:
        return replace(live, features=live.features & expected.features)
    return live


def _subjects_by_state(steps: Sequence[Step]) -> list[set[Hashable]]:
    """Return the subjects of all changes under the names of each state that the steps lead through."""
    subjects: list[set[Hashable]] = [set() for _ in range(len(steps) + 1)]
    for number, step in enumerate(steps):
        for change in step.changes:
            path = change_path(change)
            after = before = path
            if path is not None and isinstance(change, FieldRenamed):
                before = lowercased((*path[:-1], change.old_name))
            for state in range(number, -1, -1):
                subjects[state].add(subject(change, before))
                before = _renamed(before, steps[state - 1], back=True) if before and state else before
            for state in range(number + 1, len(steps) + 1):
                subjects[state].add(subject(change, after))
                after = _renamed(after, steps[state], back=False) if after and state < len(steps) else after
    return subjects


def _renamed(path: Path, step: Step, *, back: bool) -> Path:
    """Return the path of a column after a step, or before it."""
    for change in step.changes:
        if isinstance(change, FieldRenamed):
            old = lowercased((*change.path[:-1], change.old_name))
            source, target = (lowercased(change.path), old) if back else (old, lowercased(change.path))
            if is_within(path, source):
                return (*target, *path[len(source) :])
    return path


def _dropped_features(step: Step) -> frozenset[str]:
    if step.kind is not StepKind.DROP_FEATURE:
        return frozenset()
    return frozenset(change.name for change in step.changes if isinstance(change, FeatureChanged))


def _values_set(steps: Iterable[Step]) -> Iterator[tuple[str, object]]:
    for step in steps:
        for change in step.changes:
            if isinstance(change, PropertyChanged):
                yield change.key, change.new


def _before_drops(
    live: TableState, expected: TableState, names: frozenset[str], own_values: Collection[tuple[str, object]]
) -> TableState:
    """Return the table with the expected properties where a drop that did not end has set them.

    A value that a property has in the plan without the drop tells which steps are done, so it stays.
    """
    by_drops = set_by_drops(names & live.features, live)
    within = {key for key, text in by_drops.items() if (key, text) not in own_values}
    properties = {key: text for key, text in live.properties.items() if key not in within}
    properties |= {key: text for key, text in expected.properties.items() if key in within}
    return replace(live, properties=properties)


def _only_adds_features(step: Step) -> bool:
    return all(isinstance(change, FeatureChanged) for change in step.changes)


def _differs(state: TableState, live: TableState, steps: Sequence[Step]) -> bool:
    planned = without_unplanned_features(state, live)
    return any(deviations(state, planned, step) for step in steps)


def _compared(steps: Sequence[Step], behind: int) -> Sequence[Step]:
    """Return the steps whose objects to compare: those that would be done, and the next one.

    After the last step the pending note may be gone, so it is not compared.
    """
    if behind < len(steps):
        # A fill leaves no trace in the metadata: it is over once the next step is done.
        end = next((n for n in range(behind, len(steps)) if steps[n].kind is not StepKind.FILL), behind)
        return steps[: end + 1]
    return [step for step in steps if step.kind is not StepKind.NOTE_PENDING]
