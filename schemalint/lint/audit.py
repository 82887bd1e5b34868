"""Judge live tables and their histories, with or without contracts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schemalint.base.errors import LiveError, SchemalintError
from schemalint.base.values import frozen, replace
from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.table import LiveTable
from schemalint.lint.judge import collecting, ordered
from schemalint.lint.scopes import Scope, Scopes
from schemalint.lint.table import judge_state, judge_table
from schemalint.model.client import ClientSupport
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract
from schemalint.model.finding import CheckResult, Finding, Run, SideRef
from schemalint.model.inventory import Inventory, TableSummary, summary_of
from schemalint.model.judged_table import JudgedTable
from schemalint.plugin import Rule

if TYPE_CHECKING:
    from schemalint.model.stream_report import StreamReport

_HISTORY = SideRef("history", why="as far back as the logs go")
_LIVE = SideRef("live", why="the tables as they are")


@frozen
class AuditedTable:
    """A table to judge.

    Attributes:
        name: The table's name in findings.
        table: The table with its history, or the error that prevented reading it.
        contract: The contract effective for the target, if there is one.
        files: The types in the data files, or the error that prevented reading them; None if not requested.
    """

    name: str
    table: LiveTable | LiveError
    contract: Contract | None = None
    files: PhysicalTypes | LiveError | None = None


def audit(
    tables: Iterable[AuditedTable],
    rules: Sequence[Rule],
    *,
    target: str | None = None,
    scopes: Scopes | None = None,
    consumers: Sequence[Consumer] | None = None,
    client_rows: Sequence[Mapping[str, Any]] = (),
    keep_tables: bool = False,
) -> CheckResult:
    """Judge every table and its whole history; an unreadable table is an error of the run.

    Args:
        tables: The tables.
        rules: The rules.
        target: The name of the target.
        scopes: The rules of each contract, instead of `rules`.
        consumers: The consumers whose clients are asked about every table, beside those of its contract;
            None asks no client.
        client_rows: The rows of the configuration that precede those of the client table.
        keep_tables: Whether the result has the live tables, which take memory.
    """
    findings: list[Finding] = []
    errors: list[SchemalintError] = []
    summaries: list[TableSummary] = []
    clients: list[ClientSupport] = []
    streams: list[StreamReport] = []
    judged: list[JudgedTable] = []
    for audited in tables:
        if isinstance(audited.table, LiveError):
            errors.append(audited.table)
            continue
        summaries.append(summary_of(audited.name, audited.table))
        if consumers is not None:
            from schemalint.lint.client_support import today  # noqa: PLC0415 (only with --clients)

            declared = audited.contract.consumers if audited.contract else ()
            asked = {consumer.name: consumer for consumer in (*consumers, *declared)}
            clients += today(audited.name, audited.table, asked.values(), client_rows)
        judged.append(_judged(audited, audited.table if keep_tables else None))
        files = audited.files
        if isinstance(files, LiveError):
            errors.append(files)
            files = None
        name, contract = audited.name, audited.contract
        scope = scopes.of(contract.file if contract else None) if scopes else Scope(tuple(rules), ())
        with collecting(errors, name):
            streams += _streams(name, contract)
            found = (
                *judge_table(audited.table, scope.rules, name=name, contract=contract, files=files),
                *judge_state(audited.table, scope.rules, name=name, contract=contract),
            )
            findings += (finding for finding in found if scopes is None or scope.reports(finding))
    return CheckResult(
        run=Run(_HISTORY, _LIVE, target, compared=tuple(summary.table for summary in summaries)),
        findings=ordered(replace(finding, target=target) for finding in findings),
        errors=tuple(errors),
        inventory=Inventory(tuple(summaries)),
        clients=tuple(clients),
        streams=tuple(streams),
        tables=tuple(judged),
    )


def _judged(audited: AuditedTable, live: LiveTable | None) -> JudgedTable:
    contract = audited.contract
    return JudgedTable(
        audited.name,
        file=contract.file if contract else "",
        owner=contract.owner if contract else None,
        consumers=contract.consumers if contract else (),
        after=live.state if live else None,
        live=live,
    )


def _streams(name: str, contract: Contract | None) -> list[StreamReport]:
    """Return what each declared stream has still to meet, from where its own files say that it is."""
    streams = [consumer for consumer in contract.consumers if consumer.stream] if contract else []
    if not streams:
        return []
    from schemalint.model.stream_report import stream_reports  # noqa: PLC0415 (only with streams)

    return [
        report if _is_known(report.consumer) else report.with_unknown_effect()
        for report in stream_reports(name, streams, ())
    ]


def _is_known(consumer: Consumer) -> bool:
    """Return whether it is known what a stream has still to meet."""
    progress = consumer.stream.progress if consumer.stream else None
    return progress is not None and progress.to_meet is not None
