"""Plan the live tables for contracts at a revision: `plan` shows the plan, and `apply` runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from schemalint import contract as contracts
from schemalint.catalog import Catalog
from schemalint.catalog.stream_progress import with_progress
from schemalint.catalog.table_location import is_found_by_name, require_reachable
from schemalint.catalog.target_tables import TargetTables
from schemalint.config import Cosmetic
from schemalint.config.project import Project, unmatched_globs
from schemalint.config.trust import Trusted, TrustedTarget, resolve_storage
from schemalint.contract.revisions import Declarations, Revisions, contracts_at
from schemalint.delta.table import LiveTable
from schemalint.deploy.approvals import approved, with_approval
from schemalint.deploy.catalog_features import (
    above_limits_in_catalog,
    added_by_catalog,
    with_features_of_catalog,
)
from schemalint.deploy.claims import Claims
from schemalint.deploy.consumers import planned_streams, without_unread_streams
from schemalint.deploy.cosmetic import with_cosmetic_steps_waiting
from schemalint.deploy.last_applied import LastApplied, drift, find_last_applied, unseen_edits
from schemalint.errors import ConfigError, SchemalintError, UsageError, worst_status
from schemalint.git import (
    MissingHistoryError,
    Repository,
    Side,
    Worktree,
    dirty,
    is_known,
)
from schemalint.lint.consumers import configuration_faults, for_engine, with_consumers
from schemalint.lint.context import git_context
from schemalint.lint.judge import collecting, judge_pair
from schemalint.lint.live import LiveComparison, judge_live, live_context
from schemalint.lint.readers import clients_of, each_client_once
from schemalint.lint.rulebook import TableIgnores, not_ignored
from schemalint.lint.selection import table_ignores
from schemalint.lint.table import refused_by_spark, refuses_changes
from schemalint.model.column_tracking import ColumnTracking, resume_tracking
from schemalint.model.contract import Contract, table_key
from schemalint.model.finding import Skipped
from schemalint.model.marker import declaration_hash, read_marker, read_pending
from schemalint.model.plan import Approval, Plan, Refusal, RefusalKind, TablePlan
from schemalint.model.rule_codes import TABLE_REMOVED
from schemalint.model.stream_report import StreamReport
from schemalint.planner import PlanOptions, plan_table
from schemalint.plugin import Rule
from schemalint.values import field, frozen, replace


@frozen
class DeployInput:
    """The options of a deployment.

    Attributes:
        repository: The repository with the contracts.
        settings: The configuration.
        target: The target whose tables are planned.
        head: The revision (or the working tree) that the contracts are read from.
        rules: The rules that judge the tables.
        tables: The names of the requested tables; empty for all.
        allow: The approved kinds of steps: ``upgrade``, ``destructive``.
        allow_older: Whether to apply a revision older than the one applied last.
        repair_drift: Whether to overwrite drift.
        base: The commit applied last, for tables without a marker.
        reorder: Whether to move columns to their declared order.
        cosmetic: When cosmetic steps are applied to a table that a tracked stream reads; None means as the
            configuration says.
        require_streams: Whether to refuse a table whose declared streams have not read it to its end.
        applies: Whether the plan will be run; irreversible steps then need an approval.
        via: The catalogs of a running Spark session, for a target whose catalog has no address.
    """

    repository: Repository
    settings: Trusted
    target: TrustedTarget
    head: Side
    rules: Sequence[Rule]
    tables: tuple[str, ...] = ()
    allow: frozenset[str] = frozenset()
    allow_older: bool = False
    repair_drift: bool = False
    base: str | None = None
    reorder: bool = False
    cosmetic: Cosmetic | None = None
    require_streams: bool = False
    applies: bool = False
    via: Catalog | None = None


@frozen
class Unplanned:
    """A table that could not be planned, or a file whose contracts could not, and why."""

    table: str
    error: SchemalintError


@frozen
class Deployment:
    """A plan, and the input it was made from.

    Attributes:
        plan: The plans of all tables.
        contracts: The effective contract by table name.
        revision: The commit of the contracts; None for uncommitted ones.
        skipped: The tables that schemalint does not manage in this target.
        unplanned: The tables that could not be planned.
        warnings: What may be wrong with the target, one sentence each.
        storage: The settings that open the target's store, with resolved values.
        streams: The effects of the plan on the declared streams of its tables.
        request: The input, to plan a table again.
    """

    plan: Plan
    contracts: dict[str, Contract] = field(default_factory=dict)
    revision: str | None = None
    skipped: tuple[Skipped, ...] = ()
    unplanned: tuple[Unplanned, ...] = ()
    warnings: tuple[str, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)
    streams: tuple[StreamReport, ...] = ()
    request: DeployInput | None = None

    @property
    def exit_status(self) -> int:
        """The exit status of a run with this plan: the worst of its refusals and unplanned tables."""
        refusals = [refusal.kind.exit_status for plan in self.plan.tables for refusal in plan.refusals]
        unplanned = [table.error.exit_status for table in self.unplanned]
        return worst_status((*refusals, *unplanned))


def prepare(request: DeployInput) -> Deployment:
    """Plan all tables before any statement runs.

    The configuration can approve one exact plan as a whole by its hash.

    Raises:
        SchemalintError: The contracts cannot be read, or a requested table has none.
    """
    if request.applies and request.settings.config.approved_plans:
        allowed = _prepared(replace(request, allow=frozenset(approval.value for approval in Approval)))
        if allowed.plan.hash in request.settings.config.approved_plans:
            return replace(allowed, request=request)
    return _prepared(request)


def _prepared(request: DeployInput) -> Deployment:
    require_reachable(request.target, request.repository.root)
    for fault in configuration_faults(request.settings.config):
        raise fault
    found = _declared(request)
    declared = found.contracts
    requested = [
        with_approval(
            for_engine(
                contracts.effective(with_consumers(contract, request.settings.config), request.target.name),
                request.target.engine,
            ),
            request.allow,
        )
        for contract in _requested(request, found)
    ]
    storage = resolve_storage(request.target)
    live_tables = TargetTables(request.target, request.repository.root, storage, request.via)
    claims = Claims(declared, _revisions(request), request.target, request.repository.root, request.via)
    live_tables.fetch(contract for contract in requested if _is_planned(contract))
    ignores = table_ignores(request.settings.config, tuple(request.rules))
    plans: list[TablePlan] = []
    effective: dict[str, Contract] = {}
    skipped: list[Skipped] = []
    unplanned = [Unplanned(error.location.file if error.location else "", error) for error in found.errors]
    for contract in requested:
        if not _is_planned(contract):
            reason = "absent from this target" if contract.absent else f"managed by {contract.managed_by}"
            skipped.append(Skipped(contract.table, reason))
            continue
        errors: list[SchemalintError] = []
        with collecting(errors, contract.table):
            plan, contract = _planned(request, contract, live_tables, claims, ignores)  # noqa: PLW2901 (with more)
            cosmetic = request.cosmetic or request.settings.config.cosmetic
            plan = with_cosmetic_steps_waiting(plan, contract, cosmetic)
            plan = approved(plan, request.allow) if request.applies else plan
            plans.append(without_unread_streams(plan, contract) if request.require_streams else plan)
            effective[contract.table] = contract
        unplanned += (Unplanned(contract.table, error) for error in errors)
    checked = tuple(claims.without_shared_tables(plans))
    return Deployment(
        plan=Plan(request.target.name, checked),
        contracts=effective,
        revision=request.head.commit,
        skipped=tuple(skipped),
        unplanned=tuple(unplanned),
        warnings=() if unplanned else tuple(_about_root(live_tables, plans)),
        storage=live_tables.storage,
        streams=tuple(report for plan in checked for report in planned_streams(plan, effective[plan.table])),
        request=request,
    )


def _about_root(live_tables: TargetTables, plans: Sequence[TablePlan]) -> Iterator[str]:
    """Yield a warning if all tables are new, and the root that they are below holds no Delta table.

    Raises:
        LiveError: The target creates no tables, or the root cannot be listed.
    """
    if all(plan.live is None for plan in plans):
        root = live_tables.root_without_tables(plan.uri for plan in plans)
        if root is not None:
            yield f"no Delta table was found below the root of the target, {root}: is it the right one?"


def _declared(request: DeployInput) -> Declarations:
    """Return the contracts; to apply some, all must be readable: any of them may share a table with another.

    Raises:
        SchemalintError: A glob matches nothing, a contract has uncommitted changes, or is unreadable.
    """
    for error in unmatched_globs(Project(request.repository, request.settings.config), request.head):
        raise error
    found = contracts_at(request.repository, request.head, request.settings.config.contracts)
    if not isinstance(request.head, Worktree):
        changed = dirty(request.repository, {contract.file for contract in found.contracts.values()})
        if changed:
            raise UsageError(
                f"{min(changed)} has uncommitted changes",
                help="commit them, or plan the working tree: --head worktree",
            )
    if request.applies:
        found.require_complete()
    return found


def _requested(request: DeployInput, found: Declarations) -> list[Contract]:
    declared = found.contracts
    if not declared:
        found.require_complete()
        raise UsageError("no contracts found", help="a contract is a YAML file with `schemalint: 1`")
    keys = [table_key(name) for name in request.tables] or sorted(declared)
    for name, key in zip(request.tables, keys, strict=False):
        if key not in declared:
            found.require_complete()
            raise UsageError(f"no contract declares {name}", help=f"declared: {', '.join(sorted(declared))}")
    return [declared[key] for key in keys]


def _is_planned(contract: Contract) -> bool:
    return not contract.absent and contract.managed_by == "schemalint"


def _planned(
    request: DeployInput,
    contract: Contract,
    live_tables: TargetTables,
    claims: Claims,
    ignores: TableIgnores,
) -> tuple[TablePlan, Contract]:
    """Plan a table; the rules that the configuration ignores for it forbid nothing.

    Returns:
        The plan, and the contract with the progress of its streams.
    """
    location, table = live_tables.location(contract), live_tables.read(contract)
    name = location if is_found_by_name(contract, request.target) else None
    if table is None:
        found = judge_pair(None, replace(contract, targets={}), request.rules)
        findings = not_ignored(found, request.rules, ignores)
        added = added_by_catalog(contract, request.target, request.via)
        plan = with_features_of_catalog(
            plan_table(contract, None, location, findings, name=name), contract, added
        )
        plan = replace(plan, clients=each_client_once(clients_of(git_context(None, contract))))
        obstacles = (
            *_against_creation(request, contract, live_tables, claims),
            *above_limits_in_catalog(contract, added),
        )
        if obstacles:
            plan = replace(plan, steps=(), writes_marker=False, refusals=(*plan.refusals, *obstacles))
        return plan, contract
    contract = with_progress(contract, table, request.target, request.repository.root)
    options, obstacles, last_applied = _with_last_applied(request, contract, table)
    refused = refused_by_spark(contract, table, request.rules)
    composed = contract
    if options.tracking is not None:
        composed = replace(contract, state=options.tracking.composed(contract.state))
    comparison = LiveComparison(
        composed,
        table,
        applied=last_applied.base,
        tracking=options.tracking,
        table_findings=refused,
        unseen=tuple(unseen_edits(last_applied, table, options.tracking)),
    )
    findings = not_ignored(judge_live(comparison, request.rules), request.rules, ignores)
    plan = plan_table(contract, table, location if name is None else table.uri, findings, options, name=name)
    if plan.writes_marker and not plan.steps and refuses_changes(table, request.rules):
        plan = replace(plan, writes_marker=False)  # the marker is a property: Spark would refuse it
    clients = clients_of(live_context(composed, table, tracking=options.tracking))
    plan = replace(plan, clients=each_client_once(clients))
    if obstacles:
        plan = replace(plan, steps=(), writes_marker=False, refusals=(*obstacles, *plan.refusals))
    return plan, contract


def _against_creation(
    request: DeployInput, contract: Contract, live_tables: TargetTables, claims: Claims
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
            f"CONVERT TO DELTA parquet.`{location}` if they are a table, or choose another location",
        )
    elif (old := claims.name_before(contract)) and old.key not in request.settings.config.removed:
        yield from _instead_of(old, contract, live_tables)


def _instead_of(old: Contract, contract: Contract, live_tables: TargetTables) -> Iterator[Refusal]:
    """Refuse to create a table while the one with the contract's old name exists."""
    with suppress(ConfigError):  # the target cannot have such a table
        if not old.absent and (table := live_tables.read(old)) is not None:
            keep = f"`location: {old.location or old.default_location}`"
            yield Refusal(
                RefusalKind.OPERATION,
                f"the contract declared {old.table} before, and that table is still at {table.uri}: "
                f"{contract.table} would be a new, empty one",
                f"restore the name, or keep the table with {keep}; in a catalog, ALTER TABLE {old.table} "
                f"RENAME TO {contract.table}; for a new table, approve the removal of the old one under "
                "`removed` in the configuration",
                TABLE_REMOVED,
            )


def _revisions(request: DeployInput) -> Revisions:
    return Revisions(request.repository, request.settings.config.contracts, request.target.name, request.head)


def _with_last_applied(
    request: DeployInput, contract: Contract, table: LiveTable
) -> tuple[PlanOptions, tuple[Refusal, ...], LastApplied]:
    """Return the tracked columns; refuse if the table is ahead or drifted, or its revision is unknown."""
    try:
        found = find_last_applied(
            _revisions(request), contract, table, base=request.base, allow_older=request.allow_older
        )
    except MissingHistoryError as error:
        raise _for_shallow_clone(request, contract, table, error) from None
    if isinstance(found, Refusal):
        return PlanOptions(reorder=request.reorder), (found,), LastApplied()
    options = PlanOptions(_tracking(found, contract, table), reorder=request.reorder)
    return options, tuple(drift(contract, found, table, options, repair=request.repair_drift)), found


def _for_shallow_clone(
    request: DeployInput, contract: Contract, table: LiveTable, error: MissingHistoryError
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


def _tracking(found: LastApplied, contract: Contract, table: LiveTable) -> ColumnTracking | None:
    """Track the columns: by the note of an interrupted run if the table has one, else by the revisions."""
    noted = read_pending(table.state)
    if noted is not None and noted.targets and noted.hash == declaration_hash(contract):
        return resume_tracking(table.state.columns, contract.state.columns, noted.targets)
    return found.tracking(table.state.columns)
