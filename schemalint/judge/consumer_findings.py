"""What a change does to the declared clients and streams of a table.

What they are judged by is imported only if there are any: most contracts declare none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from schemalint.delta.path import Path
from schemalint.judge.protocol_upgrades import protocol_upgrades, subject_of
from schemalint.judge.rule_judge import AskedRules
from schemalint.model.client import ClientSupport
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.fact import AffectedStreams, ProtocolUpgrade
from schemalint.model.finding import Finding, Severity
from schemalint.plugin import RuleContext

if TYPE_CHECKING:
    from schemalint.model.stream_report import StreamReport


def clients_of(ctx: RuleContext) -> tuple[ClientSupport, ...]:
    """Return what the declared clients do with a table before and after the change."""
    if not _has_clients(ctx):
        return ()
    from schemalint.judge.client_losses import client_support  # noqa: PLC0415 (only with clients)

    return client_support(ctx, () if ctx.is_new_table else protocol_upgrades(ctx))


def each_client_once(clients: Iterable[ClientSupport]) -> tuple[ClientSupport, ...]:
    """Return what each consumer's client does with each table, of several targets the most harmful answer."""
    by_client: dict[object, ClientSupport] = {}
    for client in clients:
        consumer = client.consumer
        key = (
            client.table,
            consumer.name,
            consumer.client,
            consumer.version,
            consumer.read_path,
            consumer.access,
        )
        if key not in by_client or by_client[key].after.verdict.harm < client.after.verdict.harm:
            by_client[key] = client
    return tuple(by_client.values())


def reader_findings(
    rules: AskedRules,
    ctx: RuleContext,
    upgrades: tuple[ProtocolUpgrade, ...],
    findings: Sequence[Finding],
    against: tuple[str, ...],
    tracking: ColumnTracking | None = None,
) -> Iterator[Finding]:
    """Yield the findings about clients, writers and streams that lose the table.

    Args:
        rules: The rules.
        ctx: The table and its declaration.
        upgrades: The upgrades that are not superseded.
        findings: The findings about the change itself; a part of it that one of them refuses does not happen.
        against: The sides of the comparison.
        tracking: Which live column is which; None to track them from the base.
    """
    yield from _client_findings(rules, ctx, upgrades, findings, against)
    yield from _writer_findings(rules, ctx, upgrades, findings, against)
    # If the change is refused, streams meet nothing.
    if not rules.refuses(findings) and (affected := streams_affected(ctx, tracking)) is not None:
        yield from rules(affected, ctx, against)


def _client_findings(
    rules: AskedRules,
    ctx: RuleContext,
    upgrades: tuple[ProtocolUpgrade, ...],
    findings: Iterable[Finding],
    against: tuple[str, ...],
) -> Iterator[Finding]:
    if _has_clients(ctx):
        from schemalint.judge.client_losses import losses_of  # noqa: PLC0415 (only with clients)

        refused, without = _parts(rules.refusals(findings))
        for loss in losses_of(ctx, upgrades, refused=refused, without=without):
            yield from rules(loss, ctx, against)


def _writer_findings(
    rules: AskedRules,
    ctx: RuleContext,
    upgrades: tuple[ProtocolUpgrade, ...],
    findings: Iterable[Finding],
    against: tuple[str, ...],
) -> Iterator[Finding]:
    """Yield the findings about engines that can no longer use the table.

    What the engine that runs the statements refuses, or warns of, is another rule's.
    """
    if ctx.contract.engines.others:
        from schemalint.judge.writers import writers_lost  # noqa: PLC0415 (only with several engines)

        of_engine = {rule.code for rule in rules.rules if rule.engine}
        refused, without = _parts(
            finding
            for finding in findings
            if finding.severity >= (Severity.WARNING if finding.code in of_engine else Severity.ERROR)
        )
        for loss in writers_lost(ctx, upgrades, refused=refused, without=without):
            yield from rules(loss, ctx, against)


def _parts(errors: Iterable[Finding]) -> tuple[set[tuple[str, str]], set[Path]]:
    """Return the objects and the columns that do not change, because they are refused."""
    refusals = tuple(errors)
    return {subject_of(finding) for finding in refusals}, {finding.path for finding in refusals}


def _has_clients(ctx: RuleContext) -> bool:
    return any(consumer.client is not None for consumer in ctx.consumers)


def streams_affected(ctx: RuleContext, tracking: ColumnTracking | None) -> AffectedStreams | None:
    """Return what a change does to the declared streams of a table; None if there are none.

    Args:
        ctx: The table and its declaration.
        tracking: Which live column is which; None to track them from the base.
    """
    if ctx.is_new_table or ctx.contract.is_rebuilt or not any(consumer.stream for consumer in ctx.consumers):
        return None
    from schemalint.judge.stream_effects import affected_streams  # noqa: PLC0415 (only with streams)

    return affected_streams(ctx, tracking)


def each_stream_once(streams: Iterable[StreamReport]) -> tuple[StreamReport, ...]:
    """Return what happens to each declared stream, of several targets the most harmful answer."""
    by_stream: dict[object, StreamReport] = {}
    for report in streams:
        stream = report.consumer.stream
        key = (report.table, report.consumer.name, report.is_tracked, stream and stream.checkpoint)
        if key not in by_stream or by_stream[key].harm < report.harm:
            by_stream[key] = report
    return tuple(by_stream.values())
