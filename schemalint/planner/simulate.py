"""Simulate what steps make of a table, and compare the result with the table.

A declared difference that remains after all steps is a bug, and nothing runs. During `apply` the same
simulation gives the required state of the log before and after each step, because some statements report
success and change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Final

from schemalint.base.values import replace
from schemalint.delta.change import (
    Change,
    FeatureChanged,
    FieldAdded,
    FieldRemoved,
    FieldRenamed,
    PropertyChanged,
    TableAdded,
    TypeChanged,
    change_path,
    subject,
    subject_name,
)
from schemalint.delta.datatype import UNMANAGED, Field, Struct, map_fields
from schemalint.delta.diff import diff
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import Path, is_within, lowercased
from schemalint.delta.table import TableState
from schemalint.model.change_kind import kind_of
from schemalint.model.table_plan import Step

# Changes of a column or its parents that a step cannot ignore. Recorded type changes are not among them: the
# step itself adds to them.
_STRUCTURAL: Final = (FieldAdded, FieldRemoved, FieldRenamed, TypeChanged)


def simulate(state: TableState, steps: Iterable[Step]) -> TableState:
    """Return the table after the steps, with the features that Delta adds."""
    for step in steps:
        changed = apply_changes(state, step.changes)
        if step.rewrite is not None:
            changed = replace(changed, columns=with_new_ids(changed.columns, step.changes))
        state = replace(changed, features=changed.features | step.adds_features)
    return state


def with_new_ids(columns: Struct, changes: Iterable[Change]) -> Struct:
    """Return the columns without the ids of those that a rewrite gives another type: Delta makes new ones.

    A struct around such a field gets one too; the fields beside it keep theirs (measured on Delta 4.4.0).
    """
    changed = [lowercased(change.path) for change in changes if isinstance(change, TypeChanged)]

    def bare(path: Path, field: Field) -> Field:
        own = lowercased(path)
        is_new = any(is_within(own, other) or is_within(other, own) for other in changed)
        return replace(field, column_id=None, physical_name=None) if is_new else field

    return map_fields(columns, bare)


def deviations(expected: TableState, live: TableState, step: Step) -> tuple[str, ...]:
    """Return what differs from the plan among the objects that a step touches; other columns do not count.

    A statement that creates a table touches the whole table; a session may add properties of its own.
    """
    return touched_differences(expected, live, step.changes, set(map(subject, step.changes)))


def touched_differences(
    expected: TableState, live: TableState, changes: Collection[Change], subjects: Collection[Hashable]
) -> tuple[str, ...]:
    """Return the differences between two states in what changes touch.

    Args:
        expected: The expected state.
        live: The other state.
        changes: The changes.
        subjects: Their subjects, under the names that columns have in the expected state.
    """
    creates_table = any(isinstance(change, TableAdded) for change in changes)
    paths = {path for change in changes for path in _paths_of(change)}
    different = [
        change
        for change in diff(expected, live)
        if (creates_table and not _is_new_property(change))
        or subject(change) in subjects
        or isinstance(change, FeatureChanged)
        or (isinstance(change, _STRUCTURAL) and any(_contains_any(path, paths) for path in _paths_of(change)))
    ]
    return tuple(describe_change(change) for change in different)


def describe_change(change: Change) -> str:
    """Return a change for people, e.g. ``type changed: amount``."""
    label, name = kind_of(change).label, subject_name(change)
    return f"{label}: {name}" if name else label


def _paths_of(change: Change) -> Iterator[Path]:
    """Yield the path of a change's column; a renamed one has two."""
    if path := change_path(change):
        yield path
    if isinstance(change, FieldRenamed):
        yield lowercased((*change.path[:-1], change.old_name))


def _is_new_property(change: Change) -> bool:
    return isinstance(change, PropertyChanged) and change.old is UNMANAGED


def _contains_any(path: Path, touched: set[Path]) -> bool:
    """Whether a changed column is, or contains, one that the steps touch."""
    return any(is_within(other, path) for other in touched)
