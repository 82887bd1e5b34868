"""Plan one table: find what was applied last, ask the rules, and order the statements.

Hold back steps that only change comments or the order of columns, where they would stop a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial

from schemalint.base.errors import ConfigError
from schemalint.base.values import frozen, replace
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
from schemalint.deploy.plan_exceptions import (
    approved_in_plan,
    is_in_baseline,
    is_removal_approved,
    obeyed_findings,
    with_rewrites_waiting,
)
from schemalint.deploy.table_identity import TableIdentities
from schemalint.judge.case import Case, Purpose
from schemalint.judge.consumer_findings import each_client_once
from schemalint.judge.verdict import Verdict, judge
from schemalint.model.column_tracking import ColumnTracking, resume_tracking
from schemalint.model.effective import Effective
from schemalint.model.finding import Severity
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
from schemalint.review.rule_sets import RuleSets
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.table_location import is_found_by_name
from schemalint.tables.catalog.target_tables import TargetTables


@frozen
class ContractPlanner:
    """What each table of a deployment is planned from.

    Attributes:
        request: The input of the deployment.
        live_tables: The live tables.
        identities: Which table belongs to which contract.
        rules: The rules; what the configuration ignores for a table forbids nothing.
    """

    request: DeployInput
    live_tables: TargetTables
    identities: TableIdentities
    rules: RuleSets

    def plan(self, contract: Effective) -> tuple[TablePlan, Effective]:
        """Return the plan of a table, and the contract with the progress of its streams."""
        request, table = self.request, self.live_tables.read(contract)
        if table is None:
            plan = self._creation(contract)
        else:
            contract = with_progress(contract, table, request.target, request.repository.root)
            plan, contract = self._alteration(contract, table)
        cosmetic = request.options.cosmetic or request.settings.config.cosmetic
        return _with_cosmetic_steps_waiting(plan, contract, cosmetic), contract

    def _name(self, contract: Effective) -> str | None:
        """Return the name that the statements use; None if they use the location."""
        if is_found_by_name(contract, self.request.target):
            return self.live_tables.location(contract)
        return None

    def _creation(self, contract: Effective) -> TablePlan:
        request = self.request
        verdict = judge(Case(self.rules.of(contract.file), declared=contract, purpose=Purpose.PLAN))
        outcome = approved_in_plan(request, contract, None, self.identities.revisions, verdict.findings)
        location, name = self.live_tables.location(contract), self._name(contract)
        plan = plan_table(contract, None, location, obeyed_findings(outcome), name=name)
        added = added_by_catalog(contract, request.target, request.via)
        plan = with_features_of_catalog(plan, contract, added)
        plan = replace(plan, target=request.target.name, clients=each_client_once(verdict.clients))
        plan = with_rewrites_waiting(plan, outcome)
        obstacles = (*self._against_creation(contract), *above_limits_in_catalog(contract, added))
        return plan.refused(*obstacles) if obstacles else plan

    def _alteration(self, contract: Effective, table: LiveTable) -> tuple[TablePlan, Effective]:
        """Return the plan, and the contract with the fills that an earlier declaration left to it."""
        request, revisions, name = self.request, self.identities.revisions, self._name(contract)
        begun = after_interrupted_run(contract, table)
        options, obstacles, last_applied = _with_last_applied(request, contract, begun, revisions)
        case = Case(
            self.rules.of(contract.file),
            declared=contract,
            live=begun,
            purpose=Purpose.PLAN,
            applied=last_applied.base,
            tracking=options.tracking,
            unseen=tuple(unseen_edits(last_applied, begun, options.tracking)),
        )
        verdict, upgrades = _verdict_on(case)
        outcome = approved_in_plan(request, contract, last_applied.base, revisions, verdict.findings)
        duties = outlived_backfills(contract, table, revisions, last_applied)
        contract = replace(contract, backfills={**duties, **contract.backfills}) if duties else contract
        uri = self.live_tables.location(contract) if name is None else table.uri
        plan_for = partial(plan_table, contract, table, uri, options=options, name=name)
        plan = plan_for(obeyed_findings(outcome))
        plan = replace(
            plan,
            target=request.target.name,
            clients=each_client_once(verdict.clients),
            drops_to_prove=drops_to_prove(plan, contract, table, last_applied),
            rewrites_to_prove=rewrites_to_prove(plan, contract, table, last_applied),
        )
        plan = with_rewrites_waiting(with_upgrade_gated(plan) if upgrades else plan, outcome)
        if plan.refusals and all(refusal.kind is RefusalKind.REWRITE for refusal in plan.refusals):
            plan = replace(plan, script=rewrite_script(contract, table, name))
        if plan.refusals and all(is_in_baseline(refusal, request) for refusal in plan.refusals):
            whole = plan_for(())
            if not whole.steps and not whole.refusals:
                plan = replace(plan, refusals=(), known=plan.refusals)
        if obstacles:
            plan = replace(plan, steps=(), writes_marker=False, refusals=(*obstacles, *plan.refusals))
        return plan, contract

    def _against_creation(self, contract: Effective) -> Iterator[Refusal]:
        """Refuse to create a table where the target forbids it, where other files are, or in place of one.

        A contract with a new table name may only get a new table if the configuration approves that the old
        one has no contract any more.
        """
        target, location = self.request.target, self.live_tables.location(contract)
        if not target.create:
            reason = f"there is no table at {location}, and target {target.name} creates no tables"
            yield Refusal(RefusalKind.LIVE, reason)
        elif self.live_tables.is_occupied(contract):
            yield Refusal(
                RefusalKind.OPERATION,
                f"there are files but no Delta log at {location}",
                f"CONVERT TO DELTA parquet.`{location}` if they are a table, or choose another location; "
                "a killed CREATE leaves a log without commits: remove that",
            )
        elif (old := self.identities.name_before(contract)) and not is_removal_approved(self.request, old):
            yield from self._instead_of(old, contract)

    def _instead_of(self, old: Effective, contract: Effective) -> Iterator[Refusal]:
        """Refuse to create a table while the one with the contract's old name exists."""
        with suppress(ConfigError):  # the target cannot have such a table
            if not old.absent and (table := self.live_tables.read(old)) is not None:
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


def _with_cosmetic_steps_waiting(plan: TablePlan, contract: Effective, cosmetic: Cosmetic) -> TablePlan:
    """Return the plan whose steps wait for the next change, if all are cosmetic and stop a tracked stream.

    The marker waits too: the table is not as declared yet.
    """
    if cosmetic == "now" or not only_stops_streams(plan, contract.consumers):
        return plan
    return replace(plan, steps=(), writes_marker=False, waiting=plan.steps)
