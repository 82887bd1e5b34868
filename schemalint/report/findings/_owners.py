"""The findings of a run by the owners of their tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from schemalint.base.values import grouped

if TYPE_CHECKING:
    from schemalint.model.finding import CheckResult, Severity

NO_OWNER: Final = "no owner declared"


class OwnerCounts(NamedTuple):
    """The findings in the tables of one owner."""

    owner: str
    tables: int
    counts: Counter[Severity]


def by_owner(result: CheckResult) -> list[OwnerCounts]:
    """Count the findings that count, for each owner of a table with findings, the worst first."""
    owners = {table.name: table.owner for table in result.tables}
    by_owner_name = grouped((owners.get(finding.table) or NO_OWNER, finding) for finding in result.counted)
    rows = [
        OwnerCounts(
            owner,
            len({finding.table for finding in findings}),
            Counter(finding.severity for finding in findings),
        )
        for owner, findings in by_owner_name.items()
    ]
    worst_first = sorted({severity for row in rows for severity in row.counts}, reverse=True)
    return sorted(rows, key=lambda row: (*(-row.counts[severity] for severity in worst_first), row.owner))
