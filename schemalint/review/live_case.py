"""The case of a contract with its live table: with what the base and the table's marker tell."""

from __future__ import annotations

from schemalint.base.values import replace
from schemalint.delta.change import FieldRenamed
from schemalint.delta.datatype import Unmanaged, type_at
from schemalint.delta.diff import diff, recreated_columns
from schemalint.delta.table import LiveTable
from schemalint.judge.case import Case
from schemalint.judge.column_log import Names, names_in_log
from schemalint.judge.drift_origin import Origins
from schemalint.judge.rule_set import RuleSet
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.effective import Effective
from schemalint.model.marker import Marker, declaration_hash, read_marker
from schemalint.review.check_input import LiveSide


def live_case(
    rules: tuple[RuleSet, ...],
    base: Effective | None,
    contract: Effective,
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
    if not contract.is_contracted:
        contract = _with_known_clustering(contract, table)
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


def _with_known_clustering(contract: Effective, table: LiveTable) -> Effective:
    """Return a contract without columns, with the table's clustering where its own has a column to come."""
    state, columns = contract.state, table.state.columns
    paths = () if isinstance(state.clustered_by, Unmanaged) else state.clustered_by
    if all(type_at(columns, path) is not None for path in paths):
        return contract
    return replace(contract, state=replace(state, clustered_by=table.state.clustered_by))


def _is_ahead(marker: Marker | None, live: LiveSide) -> bool:
    if marker is None or marker.revision is None:
        return False
    return live.revisions.comes_after(marker.revision)


def _applied(marker: Marker, contract: Effective, live: LiveSide, *, is_applied: bool) -> Effective | None:
    """Return the contract applied last: that of the marker's commit, else the newest with its hash."""
    applied = live.revisions.at(marker.revision, contract.key) if marker.revision is not None else None
    if applied is not None:
        return applied
    if is_applied:
        return contract
    return live.revisions.with_hash(marker.hash, contract.key)


def _tracking_since(base: Effective, contract: Effective, table: LiveTable) -> ColumnTracking | None:
    """Return the column tracking since the base; None if names identify the columns."""
    renamed = any(isinstance(change, FieldRenamed) for change in diff(base.state, contract.state))
    if not renamed and not recreated_columns(base.state, contract.state):
        return None
    return track_columns(table.state.columns, [base.state, contract.state])


def _names_in_log(base: Effective | None, contract: Effective, table: LiveTable) -> Names:
    """Return the columns of base and contract that the table has under another name."""
    names = names_in_log(contract.state, table)
    if base is None or not names:
        return names
    at_base = names_in_log(base.state, table)
    return {path: name for path, name in names.items() if path in at_base}
