"""The proof that a drop owes outlives the key `backfill`, and a run that died before it."""

from __future__ import annotations

from schemalint.base.values import replace
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.datatype import field_at, walk_fields
from schemalint.delta.path import Path, is_within, lowercased, path_key
from schemalint.delta.table import LiveTable, TableState
from schemalint.deploy.last_applied import LastApplied
from schemalint.model.contract import Backfill, Contract
from schemalint.model.marker import read_marker
from schemalint.model.table_plan import DropToProve, TablePlan
from schemalint.project.git import MissingHistoryError


def outlived_backfills(contract: Contract, live: LiveTable, revisions: Revisions) -> dict[Path, Backfill]:
    """Return how older revisions filled columns from what the contract drops, where it no longer says so.

    They are looked for since the last revision without the new column, and only if a drop is to come that no
    `backfill` of the contract guards. A fill from before the commits that `contract_history` searches is not
    found: in so old a repository no column could be dropped otherwise.

    Raises:
        MissingHistoryError: This clone lacks the revisions.
    """
    guarded = {path_key(fill.source) for fill in contract.backfills.values()}
    drops = [
        path_key(entry.path)
        for entry in contract.state.dropped
        if path_key(entry.path) not in guarded and field_at(live.state.columns, entry.path) is not None
    ]
    found: dict[Path, Backfill] = {}
    if not drops:
        return found
    declared = {lowercased(path) for path in contract.backfills}
    over: set[Path] = set()
    try:
        for _commit, revision in revisions.newest_first(contract.key):
            columns = revision.state.columns
            for path, fill in revision.backfills.items():
                key = lowercased(path)
                is_dropped = any(is_within(path_key(fill.source), drop) for drop in drops)
                if is_dropped and key not in over | declared | {lowercased(other) for other in found}:
                    found[path] = replace(fill, outlived=True)
            over |= {
                lowercased(path)
                for path, _field in walk_fields(contract.state.columns)
                if field_at(columns, path) is None
            }
    except MissingHistoryError as error:
        if error.command:
            raise
    return found


def drops_to_prove(
    plan: TablePlan, contract: Contract, live: LiveTable, last_applied: LastApplied
) -> tuple[DropToProve, ...]:
    """Return the drops that no marker calls proved: the column is there, and its source is gone.

    A marker of a declaration without the source was written after the proof.
    """
    if not plan.writes_marker:
        return ()
    base = last_applied.base if read_marker(live) is not None and last_applied.judges_drift else None
    return tuple(
        DropToProve(path, fill)
        for path, fill in contract.backfills.items()
        if field_at(live.state.columns, fill.source) is None
        and (base is None or field_at(base.state.columns, fill.source) is not None)
    )


def dropped_since(contract: Contract, planned_from: TableState, live: LiveTable) -> tuple[DropToProve, ...]:
    """Return the drops of a plan that an earlier run made, and maybe did not prove."""
    return tuple(
        DropToProve(path, fill)
        for path, fill in contract.backfills.items()
        if field_at(planned_from.columns, fill.source) is not None
        and field_at(live.state.columns, fill.source) is None
    )
