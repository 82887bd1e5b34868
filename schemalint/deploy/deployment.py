"""Contracts at a revision, live tables -> the plan: what `plan` shows and `apply` runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from schemalint import contract as contracts
from schemalint.catalog import Catalog
from schemalint.catalog.table_location import is_found_by_name, require_reachable, table_location
from schemalint.catalog.target_tables import TargetTables
from schemalint.config import Config, Target, resolve_storage
from schemalint.contract.revisions import Revisions, contracts_at
from schemalint.delta.table import LiveTable
from schemalint.deploy.last_applied import LastApplied, drift, find_last_applied
from schemalint.errors import ConfigError, SchemalintError, UsageError
from schemalint.git import (
    MissingHistoryError,
    Repository,
    Side,
    Worktree,
    dirty,
    is_known,
)
from schemalint.lint.judge import judge_pair
from schemalint.lint.live import LiveComparison, judge_live
from schemalint.lint.table import refused_by_spark
from schemalint.model.column_tracking import ColumnTracking, resume_tracking
from schemalint.model.contract import Contract, table_key
from schemalint.model.finding import Skipped
from schemalint.model.marker import declaration_hash, read_marker, read_pending
from schemalint.model.plan import Approval, Plan, Refusal, TablePlan
from schemalint.planner import PlanOptions, plan_table
from schemalint.plugin import Rule
from schemalint.values import field, frozen, replace

UPGRADE = "upgrade"


@frozen
class DeployInput:
    """What is to be brought where.

    Attributes:
        head: The revision (or the working tree) that the contracts are read from.
        tables: The names of those that are wanted; empty for all.
        allow: Kinds of steps that are approved: ``upgrade``, ``destructive``.
        base: The commit that was applied last, where the tables do not tell.
        reorder: Whether columns are moved to the order that is declared.
        applies: Whether the plan is to be carried out: what cannot be taken back needs approval then.
        via: What a running Spark session knows of tables, for a target that does not say where its catalog
            answers.
    """

    repository: Repository
    config: Config
    target: Target
    head: Side
    rules: Sequence[Rule]
    tables: tuple[str, ...] = ()
    allow: frozenset[str] = frozenset()
    allow_older: bool = False
    repair_drift: bool = False
    base: str | None = None
    reorder: bool = False
    applies: bool = False
    via: Catalog | None = None


@frozen
class Unplanned:
    """A table that could not be planned, and why."""

    table: str
    error: SchemalintError


@frozen
class Deployment:
    """A plan, and what it was made from.

    Attributes:
        contracts: The effective contract by table name.
        revision: The commit that the contracts come from, None for uncommitted ones.
        unplanned: Tables that could not be planned.
        storage: What opens the target's store, with the values themselves.
        request: What was asked for: to plan a table again.
    """

    plan: Plan
    contracts: dict[str, Contract] = field(default_factory=dict)
    revision: str | None = None
    skipped: tuple[Skipped, ...] = ()
    unplanned: tuple[Unplanned, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict, repr=False)
    request: DeployInput | None = None


def prepare(request: DeployInput) -> Deployment:
    """Plan all tables before anything runs.

    A plan whose hash stands in the configuration is approved as a whole, and no other one is by that.

    Raises:
        SchemalintError: The contracts cannot be read, or a wanted table has none.
    """
    if request.applies and request.config.approved_plans:
        allowed = _prepared(replace(request, allow=frozenset(one.value for one in Approval)))
        if allowed.plan.hash in request.config.approved_plans:
            return replace(allowed, request=request)
    return _prepared(request)


def _prepared(request: DeployInput) -> Deployment:
    require_reachable(request.target, request.repository.root)
    declared = _declared(request)
    wanted = [
        _with_approval(contracts.effective(one, request.target.name), request.allow)
        for one in _wanted(request, declared)
    ]
    storage = resolve_storage(request.target)
    found = TargetTables(request.target, request.repository.root, storage, request.via)
    found.fetch(one for one in wanted if _is_planned(one))
    tables: list[TablePlan] = []
    effective: dict[str, Contract] = {}
    skipped: list[Skipped] = []
    unplanned: list[Unplanned] = []
    for contract in wanted:
        if not _is_planned(contract):
            reason = "absent from this target" if contract.absent else f"managed by {contract.managed_by}"
            skipped.append(Skipped(contract.table, reason))
            continue
        try:
            plan = _planned(request, contract, found)
            tables.append(_approved(request, plan))
            effective[contract.table] = contract
        except SchemalintError as error:
            unplanned.append(Unplanned(contract.table, error))
    return Deployment(
        plan=Plan(request.target.name, tuple(_without_shared_places(request, declared, tables))),
        contracts=effective,
        revision=request.head.commit,
        skipped=tuple(skipped),
        unplanned=tuple(unplanned),
        storage=found.storage,
        request=request,
    )


def _without_shared_places(
    request: DeployInput, declared: dict[str, Contract], tables: list[TablePlan]
) -> Iterator[TablePlan]:
    """Two contracts for one place, wanted or not: neither is applied."""
    owners: dict[str, list[str]] = defaultdict(list)
    for one in declared.values():
        contract = contracts.effective(one, request.target.name)
        if not contract.absent:
            with suppress(ConfigError):  # said where that table is planned
                owners[table_location(contract, request.target, request.repository.root)].append(one.table)
    for plan in tables:
        others = ", ".join(name for name in owners[plan.name or plan.uri] if name != plan.table)
        if not others:
            yield plan
            continue
        help_text = "give each a location of its own"
        refusal = Refusal(f"{others} is declared at the same place", help_text, "CT002")
        yield replace(plan, steps=(), record=False, refusals=(*plan.refusals, refusal))


def _declared(request: DeployInput) -> dict[str, Contract]:
    declared = contracts_at(request.repository, request.head, request.config.contracts)
    if not isinstance(request.head, Worktree):
        changed = dirty(request.repository, {one.file for one in declared.values()})
        if changed:
            raise UsageError(
                f"{min(changed)} has changes that are not committed",
                help="commit them, or name the working tree: --head worktree",
            )
    return declared


def _wanted(request: DeployInput, declared: dict[str, Contract]) -> list[Contract]:
    if not declared:
        raise UsageError("there are no contracts here", help="a contract is a YAML file with `schemalint: 1`")
    keys = [table_key(name) for name in request.tables] or sorted(declared)
    for name, key in zip(request.tables, keys, strict=False):
        if key not in declared:
            raise UsageError(f"no contract declares {name}", help=f"declared: {', '.join(sorted(declared))}")
    return [declared[key] for key in keys]


def _with_approval(contract: Contract, allow: frozenset[str]) -> Contract:
    if UPGRADE not in allow:
        return contract
    return replace(contract, protocol=replace(contract.protocol, allow_upgrade=True))


def _is_planned(contract: Contract) -> bool:
    return not contract.absent and contract.managed_by == "schemalint"


def _planned(request: DeployInput, contract: Contract, found: TargetTables) -> TablePlan:
    uri, table = found.place(contract), found.read(contract)
    name = uri if is_found_by_name(contract, request.target) else None
    if table is None:
        findings = judge_pair(None, replace(contract, targets={}), request.rules)
        plan = plan_table(contract, None, uri, findings, name=name)
        obstacles = tuple(_against_making(request, contract, found))
        return (
            replace(plan, steps=(), record=False, refusals=(*plan.refusals, *obstacles))
            if obstacles
            else plan
        )
    options, obstacles = _with_baseline(request, contract, table)
    refused = refused_by_spark(contract, table, request.rules)
    composed = contract
    if options.tracking is not None:
        composed = replace(contract, state=options.tracking.composed(contract.state))
    comparison = LiveComparison(composed, table, tracking=options.tracking, of_table=refused)
    findings = judge_live(comparison, request.rules)
    plan = plan_table(contract, table, uri if name is None else table.uri, findings, options, name=name)
    if obstacles:
        return replace(plan, steps=(), record=False, refusals=(*obstacles, *plan.refusals))
    return plan


def _against_making(request: DeployInput, contract: Contract, found: TargetTables) -> Iterator[Refusal]:
    place = found.place(contract)
    if not request.target.create:
        yield Refusal(f"there is no table at {place}, and target {request.target.name} creates none")
    elif found.is_occupied(contract):
        reason = f"there are files and no Delta log at {place}"
        yield Refusal(
            reason, f"CONVERT TO DELTA parquet.`{place}` if they are a table's, or another location"
        )


def _approved(request: DeployInput, plan: TablePlan) -> TablePlan:
    """A plan that is to be carried out needs the approval of what cannot be taken back."""
    missing = sorted(one.value for one in plan.needs if one.value not in request.allow)
    if not (request.applies and missing):
        return plan
    words = " and ".join(f"--allow {word}" for word in missing)
    kinds = ", ".join(sorted({step.kind.value for step in plan.steps if step.needs is not None}))
    refusal = Refusal(
        f"{kinds}: not without approval", f"look at the plan, then {words}", awaits=min(plan.needs, key=str)
    )
    return replace(plan, steps=(), record=False, refusals=(*plan.refusals, refusal))


def _with_baseline(
    request: DeployInput, contract: Contract, table: LiveTable
) -> tuple[PlanOptions, tuple[Refusal, ...]]:
    """Which column is which, and what the table itself says against going on: ahead, drifted, not known."""
    revisions = Revisions(request.repository, request.config.contracts, request.target.name, request.head)
    try:
        found = find_last_applied(
            revisions, contract, table, base=request.base, allow_older=request.allow_older
        )
    except MissingHistoryError as error:
        raise _without_history(request, contract, table, error) from None
    if isinstance(found, Refusal):
        return PlanOptions(reorder=request.reorder), (found,)
    options = PlanOptions(_lineage(found, contract, table), reorder=request.reorder)
    return options, tuple(drift(contract, found, table, options, repair=request.repair_drift))


def _without_history(
    request: DeployInput, contract: Contract, table: LiveTable, error: MissingHistoryError
) -> MissingHistoryError:
    """In a shallow clone: what is missing is what was applied last, which no user has named."""
    marker = read_marker(table)
    if request.base is not None or marker is None or marker.revision is None:
        return error
    if is_known(request.repository, marker.revision):
        return error
    applied = marker.revision[:12]
    message = f"{contract.table} was applied at {applied}, which this shallow clone lacks"
    return MissingHistoryError(message, error.command)


def _lineage(found: LastApplied, contract: Contract, table: LiveTable) -> ColumnTracking | None:
    """Which column is which: where names are on their way, as the table itself has noted it."""
    noted = read_pending(table.state)
    if noted is not None and noted.targets and noted.hash == declaration_hash(contract):
        return resume_tracking(table.state.columns, contract.state.columns, noted.targets)
    return found.tracking(table.state.columns)
