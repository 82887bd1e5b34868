"""Plan one table: find what was applied last, ask the rules, and order the statements.

Hold back steps that only change comments or the order of columns, where they would stop a stream.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

from schemalint.base.errors import ConfigError
from schemalint.base.values import replace
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.table import LiveTable
from schemalint.deploy.approvals import with_upgrade_allowed, with_upgrade_gated
from schemalint.deploy.catalog_features import (
    above_limits_in_catalog,
    added_by_catalog,
    with_features_of_catalog,
)
from schemalint.deploy.deploy_input import DeployInput
from schemalint.deploy.drop_duties import drops_to_prove, outlived_backfills, rewrites_to_prove
from schemalint.deploy.last_applied import LastApplied, drift, find_last_applied, unseen_edits
from schemalint.deploy.table_identity import TableIdentities
from schemalint.judge.case import Case, Purpose
from schemalint.judge.consumer_findings import each_client_once
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import Verdict, judge
from schemalint.model.column_tracking import ColumnTracking, resume_tracking
from schemalint.model.contract import table_key
from schemalint.model.effective import Effective
from schemalint.model.exception import WrittenException
from schemalint.model.finding import Finding, Severity
from schemalint.model.marker import declaration_hash, read_marker, read_pending
from schemalint.model.rule_codes import PROTOCOL_UPGRADE, TABLE_REMOVED
from schemalint.model.table_plan import Refusal, RefusalKind, TablePlan
from schemalint.planner import PlanOptions, after_interrupted_run, only_stops_streams, plan_table
from schemalint.planner.rewrites.script import rewrite_script
from schemalint.project.config import Cosmetic
from schemalint.project.git import (
    MissingHistoryError,
    is_known,
)
from schemalint.review.approve import ExceptionResult, approve, is_expired
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.table_location import is_found_by_name
from schemalint.tables.catalog.target_tables import TargetTables

_WITHOUT_STATEMENT: Final = (RefusalKind.DECLARATION, RefusalKind.LIVE)


def plan_contract(
    request: DeployInput,
    contract: Effective,
    live_tables: TargetTables,
    identities: TableIdentities,
    rules: tuple[RuleSet, ...],
) -> tuple[TablePlan, Effective]:
    """Plan a table; the rules that the configuration ignores for it forbid nothing.

    Returns:
        The plan, and the contract with the progress of its streams.
    """
    location, table = live_tables.location(contract), live_tables.read(contract)
    name = location if is_found_by_name(contract, request.target) else None
    if table is None:
        verdict = judge(Case(rules, declared=contract, purpose=Purpose.PLAN))
        outcome = _approved_in_plan(request, contract, None, identities.revisions, verdict.findings)
        findings = _still_forbidding(outcome)
        added = added_by_catalog(contract, request.target, request.via)
        plan = with_features_of_catalog(
            plan_table(contract, None, location, findings, name=name), contract, added
        )
        plan = replace(plan, target=request.target.name, clients=each_client_once(verdict.clients))
        plan = _with_rewrites_waiting(plan, outcome)
        obstacles = (
            *_against_creation(request, contract, live_tables, identities),
            *above_limits_in_catalog(contract, added),
        )
        if obstacles:
            plan = plan.refused(*obstacles)
        return plan, contract
    contract = with_progress(contract, table, request.target, request.repository.root)
    begun = after_interrupted_run(contract, table)
    options, obstacles, last_applied = _with_last_applied(request, contract, begun, identities.revisions)
    case = Case(
        rules,
        declared=contract,
        live=begun,
        purpose=Purpose.PLAN,
        applied=last_applied.base,
        tracking=options.tracking,
        unseen=tuple(unseen_edits(last_applied, begun, options.tracking)),
    )
    verdict, upgrades = _verdict_on(case)
    outcome = _approved_in_plan(request, contract, last_applied.base, identities.revisions, verdict.findings)
    findings = _still_forbidding(outcome)
    duties = outlived_backfills(contract, table, identities.revisions, last_applied)
    contract = replace(contract, backfills={**duties, **contract.backfills}) if duties else contract
    plan = plan_table(contract, table, location if name is None else table.uri, findings, options, name=name)
    plan = replace(
        plan,
        drops_to_prove=drops_to_prove(plan, contract, table, last_applied),
        rewrites_to_prove=rewrites_to_prove(plan, contract, table, last_applied),
    )
    plan = _with_rewrites_waiting(with_upgrade_gated(plan) if upgrades else plan, outcome)
    if plan.refusals and all(refusal.kind is RefusalKind.REWRITE for refusal in plan.refusals):
        plan = replace(plan, script=rewrite_script(contract, table, name))
    plan = replace(plan, target=request.target.name, clients=each_client_once(verdict.clients))
    if plan.refusals and all(_is_in_baseline(refusal, request) for refusal in plan.refusals):
        whole = plan_table(contract, table, location if name is None else table.uri, (), options, name=name)
        if not whole.steps and not whole.refusals:
            plan = replace(plan, refusals=(), known=plan.refusals)
    if obstacles:
        plan = replace(plan, steps=(), writes_marker=False, refusals=(*obstacles, *plan.refusals))
    return plan, contract


def _is_in_baseline(refusal: Refusal, request: DeployInput) -> bool:
    """Return whether the baseline has the finding of a refusal, of this target or without one."""
    finding, baseline = refusal.finding, request.baseline
    if finding is None or baseline is None:
        return False
    targets = (request.target.name, None)
    return any(baseline.has_merged(replace(finding, target=target), 1) for target in targets)


def _verdict_on(case: Case) -> tuple[Verdict, bool]:
    """Return the verdict on a table, and whether its steps need the approval of a protocol upgrade.

    Only this error is left to an approval: the steps show the upgrade, and the approval is for them.
    """
    verdict = judge(case)
    if not any(
        finding.code == PROTOCOL_UPGRADE and finding.severity >= Severity.ERROR
        for finding in verdict.findings
    ):
        return verdict, False
    allowed = judge(replace(case, declared=with_upgrade_allowed(case.contract)))
    return replace(allowed, case=case), True


def _against_creation(
    request: DeployInput, contract: Effective, live_tables: TargetTables, identities: TableIdentities
) -> Iterator[Refusal]:
    """Refuse to create a table where the target does not allow it, where other files are, or in place of one.

    A contract with a new table name may only get a new table if the configuration approves that the old one
    has no contract any more.
    """
    location = live_tables.location(contract)
    if not request.target.create:
        reason = f"there is no table at {location}, and target {request.target.name} creates no tables"
        yield Refusal(RefusalKind.LIVE, reason)
    elif live_tables.is_occupied(contract):
        yield Refusal(
            RefusalKind.OPERATION,
            f"there are files but no Delta log at {location}",
            f"CONVERT TO DELTA parquet.`{location}` if they are a table, or choose another location; "
            "a killed CREATE leaves a log without commits: remove that",
        )
    elif (old := identities.name_before(contract)) and not _is_removal_approved(request, old):
        yield from _instead_of(old, contract, live_tables)


def _instead_of(old: Effective, contract: Effective, live_tables: TargetTables) -> Iterator[Refusal]:
    """Refuse to create a table while the one with the contract's old name exists."""
    with suppress(ConfigError):  # the target cannot have such a table
        if not old.absent and (table := live_tables.read(old)) is not None:
            keep = f"`location: {old.location or old.default_location}`"
            yield Refusal(
                RefusalKind.OPERATION,
                f"the contract declared {old.table} before, and that table is still at {table.uri}: "
                f"{contract.table} would be a new, empty one",
                f"restore the name, or keep the table with {keep}; in a catalog, ALTER TABLE {old.table} "
                f"RENAME TO {contract.table}; for a new table, approve the removal of the old one in "
                "exceptions.yaml",
                TABLE_REMOVED,
            )


def _with_last_applied(
    request: DeployInput, contract: Effective, table: LiveTable, revisions: Revisions
) -> tuple[PlanOptions, tuple[Refusal, ...], LastApplied]:
    """Return the tracked columns; refuse if the table is ahead or drifted, or its revision is unknown."""
    try:
        last_applied = find_last_applied(
            revisions, contract, table, base=request.base, allow_older=request.options.allow_older
        )
    except MissingHistoryError as error:
        raise _for_shallow_clone(request, contract, table, error) from None
    if isinstance(last_applied, Refusal):
        return PlanOptions(reorder=request.options.reorder), (last_applied,), LastApplied()
    options = PlanOptions(_tracking(last_applied, contract, table), reorder=request.options.reorder)
    return (
        options,
        tuple(drift(contract, last_applied, table, options, repair=request.options.repair_drift)),
        last_applied,
    )


def _for_shallow_clone(
    request: DeployInput, contract: Effective, table: LiveTable, error: MissingHistoryError
) -> MissingHistoryError:
    """Say in a shallow clone that the missing commit is the one applied last: the user did not name it."""
    marker = read_marker(table)
    if request.base is not None or marker is None or marker.revision is None:
        return error
    if is_known(request.repository, marker.revision):
        return error
    applied = marker.revision[:12]
    message = f"{contract.table} was applied at {applied}, which this shallow clone lacks"
    return MissingHistoryError(message, error.command)


def _tracking(last_applied: LastApplied, contract: Effective, table: LiveTable) -> ColumnTracking | None:
    """Track the columns: by the note of an interrupted run if the table has one, else by the revisions."""
    noted = read_pending(table.state)
    if noted is not None and noted.targets and noted.hash == declaration_hash(contract):
        return resume_tracking(table.state.columns, contract.state.columns, noted.targets)
    return last_applied.tracking(table.state.columns)


def with_cosmetic_steps_waiting(plan: TablePlan, contract: Effective, cosmetic: Cosmetic) -> TablePlan:
    """Return the plan whose steps wait for the next change, if all are cosmetic and stop a tracked stream.

    The marker waits too: the table is not as declared yet.
    """
    if cosmetic == "now" or not only_stops_streams(plan, contract.consumers):
        return plan
    return replace(plan, steps=(), writes_marker=False, waiting=plan.steps)


def _approved_in_plan(
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


def _with_rewrites_waiting(plan: TablePlan, outcome: ExceptionResult) -> TablePlan:
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


def _still_forbidding(outcome: ExceptionResult) -> tuple[Finding, ...]:
    """Return the findings that a plan obeys: nothing approves them, or Delta refuses what they are about."""
    rewritten = (approval.finding for approval in outcome.approved if approval.by.exception.via is not None)
    return (*outcome.remaining, *rewritten)


def _is_removal_approved(request: DeployInput, contract: Effective) -> bool:
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
