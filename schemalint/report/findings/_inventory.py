"""Totals of an audit over all its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schemalint.base.phrases import counted
from schemalint.base.printable import printable
from schemalint.base.values import grouped
from schemalint.delta.feature import TABLE_FEATURES_WRITER
from schemalint.model.client import ClientSupport
from schemalint.model.finding import CheckResult, Severity
from schemalint.report.text_helpers import WORST_FIRST

if TYPE_CHECKING:
    from schemalint.model.inventory import Inventory

_MOST_TABLES = 20
_MOST_NAMED = 3


def inventory_lines(result: CheckResult) -> list[str]:
    """Render the tables with the worst findings, the declared streams, and the protocol totals.

    Empty except for an audit.
    """
    if result.inventory is None or not result.inventory.tables:
        return []
    lines = (*_tables(result), *_streams(result), *_protocols(result.inventory), *_clients(result))
    return [printable(line) for line in lines]


def _streams(result: CheckResult) -> Iterator[str]:
    """Yield what each declared stream has still to meet, with the settings that it needs."""
    if not result.streams:
        return
    from schemalint.report.stream_texts import place_lines, settings_lines, stream_title, verdict_text  # noqa: PLC0415 (only with streams)

    yield "Streams"
    for report in result.streams:
        yield f"  {report.table}: {stream_title(report)}: {verdict_text(report)}"
        yield from (f"      {line}" for line in (*place_lines(report), *settings_lines(report, applied=True)))


def _tables(result: CheckResult) -> Iterator[str]:
    counts = table_counts(result)
    if not counts:
        return
    ranked = sorted(counts, key=lambda name: (*(-counts[name][severity] for severity in WORST_FIRST), name))
    yield "Tables"
    for name in ranked[:_MOST_TABLES]:
        numbers = [
            counted(counts[name][severity], severity.label)
            for severity in WORST_FIRST
            if counts[name][severity]
        ]
        yield f"  {name}: {', '.join(numbers)}"
    if len(ranked) > _MOST_TABLES:
        yield f"  and {counted(len(ranked) - _MOST_TABLES, 'more table')} with findings"


def table_counts(result: CheckResult) -> dict[str, Counter[Severity]]:
    """Count the findings by table and severity, for tables that have any."""
    counts: dict[str, Counter[Severity]] = {}
    for finding in result.findings:
        counts.setdefault(finding.table, Counter())[finding.severity] += 1
    return counts


def _clients(result: CheckResult) -> Iterator[str]:
    """Render a line for each consumer: the tables that its client lacks, or how many it reads."""
    answers = grouped((client.consumer.described, client) for client in result.clients)
    if answers:
        yield "Clients"
    for name, supports in answers.items():
        lacking = grouped((client.after.verdict, client) for client in supports if client.after.reasons)
        parts = [
            f"{verdict.value}: {counted(len(clients), 'table')} ({_first_tables(clients)})"
            for verdict, clients in sorted(lacking.items(), key=lambda item: -item[0].harm)
        ]
        everything = f"ok: {counted(len(supports), 'table')}"
        yield f"  {name}: {'; '.join(parts) or everything}"


def _first_tables(clients: Sequence[ClientSupport]) -> str:
    texts = [f"{client.table}, because of {client.because}" for client in clients[:_MOST_NAMED]]
    if len(clients) > len(texts):
        texts.append(f"{len(clients) - len(texts)} more")
    return "; ".join(texts)


def _protocols(inventory: Inventory) -> Iterator[str]:
    yield "Protocols"
    for (reader, writer), number in inventory.versions:
        kind = "" if writer >= TABLE_FEATURES_WRITER else ", legacy"
        yield f"  reader {reader}, writer {writer}{kind}: {counted(number, 'table')}"
    for name, number in inventory.idle:
        yield f"  {name}: supported, but not in use in {counted(number, 'table')}"
    for name, number in inventory.preview:
        yield f"  {name}: in preview, in {counted(number, 'table')}"
