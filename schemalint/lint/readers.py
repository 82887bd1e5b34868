"""What a change does to the declared clients and streams of a table.

What they are judged by is imported only if there are any: most contracts declare none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from schemalint.delta.engine import Engines
from schemalint.lint.context import effective_pairs, git_context
from schemalint.lint.upgrades import protocol_upgrades, subject_of
from schemalint.model.client import ClientSupport, SupportLost
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract
from schemalint.model.fact import AffectedStreams, ProtocolUpgrade, WritersLost
from schemalint.model.finding import Finding
from schemalint.plugin import RuleContext

if TYPE_CHECKING:
    from schemalint.model.stream_report import StreamReport


def clients_offline(
    before: Contract | None, after: Contract, engines: Mapping[str | None, Engines] = MappingProxyType({})
) -> Iterator[ClientSupport]:
    """Yield what the declared clients do with a table before and after, for each target; as `judge_pair`."""
    for ctx in _contexts_of_consumers(before, after, engines):
        yield from clients_of(ctx)


def clients_of(ctx: RuleContext) -> tuple[ClientSupport, ...]:
    """Return what the declared clients do with a table before and after the change."""
    if not _has_clients(ctx):
        return ()
    from schemalint.lint.client_support import client_support  # noqa: PLC0415 (only with clients)

    return client_support(ctx, () if ctx.is_new_table else protocol_upgrades(ctx))


def each_client_once(clients: Iterable[ClientSupport]) -> tuple[ClientSupport, ...]:
    """Return what each consumer's client does with each table, of several targets the most harmful answer."""
    found: dict[object, ClientSupport] = {}
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
        if key not in found or found[key].after.verdict.harm < client.after.verdict.harm:
            found[key] = client
    return tuple(found.values())


def client_losses(
    ctx: RuleContext, upgrades: tuple[ProtocolUpgrade, ...], refusals: Iterable[Finding]
) -> tuple[SupportLost, ...]:
    """Return which declared clients lose the table, and by what.

    Args:
        ctx: The table and its declaration.
        upgrades: The upgrades that are not superseded.
        refusals: The findings that refuse a part of the change: it does not happen.
    """
    if not _has_clients(ctx):
        return ()
    from schemalint.lint.client_support import losses_of  # noqa: PLC0415 (only with clients)

    errors = tuple(refusals)
    refused = {subject_of(finding) for finding in errors}
    without = {finding.path for finding in errors}
    return losses_of(ctx, upgrades, refused=refused, without=without)


def writer_losses(
    ctx: RuleContext, upgrades: tuple[ProtocolUpgrade, ...], refusals: Iterable[Finding]
) -> tuple[WritersLost, ...]:
    """Return which engines can no longer use the table, and by what; as `client_losses`."""
    if not ctx.contract.engines.others:
        return ()
    from schemalint.lint.writers import writers_lost  # noqa: PLC0415 (only with several engines)

    errors = tuple(refusals)
    refused = {subject_of(finding) for finding in errors}
    without = {finding.path for finding in errors}
    return tuple(writers_lost(ctx, upgrades, refused=refused, without=without))


def _has_clients(ctx: RuleContext) -> bool:
    return any(consumer.client is not None for consumer in ctx.consumers)


def streams_offline(
    before: Contract | None, after: Contract, engines: Mapping[str | None, Engines] = MappingProxyType({})
) -> Iterator[StreamReport]:
    """Yield what a change does to the declared streams of a table, for each target; as `judge_pair`."""
    for ctx in _contexts_of_consumers(before, after, engines):
        yield from streams_of(ctx)


def _contexts_of_consumers(
    before: Contract | None, after: Contract, engines: Mapping[str | None, Engines]
) -> Iterator[RuleContext]:
    """Yield the context of each target in which the table has consumers."""
    for _target, old, new in effective_pairs(before, after, engines):
        if new is not None and (new.consumers or (old is not None and old.consumers)):
            yield git_context(old, new)


def streams_of(ctx: RuleContext, tracking: ColumnTracking | None = None) -> tuple[StreamReport, ...]:
    """Return what a change does to the declared streams of a table; none if it has no statement."""
    affected = streams_affected(ctx, tracking)
    return affected.streams if affected is not None else ()


def streams_affected(ctx: RuleContext, tracking: ColumnTracking | None = None) -> AffectedStreams | None:
    """Return what a change does to the declared streams of a table; None if there are none.

    Args:
        ctx: The table and its declaration.
        tracking: Which live column is which; None to track them from the base.
    """
    if ctx.is_new_table or not any(consumer.stream for consumer in ctx.consumers):
        return None
    from schemalint.lint.stream_effects import affected_streams  # noqa: PLC0415 (only with streams)

    return affected_streams(ctx, tracking)


def each_stream_once(streams: Iterable[StreamReport]) -> tuple[StreamReport, ...]:
    """Return what happens to each declared stream, of several targets the most harmful answer."""
    found: dict[object, StreamReport] = {}
    for report in streams:
        stream = report.consumer.stream
        key = (report.table, report.consumer.name, report.is_tracked, stream and stream.checkpoint)
        if key not in found or found[key].harm < report.harm:
            found[key] = report
    return tuple(found.values())
