"""Find what others altered in a live table since a revision was applied to it."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence

from schemalint.delta.change import (
    Change,
    DeletionListed,
    FieldRemoved,
    PropertyChanged,
    change_path,
    subject,
    subject_name,
)
from schemalint.delta.datatype import field_at, type_at
from schemalint.delta.feature_drop import set_by_drops
from schemalint.delta.path import format_path, is_within, lowercased, path_key
from schemalint.delta.renames import renames_of
from schemalint.delta.table import LiveTable
from schemalint.delta.type_text import print_type
from schemalint.delta.widening import TypeStep, step
from schemalint.deploy.last_applied import LastApplied
from schemalint.deploy.matching_revision import possible_renames
from schemalint.model.column_tracking import ColumnTracking, is_alike, track_columns
from schemalint.model.contract import Contract
from schemalint.model.plan import Refusal, RefusalKind
from schemalint.model.revision_columns import listed_paths
from schemalint.model.rule_codes import DRIFT_SCHEMA
from schemalint.planner import PlanOptions, pending_changes


def drift(
    contract: Contract, last_applied: LastApplied, table: LiveTable, options: PlanOptions, *, repair: bool
) -> Iterator[Refusal]:
    """Refuse what others altered since the last apply; with `repair`, only what it must not overwrite."""
    base = last_applied.base
    if base is None or not last_applied.judges_drift:
        return
    planned = pending_changes(contract, table.state, options)
    yield from possible_renames(
        planned,
        contract.state,
        table.state,
        options.tracking,
        [base.state],
        "rename it back by hand, or declare the rename",
    )
    yield from _recreated(base, contract, table)
    yield from _altered_before_drop(planned, contract, options.tracking)
    if repair:
        return
    altered = _by_subject(pending_changes(base, table.state))
    suspects = {key: change for key, change in _by_subject(planned).items() if key in altered} | {
        key: change for key, change in altered.items() if _is_dropped(change, planned)
    }
    for differences in _since_later_revisions(last_applied, table):
        suspects = {key: change for key, change in suspects.items() if key in differences}
    dropped = set_by_drops(contract.drop_features, table.state)
    for change in suspects.values():
        if isinstance(change, PropertyChanged) and change.key in dropped:
            continue  # a DROP FEATURE set it, and an interrupted one too
        yield Refusal(
            RefusalKind.OPERATION,
            f"{subject_name(change) or 'the table'} matches neither the contract nor what was applied last",
            "someone altered the table: add the change to the contract, or overwrite it: --repair-drift",
            DRIFT_SCHEMA,
        )


def unseen_edits(
    last_applied: LastApplied, table: LiveTable, tracking: ColumnTracking | None
) -> Iterator[FieldRemoved | DeletionListed]:
    """Yield the edits of the contract since the last apply that a live table alone does not show.

    These are live columns that it no longer mentions, and listed drops with a type that the column never had.
    An older revision, which the user applies again, may lack newer columns.
    """
    if tracking is None or last_applied.is_way_back:
        return
    yield from tracking.left_out
    *older, contract = last_applied.revisions
    history = {path_key(entry.path) for state in older[:1] for entry in state.state.dropped}
    for entry in contract.state.dropped:
        states = (table.state, *(revision.state for revision in older))
        types = [old for state in states if (old := type_at(state.columns, entry.path)) is not None]
        if entry.type is None or path_key(entry.path) in history or not older:
            continue
        if types and print_type(entry.type) not in map(print_type, types):
            yield DeletionListed(entry.path, entry.type)


def _by_subject(changes: Sequence[Change]) -> dict[Hashable, Change]:
    """Return the changes of a live table by their subjects, columns under their live names."""
    renames = renames_of(changes)
    return {
        subject(change, renames.back(path) if (path := change_path(change)) else None): change
        for change in changes
    }


def _is_dropped(altered: Change, planned: Sequence[Change]) -> bool:
    """Whether the plan drops the altered column, or a parent of it."""
    renames, path = renames_of(planned), change_path(altered)
    removed = [change.path for change in planned if isinstance(change, FieldRemoved)]
    live_paths = [lowercased((*renames.back(new[:-1]), new[-1])) for new in removed]
    return path is not None and any(is_within(path, above) for above in live_paths)


def _since_later_revisions(last_applied: LastApplied, table: LiveTable) -> Iterator[Collection[Hashable]]:
    """Yield what differs from each later revision: an interrupted run may have applied it in part."""
    if last_applied.is_way_back:
        return
    states = [revision.state for revision in last_applied.revisions]
    for number, revision in enumerate(last_applied.revisions[1:-1], start=2):
        tracking = track_columns(table.state.columns, states[:number])
        yield _by_subject(pending_changes(revision, table.state, PlanOptions(tracking))).keys()


def _recreated(base: Contract, contract: Contract, table: LiveTable) -> Iterator[Refusal]:
    """Refuse to drop columns again that a writer recreated after the contract dropped them."""
    old = frozenset(base.state.dropped_by_key) - listed_paths(base.state, contract.state)
    for entry in contract.state.dropped:
        states = (contract.state, base.state)
        is_declared = any(field_at(state.columns, entry.path) is not None for state in states)
        if path_key(entry.path) in old and not is_declared and field_at(table.state.columns, entry.path):
            yield Refusal(
                RefusalKind.OPERATION,
                f"{format_path(entry.path)} was dropped, and exists again",
                "a writer recreated it: declare it, or drop it by hand once no writer needs it",
                DRIFT_SCHEMA,
            )


def _altered_before_drop(
    planned: Sequence[Change], contract: Contract, tracking: ColumnTracking | None
) -> Iterator[Refusal]:
    """Refuse to drop a column of a type that no revision gives it: it may be another column by now."""
    for removed in planned:
        if not isinstance(removed, FieldRemoved) or tracking is None:
            continue
        live = removed.field.type
        listed = contract.state.dropped_by_key.get(path_key(removed.path), ())
        old_types = tracking.dropped_types.get(removed.field.column_id or 0, ())
        types = (*old_types, *(entry.type for entry in listed if entry.type is not None))
        is_widened = contract.open.widening and any(step(old, live) == TypeStep.WIDENING for old in types)
        if types and not is_widened and not any(is_alike(old, live) for old in types):
            yield Refusal(
                RefusalKind.OPERATION,
                f"{format_path(removed.path)} has the type {print_type(live)}, which no revision gives it",
                "someone made it anew: declare it, or drop it by hand once nobody needs it",
                DRIFT_SCHEMA,
            )
