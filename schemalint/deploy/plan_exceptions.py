"""What exceptions and the baseline approve in a plan: which findings it obeys, which refusals it keeps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final

from schemalint.base.values import replace
from schemalint.contract.contract_revisions import Revisions
from schemalint.deploy.deploy_input import DeployInput
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Effective
from schemalint.model.exception import WrittenException
from schemalint.model.finding import Finding, Severity
from schemalint.model.marker import declaration_hash
from schemalint.model.rule_codes import TABLE_REMOVED
from schemalint.model.table_plan import Refusal, RefusalKind, TablePlan
from schemalint.review.approve import ExceptionResult, approve, is_expired

_WITHOUT_STATEMENT: Final = (RefusalKind.DECLARATION, RefusalKind.LIVE)


def approved_in_plan(
    request: DeployInput,
    contract: Effective,
    applied: Effective | None,
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
    before: Effective | None = contract
    if written.reviewed is not None:
        before = revisions.at(written.reviewed.commit, contract.key)
    approval = approve(findings, written.with_contracts([(before, contract)]), request.rules, written.today)
    if (
        written.reviewed is not None
        or applied is None
        or not any(finding.severity >= Severity.ERROR for finding in approval.remaining)
    ):
        return approval
    earlier = [(revision, revision) for revision in _since(applied, contract, revisions)]
    exceptions = written.with_contracts([(contract, contract), *earlier])
    return approve(findings, exceptions, request.rules, written.today)


def _since(applied: Effective, contract: Effective, revisions: Revisions) -> Iterator[Effective]:
    """Yield the revisions since the applied one, newest first."""
    end = declaration_hash(applied)
    for _commit, revision in revisions.newest_first(contract.key):
        if declaration_hash(revision) == end:
            return
        yield revision


def obeyed_findings(outcome: ExceptionResult) -> tuple[Finding, ...]:
    """Return the findings that a plan obeys: nothing approves them, or Delta refuses what they are about."""
    rewritten = (approval.finding for approval in outcome.approved if approval.by.exception.via is not None)
    return (*outcome.remaining, *rewritten)


def with_rewrites_waiting(plan: TablePlan, outcome: ExceptionResult) -> TablePlan:
    """Return the plan that waits where a rule refuses what is to be rewritten outside of schemalint.

    The rewrite makes the table as declared, so nothing else that no statement can do stands in its way.
    """
    reasons = {approval.finding.identity: approval.by.exception.reason for approval in outcome.approved}
    refusals = tuple(_waiting(refusal, reasons) for refusal in plan.refusals)
    if any(refusal.kind is RefusalKind.REWRITE for refusal in refusals):
        refusals = tuple(refusal for refusal in refusals if refusal.kind not in _WITHOUT_STATEMENT)
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


def is_in_baseline(refusal: Refusal, request: DeployInput) -> bool:
    """Return whether the baseline has the finding of a refusal, of this target or without one."""
    finding, baseline = refusal.finding, request.baseline
    if finding is None or baseline is None:
        return False
    targets = (request.target.name, None)
    return any(baseline.has_merged(replace(finding, target=target), 1) for target in targets)


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
