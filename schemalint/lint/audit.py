"""Judge live tables and their histories, with or without contracts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schemalint.delta.footer_summary import PhysicalTypes
from schemalint.delta.table import LiveTable
from schemalint.errors import LiveError, SchemalintError
from schemalint.lint.judge import collecting, ordered
from schemalint.lint.rulebook import TableIgnores, is_ignored
from schemalint.lint.table import judge_state, judge_table
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
) -> CheckResult:
    """Judge every table and its whole history; an unreadable table is an error of the run."""
    findings: list[Finding] = []
    errors: list[SchemalintError] = []
    summaries: list[TableSummary] = []
    for audited in tables:
        if isinstance(audited.table, LiveError):
            errors.append(audited.table)
            continue
        summaries.append(summary_of(audited.name, audited.table))
        files = audited.files
        if isinstance(files, LiveError):
            errors.append(files)
            files = None
        name, contract = audited.name, audited.contract
        with collecting(errors, name):
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
    )
