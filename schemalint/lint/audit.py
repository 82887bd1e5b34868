"""Judge live tables and their histories, with or without contracts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.table import LiveTable
from schemalint.errors import LiveError, SchemalintError
from schemalint.lint.judge import collecting, ordered
from schemalint.lint.rulebook import TableIgnores, is_ignored
from schemalint.lint.table import judge_state, judge_table
from schemalint.model.client import ClientSupport
from schemalint.model.consumer import Consumer
from schemalint.model.contract import Contract
from schemalint.model.finding import CheckResult, Finding, Run, SideRef
from schemalint.model.inventory import Inventory, TableSummary, summary_of
from schemalint.plugin import Rule
from schemalint.values import frozen, replace

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
    table_ignores: TableIgnores = (),
    consumers: Sequence[Consumer] = (),
    client_rows: Sequence[Mapping[str, Any]] = (),
) -> CheckResult:
    """Judge every table and its whole history; an unreadable table is an error of the run.

    Args:
        tables: The tables.
        rules: The rules.
        target: The name of the target.
        table_ignores: The rules that do not check some of the tables.
        consumers: The consumers whose clients are asked about every table.
        client_rows: The rows of the configuration that precede those of the client table.
    """
    findings: list[Finding] = []
    errors: list[SchemalintError] = []
    summaries: list[TableSummary] = []
    clients: list[ClientSupport] = []
    streams: list[StreamReport] = []
    for audited in tables:
        if isinstance(audited.table, LiveError):
            errors.append(audited.table)
            continue
        summaries.append(summary_of(audited.name, audited.table))
        if consumers:
            from schemalint.lint.client_support import today  # noqa: PLC0415 (only with --clients)

            clients += today(audited.name, audited.table, consumers, client_rows)
        files = audited.files
        if isinstance(files, LiveError):
            errors.append(files)
            files = None
        name, contract = audited.name, audited.contract
        with collecting(errors, name):
            streams += _streams(name, contract)
            found = (
                *judge_table(audited.table, rules, name=name, contract=contract, files=files),
                *judge_state(audited.table, rules, name=name, contract=contract),
            )
            findings += (finding for finding in found if not is_ignored(finding, rules, table_ignores))
    return CheckResult(
        run=Run(_HISTORY, _LIVE, target, compared=tuple(summary.table for summary in summaries)),
        findings=ordered(replace(finding, target=target) for finding in findings),
        errors=tuple(errors),
        inventory=Inventory(tuple(summaries)),
        clients=tuple(clients),
        streams=tuple(streams),
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
