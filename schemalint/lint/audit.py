"""Live tables, and how they came to be -> findings, with or without contracts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.table import LiveTable
from schemalint.errors import LiveError, SchemalintError
from schemalint.lint.judge import ordered
from schemalint.lint.rulebook import TableIgnores, is_ignored
from schemalint.lint.table import judge_table
from schemalint.model.contract import Contract
from schemalint.model.finding import CheckResult, Finding, Run, SideRef
from schemalint.model.inventory import Inventory, TableSummary, summary_of
from schemalint.plugin import Rule
from schemalint.values import frozen, replace

_HISTORY = SideRef("history", why="as far back as the logs go")
_LIVE = SideRef("live", why="the tables as they are")


@frozen
class AuditedTable:
    """A table to judge.

    Attributes:
        name: What findings call it.
        table: With its history; or why it could not be read.
        contract: Effective for the target, where there is one.
        files: What its data files hold, or why that is not known; None if nobody looked.
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
) -> CheckResult:
    """Judge every table as it is, and its whole history; one that cannot be read is an error of the run."""
    findings: list[Finding] = []
    errors: list[SchemalintError] = []
    summaries: list[TableSummary] = []
    for one in tables:
        if isinstance(one.table, LiveError):
            errors.append(one.table)
            continue
        summaries.append(summary_of(one.name, one.table))
        files = one.files
        if isinstance(files, LiveError):
            errors.append(files)
            files = None
        found = judge_table(one.table, rules, name=one.name, contract=one.contract, files=files)
        findings += (finding for finding in found if not is_ignored(finding, rules, table_ignores))
    return CheckResult(
        run=Run(_HISTORY, _LIVE, target, compared=tuple(one.table for one in summaries)),
        findings=ordered(replace(finding, target=target) for finding in findings),
        errors=tuple(errors),
        inventory=Inventory(tuple(summaries)),
    )
