"""Judge a contract against its live table, with what the base and the table's marker tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schemalint import contract as contracts
from schemalint.base.values import frozen, replace
from schemalint.delta.change import FieldRenamed
from schemalint.delta.diff import diff, recreated_columns
from schemalint.lint.live import LiveComparison, judge_live, live_context
from schemalint.lint.origin import Origins
from schemalint.lint.readers import clients_of, streams_of
from schemalint.lint.renamed import Names, names_in_log
from schemalint.lint.table import judge_table
from schemalint.model.column_tracking import ColumnTracking, track_columns
from schemalint.model.marker import Marker, declaration_hash, read_marker

if TYPE_CHECKING:
    from schemalint.delta.table import LiveTable
    from schemalint.lint.check_input import LiveSide
    from schemalint.model.client import ClientSupport
    from schemalint.model.contract import Contract
    from schemalint.model.finding import Finding
    from schemalint.model.stream_report import StreamReport
    from schemalint.plugin import Rule


@frozen
class JudgedLive:
    """What is found about a table.

    Attributes:
        findings: The findings, without their target.
        clients: What the declared clients do with the table.
        streams: What happens to the declared streams.
    """

    findings: tuple[Finding, ...]
    clients: tuple[ClientSupport, ...]
    streams: tuple[StreamReport, ...]


def judge_live_table(
    base: Contract | None,
    contract: Contract,
    table: LiveTable,
    live: LiveSide,
    rules: Sequence[Rule],
    *,
    everything: bool,
) -> JudgedLive:
    """Judge a contract against its live table.

    Args:
        base: The contract at the base, effective for the target.
        contract: The contract, effective for the target.
        table: The live table.
        live: Where it was read, and which revisions were applied.
        rules: The rules of the contract.
        everything: Whether unchanged contracts are judged too.
    """
    marker = read_marker(table)
    is_applied = marker is not None and marker.hash == declaration_hash(contract)
    tracking = None if is_applied or base is None else _tracking_since(base, contract, table)
    comparison = LiveComparison(
        contract,
        table,
        base=base,
        applied=None if marker is None else _applied(marker, contract, live),
        is_applied=is_applied,
        ahead=_is_ahead(marker, live),
        tracking=tracking,
        table_findings=tuple(_findings_of_table(table, rules, base, contract)),
        renamed=_names_in_log(base, contract, table) if tracking is None else {},
        all_contracts=everything,
        origins=Origins(table),
    )
    findings = judge_live(comparison, rules)
    if not (contract.consumers or (base is not None and base.consumers)):
        return JudgedLive(findings, (), ())
    ctx = live_context(contract, table, base, tracking, comparison.renamed)
    return JudgedLive(findings, clients_of(ctx), streams_of(ctx, tracking))


def _is_ahead(marker: Marker | None, live: LiveSide) -> bool:
    if marker is None or marker.revision is None:
        return False
    return live.comes_after(marker.revision)


def _applied(marker: Marker, contract: Contract, live: LiveSide) -> Contract | None:
    """Return the contract applied last: that of the marker's commit, else the newest with its hash."""
    applied = live.at_revision(marker.revision, contract.key) if marker.revision is not None else None
    if applied is not None:
        return contracts.effective(applied, live.target)
    is_applied = marker.hash == declaration_hash(contract)
    return contract if is_applied else live.with_hash(marker.hash, contract.key)


def _tracking_since(base: Contract, contract: Contract, table: LiveTable) -> ColumnTracking | None:
    """Return the column tracking since the base; None if names identify the columns."""
    renamed = any(isinstance(change, FieldRenamed) for change in diff(base.state, contract.state))
    if not renamed and not recreated_columns(base.state, contract.state):
        return None
    return track_columns(table.state.columns, [base.state, contract.state])


def _names_in_log(base: Contract | None, contract: Contract, table: LiveTable) -> Names:
    """Return the columns of base and contract that the table has under another name."""
    found = names_in_log(contract.state, table)
    if base is None or not found:
        return found
    at_base = names_in_log(base.state, table)
    return {path: name for path, name in found.items() if path in at_base}


def _findings_of_table(
    table: LiveTable, rules: Sequence[Rule], base: Contract | None, contract: Contract
) -> Iterator[Finding]:
    """Yield the findings of the table itself; those that the base contract gives too are existing."""
    found = judge_table(table, rules, contract=contract)
    at_base = judge_table(table, rules, contract=base) if base and found else ()
    known = {finding.identity for finding in at_base}
    yield from (replace(finding, existing=finding.identity in known) for finding in found)
