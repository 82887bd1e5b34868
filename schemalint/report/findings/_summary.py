"""The summary of a run, and its findings by the owners of their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from schemalint.base.phrases import affixed, counted
from schemalint.base.printable import printable
from schemalint.base.values import grouped
from schemalint.model.finding import CheckResult, Finding, Run, Severity
from schemalint.report.text_helpers import COLORS, WORST_FIRST, styled

_COMMIT_LENGTH = 7
_NO_OWNER: Final = "no owner declared"


def shown(result: CheckResult, *, show_existing: bool) -> tuple[Finding, ...]:
    """Return the findings to show; approved ones are not among them."""
    return tuple(finding for finding in result.findings if show_existing or not finding.existing)


def worst_first(result: CheckResult, *, show_existing: bool) -> list[Finding]:
    """Return the findings to show, from worst to least severe, and then those that exist already."""
    return sorted(
        shown(result, show_existing=show_existing), key=lambda finding: (finding.existing, -finding.severity)
    )


def closing(result: CheckResult, *, color: bool, show_existing: bool) -> list[str]:
    """Render the last lines of a report: the remarks and the summary."""
    level = verdict(result)
    fg = "green" if level is Severity.INFO else COLORS[level]
    last = styled(summary(result), color=color, fg=fg, bold=True)
    return [*remarks(result, show_existing=show_existing), last]


def summary(result: CheckResult) -> str:
    """Summarize the run in one line: numbers of findings and tables, and the base."""
    return f"{outcome(result)} ({_sides(result.run)})"


def remarks(result: CheckResult, *, show_existing: bool) -> list[str]:
    """Return lines for the existing findings, the fixes, and the tables that were not compared."""
    skipped = [f"skipped {printable(table.table)}: {printable(table.reason)}" for table in result.run.skipped]
    hint = "" if show_existing or result.inventory is not None else "; --all shows them"
    in_baseline = sum(finding.in_baseline for finding in result.findings)
    existing = sum(finding.existing for finding in result.findings) - in_baseline
    lines = ((existing, "that the base has too"), (in_baseline, "in the baseline"))
    texts = [f"{counted(number, 'finding')} {where}{hint}" for number, where in lines if number]
    return [*texts, *_fixable(result), *skipped]


def _fixable(result: CheckResult) -> Iterator[str]:
    """Yield how many findings a fix would resolve, those known already among them."""
    fixes = [finding.fix for finding in result.findings if finding.fix and finding.text_changes]
    safe = sum(fix.safe for fix in fixes)
    unsafe = len(fixes) - safe
    if safe:
        yield f"{safe} fixable with --fix{affixed(' (', unsafe, ' more with --unsafe-fixes)')}"
    elif unsafe:
        yield f"{unsafe} fixable with --fix --unsafe-fixes"


def verdict(result: CheckResult) -> Severity:
    """Return the worst severity of the run: INFO if it is clean, at least WARNING if it is incomplete."""
    if result.errors:
        return Severity.ERROR
    least = Severity.WARNING if is_incomplete(result.run) else Severity.INFO
    return max([least, *(finding.severity for finding in result.counted)])


def is_incomplete(run: Run) -> bool:
    """Whether a table was skipped, or no table was compared."""
    return bool(run.skipped) or not run.compared


def outcome(result: CheckResult) -> str:
    """Return the numbers of findings and tables."""
    problems, tables = _counts(result), len(result.run.compared)
    if tables:
        return f"{problems or _nothing(result)} in {counted(tables, 'table')}"
    if not result.errors and not result.run.skipped:
        return "no table was compared: no declaration differs from the base; --all checks each"
    return "; ".join(filter(None, (problems, "no table was compared")))


def _counts(result: CheckResult) -> str:
    by_severity = Counter(finding.severity for finding in result.counted)
    counts = [(len(result.errors), "failure")]
    counts += [(by_severity[severity], severity.label) for severity in WORST_FIRST]
    return ", ".join(counted(number, noun) for number, noun in counts if number)


def _nothing(result: CheckResult) -> str:
    if result.findings:
        return "no new findings"
    return "no findings"


def _sides(run: Run) -> str:
    parts = ["no base"]
    if run.base is not None:
        parts = [f"base {(run.base.commit or '')[:_COMMIT_LENGTH] or run.base.spec}", run.base.why]
    if run.target is not None:
        parts.append(f"target {run.target}")
    if run.engines:
        parts.append(f"as {' and '.join(run.engines)}")
    return printable(", ".join(filter(None, parts)))


class OwnerCounts(NamedTuple):
    """The findings in the tables of one owner."""

    owner: str
    tables: int
    counts: Counter[Severity]


def by_owner(result: CheckResult) -> list[OwnerCounts]:
    """Count the findings that count, for each owner of a table with findings, the worst first."""
    owners = {table.name: table.owner for table in result.tables}
    by_owner_name = grouped((owners.get(finding.table) or _NO_OWNER, finding) for finding in result.counted)
    rows = [
        OwnerCounts(
            owner,
            len({finding.table for finding in findings}),
            Counter(finding.severity for finding in findings),
        )
        for owner, findings in by_owner_name.items()
    ]
    return sorted(rows, key=lambda row: (*(-row.counts[severity] for severity in WORST_FIRST), row.owner))
