"""What a run over many tables says of them together."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from schemalint.model.finding import Severity
from schemalint.printable import printable
from schemalint.report.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemalint.model.finding import CheckResult
    from schemalint.model.inventory import Inventory

_MOST_TABLES = 20


def inventory_lines(result: CheckResult) -> list[str]:
    """The tables with the most and worst findings, and the protocol debt; nothing but for an audit."""
    if result.inventory is None or not result.inventory.tables:
        return []
    return [printable(line) for line in (*_tables(result), *_debt(result.inventory))]


def _tables(result: CheckResult) -> Iterator[str]:
    counts = table_counts(result)
    if not counts:
        return
    ranked = sorted(counts, key=lambda name: (*(-counts[name][one] for one in _worst_first()), name))
    yield "Tables"
    for name in ranked[:_MOST_TABLES]:
        told = [counted(counts[name][one], one.label) for one in _worst_first() if counts[name][one]]
        yield f"  {name}: {', '.join(told)}"
    if len(ranked) > _MOST_TABLES:
        yield f"  and {counted(len(ranked) - _MOST_TABLES, 'table')} more with findings"


def table_counts(result: CheckResult) -> dict[str, Counter[Severity]]:
    """The findings by table and severity, for tables that have any."""
    counts: dict[str, Counter[Severity]] = {}
    for finding in result.findings:
        counts.setdefault(finding.table, Counter())[finding.severity] += 1
    return counts


def _worst_first() -> list[Severity]:
    return sorted(Severity, reverse=True)


def _debt(inventory: Inventory) -> Iterator[str]:
    yield "Protocols"
    for (reader, writer), number in inventory.versions:
        kind = "" if writer >= 7 else ", legacy"  # noqa: PLR2004 (PROTOCOL.md, "Table Features")
        yield f"  reader {reader}, writer {writer}{kind}: {counted(number, 'table')}"
    for name, number in inventory.idle:
        yield f"  {name}: supported and not in use in {counted(number, 'table')}"
    for name, number in inventory.preview:
        yield f"  {name}: in preview, in {counted(number, 'table')}"
