"""The case of a contract with its live table: with what the base and the table's marker tell.

`Origins` finds the commit that made the table differ: the newest one that changed the object.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from schemalint import contract as contracts
from schemalint.base.errors import LiveError
from schemalint.delta.change import FieldAdded, FieldRemoved, FieldRenamed, change_path, subject
from schemalint.delta.diff import diff, recreated_columns
from schemalint.delta.history import changes, steps
from schemalint.delta.path import Path, is_within, lowercased
from schemalint.delta.table import RECENT
from schemalint.lint.case import Case
from schemalint.lint.column_log import Names, names_in_log
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.marker import Marker, declaration_hash, read_marker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemalint.delta.change import Change
    from schemalint.delta.history import HistoryStep
    from schemalint.delta.table import History, LiveTable
    from schemalint.lint.check_input import LiveSide
    from schemalint.lint.rule_sets import RuleSet
    from schemalint.model.contract import Contract

    _Changes = Sequence[tuple[HistoryStep, tuple[Change, ...]]]


def live_case(
    rules: tuple[RuleSet, ...],
    base: Contract | None,
    contract: Contract,
    table: LiveTable,
    live: LiveSide,
    *,
    all_contracts: bool,
) -> Case:
    """Return the case of a contract and its live table.

    Args:
        rules: The rules of the contract.
        base: The contract at the base, effective for the target.
        contract: The contract, effective for the target.
        table: The live table.
        live: Where it was read, and which revisions were applied.
        all_contracts: Whether unchanged contracts are judged too.
    """
    marker = read_marker(table)
    is_applied = marker is not None and marker.hash == declaration_hash(contract)
    tracking = None if is_applied or base is None else _tracking_since(base, contract, table)
    return Case(
        rules,
        base,
        contract,
        table,
        target=live.target,
        applied=None if marker is None else _applied(marker, contract, live, is_applied=is_applied),
        is_applied=is_applied,
        ahead=_is_ahead(marker, live),
        tracking=tracking,
        renamed=_names_in_log(base, contract, table) if tracking is None else {},
        all_contracts=all_contracts,
        origin_of=Origins(table).of,
    )


def _is_ahead(marker: Marker | None, live: LiveSide) -> bool:
    if marker is None or marker.revision is None:
        return False
    return live.comes_after(marker.revision)


def _applied(marker: Marker, contract: Contract, live: LiveSide, *, is_applied: bool) -> Contract | None:
    """Return the contract applied last: that of the marker's commit, else the newest with its hash."""
    applied = live.at_revision(marker.revision, contract.key) if marker.revision is not None else None
    if applied is not None:
        return contracts.effective(applied, live.target)
    return contract if is_applied else live.with_hash(marker.hash, contract.key)


def _tracking_since(base: Contract, contract: Contract, table: LiveTable) -> ColumnTracking | None:
    """Return the column tracking since the base; None if names identify the columns."""
    renamed = any(isinstance(change, FieldRenamed) for change in diff(base.state, contract.state))
    if not renamed and not recreated_columns(base.state, contract.state):
        return None
    return track_columns(table.state.columns, [base.state, contract.state])


def _names_in_log(base: Contract | None, contract: Contract, table: LiveTable) -> Names:
    """Return the columns of base and contract that the table has under another name."""
    names = names_in_log(contract.state, table)
    if base is None or not names:
        return names
    at_base = names_in_log(base.state, table)
    return {path: name for path, name in names.items() if path in at_base}


_UNKNOWN: Final = "the commit that changed it is not known"

_FIRST: Final = 9
"""Commits that are looked at first: with Delta's usual checkpoints they were read with the snapshot."""


class Origins:
    """The commits of a table that its differences come from."""

    def __init__(self, table: LiveTable) -> None:
        self._table = table

    def of(self, pending: Change) -> str:
        """Return the commit that made a difference, or why it is not known, as the end of a sentence.

        Args:
            pending: The change that would bring the table to its declaration.
        """
        try:
            step = self._find(self._newest, pending) or self._find(self._recent, pending)
        except LiveError:
            return f"{_UNKNOWN} (the log cannot be read)"
        if step is not None:
            return f"changed in {step.title}"
        known_from = self._table.recent_history.known_from
        if self._table.older is not None and known_from == self._table.version - RECENT:
            return f"{_UNKNOWN} (read {RECENT}; --history)"
        return f"{_UNKNOWN} (the log begins at version {known_from})"

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
