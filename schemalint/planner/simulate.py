"""What a step makes of a table, known before it runs and checked after it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemalint.delta import change
from schemalint.delta.change import Change, change_path, subject, subject_name
from schemalint.delta.datatype import UNMANAGED
from schemalint.delta.diff import diff
from schemalint.delta.patch import apply_changes
from schemalint.delta.path import Path, lowercased
from schemalint.delta.table import TableState
from schemalint.model.plan import Step
from schemalint.values import replace

# What of a column's own or of those above it a step cannot do without; its record of types grows by the step.
_GROUND: Final = (change.FieldAdded, change.FieldRemoved, change.FieldRenamed, change.TypeChanged)


def simulate(state: TableState, steps: Iterable[Step]) -> TableState:
    """The table after the steps, with the features that Delta adds on the way."""
    for step in steps:
        changed = apply_changes(state, step.changes)
        state = replace(changed, features=changed.features | step.adds_features)
    return state


def deviations(expected: TableState, found: TableState, step: Step) -> tuple[str, ...]:
    """What a step touches and what is no longer as planned; a neighbour's column does not matter.

    A statement that creates a table touches all of it; a session may add properties of its own.
    """
    whole = any(isinstance(one, change.TableAdded) for one in step.changes)
    objects = {subject(one) for one in step.changes}
    paths = {path for one in step.changes if (path := change_path(one))}
    paths |= {
        lowercased((*one.path[:-1], one.old_name))
        for one in step.changes
        if isinstance(one, change.FieldRenamed)
    }
    different = [
        one
        for one in diff(expected, found)
        if (whole and not _comes_along(one))
        or subject(one) in objects
        or isinstance(one, change.FeatureChanged)
        or (isinstance(one, _GROUND) and _above(change_path(one), paths))
    ]
    return tuple(describe_change(one) for one in different)


def describe_change(one: Change) -> str:
    """A change for people, e.g. ``type changed: amount``."""
    kind = type(one).__name__
    name = subject_name(one)
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in kind).strip()
    return f"{words}: {name}" if name else words


def _comes_along(one: Change) -> bool:
    return isinstance(one, change.PropertyChanged) and one.old is UNMANAGED


def _above(path: Path | None, touched: set[Path]) -> bool:
    """Whether a column that a step reaches into is gone, or of another type."""
    return path is not None and any(other[: len(path)] == path for other in touched)
