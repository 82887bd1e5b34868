"""The exceptions that count in a plan: what they approve forbids no statement, or waits for a rewrite."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from schemalint.base.values import replace
from schemalint.contract.revisions import Revisions
from schemalint.lint.exceptions import ExceptionResult, approve, is_expired
from schemalint.model.contract import Contract, table_key
from schemalint.model.exception import WrittenException
from schemalint.model.finding import Severity
from schemalint.model.marker import declaration_hash
from schemalint.model.plan import Refusal, RefusalKind, TablePlan
from schemalint.model.rule_codes import TABLE_REMOVED

if TYPE_CHECKING:
    from schemalint.deploy.request import DeployInput
    from schemalint.model.finding import Finding


def approved_in_plan(
    request: DeployInput,
    contract: Contract,
    applied: Contract | None,
    revisions: Revisions,
    findings: Sequence[Finding],
) -> ExceptionResult:
    """Divide the findings of a table into those that exceptions approve, and the others.

    The exceptions of all revisions since the last apply count, so that an exception can be removed from the
    contract before its change is deployed everywhere. Of a change under review, what its base has counts by
    itself, and the rest as in `check`.

    Args:
        request: The input of the deployment.
        contract: The contract.
        applied: The revision that was applied last, if it is known.
        revisions: The revisions of all contracts.
        findings: The judged findings.
    """
    written = request.exceptions
    before: Contract | None = contract
    if written.reviewed is not None:
        before = revisions.at(written.reviewed.commit, contract.key)
    approval = approve(findings, written.with_contracts([(before, contract)]), request.rules, written.today)
    if written.reviewed is not None or applied is None or not any(map(_forbids, approval.remaining)):
        return approval
    earlier = [(revision, revision) for revision in _since(applied, contract, revisions)]
    exceptions = written.with_contracts([(contract, contract), *earlier])
    return approve(findings, exceptions, request.rules, written.today)


def _since(applied: Contract, contract: Contract, revisions: Revisions) -> Iterator[Contract]:
    """Yield the revisions since the applied one, newest first."""
    end = declaration_hash(applied)
    for _commit, revision in revisions.newest_first(contract.key):
        if declaration_hash(revision) == end:
            return
        yield revision


def _forbids(finding: Finding) -> bool:
    return finding.severity >= Severity.ERROR


def with_rewrites_waiting(plan: TablePlan, outcome: ExceptionResult) -> TablePlan:
    """Return the plan that waits where a rule refuses what is to be rewritten outside of schemalint."""
    reasons = {approval.finding.identity: approval.by.exception.reason for approval in outcome.approved}
    refusals = tuple(_waiting(refusal, reasons) for refusal in plan.refusals)
    return replace(plan, refusals=refusals)


def _waiting(refusal: Refusal, reasons: Mapping[tuple[Hashable, ...], str]) -> Refusal:
    if refusal.finding is None or refusal.finding.identity not in reasons:
        return refusal
    return Refusal(
        RefusalKind.REWRITE,
        f"waits for a rewrite: {refusal.reason}",
        f"rewrite it outside of schemalint, then plan again (approved: {reasons[refusal.finding.identity]})",
        refusal.code,
        refusal.finding,
    )


def still_forbidding(outcome: ExceptionResult) -> tuple[Finding, ...]:
    """Return the findings that a plan obeys: nothing approves them, or Delta refuses what they are about."""
    rewritten = (approval.finding for approval in outcome.approved if approval.by.exception.via is not None)
    return (*outcome.remaining, *rewritten)


def is_removal_approved(request: DeployInput, contract: Contract) -> bool:
    """Whether an exception approves that the table of a contract has no contract any more."""
    return any(
        table_key(written.table) == contract.key and _approves_removal(written, request)
        for written in request.exceptions.of_file
    )


def _approves_removal(written: WrittenException, request: DeployInput) -> bool:
    exception = written.exception
    is_of_rule = exception.rule in (TABLE_REMOVED, "table-removed") and exception.object == "table"
    is_void = written.added and request.exceptions.void(written.source) is not None
    return (
        is_of_rule
        and not is_void
        and bool(exception.reason)
        and not is_expired(exception, request.exceptions.today)
    )
