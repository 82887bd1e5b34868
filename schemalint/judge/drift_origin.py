"""The commit of a table that drift comes from: the newest one that changed the object."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, TypeAlias

from schemalint.base.errors import LiveError
from schemalint.base.values import frozen
from schemalint.delta.change import Change, FieldAdded, FieldRemoved, FieldRenamed, change_path, subject
from schemalint.delta.history import HistoryStep, changes, steps
from schemalint.delta.path import Path, is_within, lowercased
from schemalint.delta.table import RECENT, History, LiveTable

_Changes: TypeAlias = Sequence[tuple[HistoryStep, tuple[Change, ...]]]

_UNKNOWN: Final = "the commit that changed it is not known"

_FIRST: Final = 9
"""Commits that are looked at first: with Delta's usual checkpoints they were read with the snapshot."""


@frozen
class Origin:
    """What is known of the commit that a difference comes from.

    Attributes:
        text: The commit, or why it is not known, as the end of a sentence.
        step: The commit; None if it is not known.
    """

    text: str
    step: HistoryStep | None = None

    @property
    def is_creation(self) -> bool:
        """Whether the table was created so."""
        return self.step is not None and self.step.before is None


class Origins:
    """The commits of a table that its differences come from."""

    def __init__(self, table: LiveTable) -> None:
        self._table = table

    def of(self, pending: Change) -> Origin:
        """Return the commit that made a difference, or why it is not known.

        Args:
            pending: The change that would bring the table to its declaration.
        """
        try:
            step = self._find(self._newest, pending) or self._find(self._recent, pending)
        except LiveError:
            return Origin(f"{_UNKNOWN} (the log cannot be read)")
        if step is not None:
            return Origin(f"changed in {step.title}", step)
        known_from = self._table.recent_history.known_from
        if self._table.older is not None and known_from == self._table.version - RECENT:
            return Origin(f"{_UNKNOWN} (read {RECENT}; --history)")
        return Origin(f"{_UNKNOWN} (the log begins at version {known_from})")

    @cached_property
    def _newest(self) -> _Changes:
        return _changes(self._table.history_since(max(0, self._table.version - _FIRST)))

    @cached_property
    def _recent(self) -> _Changes:
        return _changes(self._table.recent_history)

    @staticmethod
    def _find(newest_first: _Changes, pending: Change) -> HistoryStep | None:
        for step, changes_of_step in newest_first:
            is_creation = step.before is None and step.entry.version == 0
            if is_creation or any(_makes(change, pending) for change in changes_of_step):
                return step
        return None


def _changes(history: History) -> _Changes:
    """Return the commits with their changes, newest first."""
    return [(step, changes(step)) for step in reversed(tuple(steps(history)))]


def _makes(change: Change, pending: Change) -> bool:
    """Whether the change of a commit made the difference that the pending change ends."""
    path = change_path(pending)
    if path is None:
        return subject(change) == subject(pending)
    match pending:
        case FieldAdded():
            return _takes_away(change, lowercased(path))
        case FieldRenamed(old_name=name):
            live = lowercased((*path[:-1], name))
        case _:
            live = lowercased(path)
    match change:
        case FieldAdded(path=made) | FieldRenamed(path=made):
            return is_within(live, lowercased(made))
        case _:
            changed = change_path(change)
            is_same = type(change) is type(pending) and not isinstance(change, FieldRemoved)
            return is_same and changed is not None and lowercased(changed) == live


def _takes_away(change: Change, path: Path) -> bool:
    match change:
        case FieldRemoved(path=gone):
            return is_within(path, lowercased(gone))
        case FieldRenamed(path=new, old_name=name):
            return is_within(path, lowercased((*new[:-1], name)))
        case _:
            return False
