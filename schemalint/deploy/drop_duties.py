"""The proof that a drop owes outlives the key `backfill`, and a run that died before it."""

from __future__ import annotations

from itertools import count

from schemalint.base.values import replace
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.datatype import field_at
from schemalint.delta.path import Path, is_within, lowercased, path_key
from schemalint.delta.table import LiveTable, TableState
from schemalint.deploy.last_applied import LastApplied
from schemalint.model.column_tracking import column_numbers
from schemalint.model.contract import Backfill, Contract
from schemalint.model.effective import Effective
from schemalint.model.marker import read_marker
from schemalint.model.revision_columns import numbered_revisions
from schemalint.model.rewrite import Rewrites
from schemalint.model.table_plan import DropToProve, TablePlan
from schemalint.project.git import MissingHistoryError


def outlived_backfills(
    contract: Contract, live: LiveTable, revisions: Revisions, last_applied: LastApplied
) -> dict[Path, Backfill]:
    """Return how older revisions filled columns from what the contract drops, where it no longer says so.

    They are looked for since the last revision without the new column, whatever names both columns have had,
    and only if no `backfill` of the contract guards a drop that is to come, or that no marker calls proved.
    A key that was still there when its drop was declared, and is taken out after the drop, accepts the loss.
    An expression stays as it was written: the plan refuses one with an older name in it. A fill from before
    the commits that `contract_history` searches is not found: in so old a repository no column could be
    dropped otherwise.

    Raises:
        MissingHistoryError: This clone lacks the revisions.
    """
    guarded = {path_key(fill.source) for fill in contract.backfills.values()}
    drops = [
        path_key(entry.path)
        for entry in contract.state.dropped
        if path_key(entry.path) not in guarded
        and (
            field_at(live.state.columns, entry.path) is not None
            or not _is_proved(entry.path, live, last_applied)
        )
    ]
    found: dict[Path, Backfill] = {}
    if not drops:
        return found
    older = _newest_first(contract, revisions)
    states = [*(revision.state for revision in reversed(older)), contract.state]
    newest, *editions = reversed(numbered_revisions(states, count(1))[0])
    last = dict[int, Path]()
    for edition in (newest, *editions):
        last = column_numbers(edition) | last
    names = column_numbers(newest)
    decided = {lowercased(path) for path in contract.backfills}
    over: set[int] = set()
    for revision, edition in zip(older, editions, strict=True):
        for path, fill in revision.backfills.items():
            new, old = (field_at(edition, column) for column in (path, fill.source))
            if new is None or new.column_id in over or new.column_id not in names:
                continue
            name, source = names[new.column_id], fill.source
            if old is not None:  # it may be dropped in this revision already
                source = last.get(old.column_id or 0, source)
            if lowercased(name) in decided or not any(is_within(path_key(source), drop) for drop in drops):
                continue
            decided.add(lowercased(name))
            is_accepted = old is None and field_at(live.state.columns, source) is None
            if not is_accepted:
                found[name] = replace(fill, source=source, outlived=True)
        over |= names.keys() - column_numbers(edition).keys()
    return found


def _newest_first(contract: Contract, revisions: Revisions) -> list[Effective]:
    """Return the revisions of a contract, as many as there are."""
    found: list[Effective] = []
    try:
        for _commit, revision in revisions.newest_first(contract.key):
            found.append(revision)
    except MissingHistoryError as error:
        if error.command:
            raise
    return found


def drops_to_prove(
    plan: TablePlan, contract: Contract, live: LiveTable, last_applied: LastApplied
) -> tuple[DropToProve, ...]:
    """Return the drops that no marker calls proved: the column is there, and its source is gone."""
    if not plan.writes_marker:
        return ()
    return tuple(
        DropToProve(path, fill)
        for path, fill in contract.backfills.items()
        if field_at(live.state.columns, fill.source) is None
        and not _is_proved(fill.source, live, last_applied)
    )


def _is_proved(source: Path, live: LiveTable, last_applied: LastApplied) -> bool:
    """Whether a marker calls a drop proved: one of a declaration without the column came after the proof."""
    base = _marked(live, last_applied)
    return base is not None and field_at(base.state.columns, source) is None


def _marked(live: LiveTable, last_applied: LastApplied) -> Effective | None:
    """Return the declaration of the newest marker; None without one, and after an interrupted run."""
    if read_marker(live) is not None and last_applied.judges_drift:
        return last_applied.base
    return None


def rewrites_to_prove(
    plan: TablePlan, contract: Contract, live: LiveTable, last_applied: LastApplied
) -> Rewrites:
    """Return the rewrites that no marker calls proved; a marker of a declaration with the type came after."""
    if not (plan.writes_marker and contract.rewrites):
        return Rewrites()
    base = _marked(live, last_applied)
    if base is not None and not contract.rewrites.due(base.state, contract.state):
        return Rewrites()
    return contract.rewrites


def dropped_since(contract: Contract, planned_from: TableState, live: LiveTable) -> tuple[DropToProve, ...]:
    """Return the drops of a plan that an earlier run made, and maybe did not prove."""
    return tuple(
        DropToProve(path, fill)
        for path, fill in contract.backfills.items()
        if field_at(planned_from.columns, fill.source) is not None
        and field_at(live.state.columns, fill.source) is None
    )
