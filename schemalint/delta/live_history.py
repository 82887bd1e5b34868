"""The commits of a history that still matter to live data files.

A data file fits the schema in effect when it was written. A later commit matters to the file as long as its
change of the schema lasts: if a RESTORE, or an edit by hand, brings an earlier schema back, the commits in
between no longer matter to the files that were written under it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from schemalint.base.values import replace
from schemalint.delta.datatype import Struct
from schemalint.delta.history import HistoryStep, steps
from schemalint.delta.path import Path
from schemalint.delta.schema_history import faults, lowers_column_id, max_column_id, stored_paths
from schemalint.delta.table import History, HistoryEntry, TableState
from schemalint.delta.type_history import is_restore, lost_records, replaces_all_files, unrecorded_changes


def may_misfit_files(history: History) -> bool:
    """Whether a commit changes the schema so that data files from before it may no longer fit."""
    all_steps = tuple(steps(history))
    return any(
        next(iter(faults_of_step), None) is not None
        for step in _with_earlier_columns(all_steps, _states(all_steps), range(len(all_steps)))
        if _changes_schema(step)
        for faults_of_step in (faults(step), unrecorded_changes(step), lost_records(step))
    )


def live_steps(history: History) -> tuple[HistoryStep, ...]:
    """Return every commit that changed metadata or protocol, oldest first; see `HistoryStep.superseded`."""
    all_steps = tuple(steps(history))
    states = _states(all_steps)
    written = tuple(_written(history, all_steps))
    oldest = written[0] if written else len(all_steps)
    mattering = _mattering(states, written)
    unmapped = next((index for index in written if _mapping(states[index]) == "none"), len(all_steps))
    return tuple(
        replace(
            step,
            superseded=is_restore(step.entry) or not (index in mattering or lowers_column_id(step)),
            has_unmapped_files=unmapped < index,
        )
        for index, step in enumerate(
            (*all_steps[:oldest], *_with_earlier_columns(all_steps, states, set(written)))
        )
    )


def _changes_schema(step: HistoryStep) -> bool:
    """Whether a commit changes what files must fit; most commits change only properties or comments."""
    if step.before is None or step.entry.metadata is None:
        return False
    states = step.before.state, step.entry.metadata.state
    before, after = _schema_keys(states)
    return before != after or lowers_column_id(step)


def _states(all_steps: Iterable[HistoryStep]) -> tuple[TableState | None, ...]:
    """Return the state after each step."""
    return tuple(
        metadata.state if (metadata := step.entry.metadata or step.before) else None for step in all_steps
    )


def _with_earlier_columns(
    all_steps: Sequence[HistoryStep], states: Sequence[TableState | None], written: Collection[int]
) -> Iterator[HistoryStep]:
    """Yield the steps since the oldest one in `written` with what is known of the columns before.

    Args:
        all_steps: The steps.
        states: The state after each step.
        written: The indexes of the steps under whose schema the live data files were written.
    """
    is_mapped = any(_mapping(state) != "none" for state in states)
    highest, stored = 0, frozenset[Path]()
    columns: Struct | None = None
    for index in range(min(written, default=len(all_steps)), len(all_steps)):
        step, state = all_steps[index], states[index]
        yield replace(step, max_column_id=highest, stored_paths=stored) if highest else step
        if step.entry.metadata is not None:
            highest = max(highest, max_column_id(step.entry.metadata.state))
        if is_mapped and index in written and state and state.columns is not columns:
            columns = state.columns
            stored |= stored_paths(columns)


def _written(history: History, all_steps: Sequence[HistoryStep]) -> Iterator[int]:
    """Yield the indexes of the commits under whose schema the live data files were written.

    If that is unknown, yield every commit since the last one that replaced all files, by its operation.
    """
    versions = history.file_versions
    first = 0
    if versions is None and not any(is_restore(step.entry) for step in all_steps):
        replaced = (index for index, step in enumerate(all_steps) if _may_replace_all_files(step.entry))
        first = max(replaced, default=0)
    for index in range(first, len(all_steps)):
        if versions is None or all_steps[index].entry.version in versions:
            yield index


def _may_replace_all_files(entry: HistoryEntry) -> bool:
    return replaces_all_files(entry) or (entry.operation is None and entry.removes_files)


def _mattering(states: Sequence[TableState | None], written: Iterable[int]) -> set[int]:
    """Return the indexes of the commits that matter to files with the schemas of `written`."""
    keys = tuple(_schema_keys(states))
    newest = {key: index for index, key in enumerate(keys)}
    versions: set[int] = set()
    for start in written:
        index = newest[keys[start]] + 1
        while index < len(keys) and index not in versions:
            versions.add(index)
            index = newest[keys[index]] + 1
    return versions


def _schema_keys(states: Iterable[TableState | None]) -> Iterator[tuple[object, ...]]:
    """Yield a key for each state, equal for states under which the same files can be read."""
    numbers: dict[Struct, int] = {}
    columns: Struct | None = None
    number = -1
    for state in states:
        if state is None:
            yield ()
            continue
        if state.columns is not columns:  # commits share an unchanged schema, and hashing it takes long
            columns, number = state.columns, numbers.setdefault(state.columns, len(numbers))
        yield number, state.partitioned_by, state.column_mapping


def _mapping(state: TableState | None) -> str:
    return state.column_mapping if state else "none"
