"""``apply --plan FILE``: go on with a reviewed plan wherever it stopped.

The steps are planned again, without contracts and git, and must have the hash that the file states. The live
table says which of them are done.

So no run has to remember anything. A statement that died between two of its commits runs again: what the
first commit of DROP FEATURE sets stands in `schemalint.delta.feature_drop`, so that it is neither a
difference nor drift. `make kill` kills runs between any two statements; `make record` also within those of
several commits, and counts in ``tests/engine/kills.csv``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from schemalint.base.errors import SchemalintError, UsageError
from schemalint.base.values import frozen, replace
from schemalint.delta.feature import TABLE_FEATURES_READER, TABLE_FEATURES_WRITER, find_feature
from schemalint.delta.protocol import Protocol
from schemalint.delta.table import LiveTable, Metadata, TableState
from schemalint.deploy.consumer_streams import planned_streams, without_unread_streams
from schemalint.deploy.deploy_input import Deployment, TargetAccess, UnplannedTable
from schemalint.deploy.drop_duties import dropped_since
from schemalint.deploy.other_engine import NEWEST
from schemalint.deploy.plan_file import FiledTable, Origin, PlanFile
from schemalint.judge.case import Case, Purpose
from schemalint.judge.consumer_findings import each_client_once
from schemalint.judge.rule_judge import collecting
from schemalint.judge.rule_set import RuleSet
from schemalint.judge.verdict import Verdict, judge
from schemalint.model.client import ClientSupport
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import EVERYWHERE, Effective, effective
from schemalint.model.marker import PENDING, read_marker
from schemalint.model.rewrite import Rewrites
from schemalint.model.table_plan import Plan, Refusal, RefusalKind, StepKind, TablePlan
from schemalint.planner import (
    Remaining,
    pending_changes,
    plan_table,
    refused_by_rules,
    remaining_steps,
    with_size,
)
from schemalint.project.config.trust import Trusted, TrustedTarget, resolve_storage, run_by
from schemalint.review.rulebook import load_rules
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.table_location import is_found_by_name, require_reachable
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers

_NOTHING: Final = TableState()


@frozen
class ResumeInput:
    """The options of ``apply --plan``.

    Attributes:
        file: The plan file.
        path: Its path, for messages.
        settings: The configuration that counts.
        target: Its target.
        folder: The folder that relative roots start from.
        approved: The hashes of plans and of tables that the user approves.
        tables: The names of the requested tables; empty for all of the file.
        revision: The commit of the plan's contracts, which the markers then name; None if it is unknown.
        require_streams: Whether to refuse a table whose declared streams have not read it to its end.
        via: The catalogs of a running Spark session, for a target whose catalog has no address.
        workers: How many tables are read at the same time.
    """

    file: PlanFile
    path: str
    settings: Trusted
    target: TrustedTarget
    folder: Path
    approved: frozenset[str] = frozenset()
    tables: tuple[str, ...] = ()
    revision: str | None = None
    require_streams: bool = False
    via: Catalog | None = None
    workers: TableWorkers = SIDE_BY_SIDE


def resume(request: ResumeInput) -> Deployment:
    """Return what is left of a plan file: for each of its tables, the steps that the live table lacks.

    Raises:
        SchemalintError: The file is for another target, lacks a requested table, or the target cannot be
            reached.
    """
    if request.file.target != request.target.name:
        raise UsageError(
            f"{request.path} is a plan for target {request.file.target}, not {request.target.name}"
        )
    filed = _requested(request)
    require_reachable(request.target, request.folder)
    storage = resolve_storage(request.target)
    access = TargetAccess(request.target, request.folder, storage, request.via, request.workers)
    live_tables = access.tables()
    live_tables.fetch(table.origin.contract for table in filed if table.origin is not None)
    plans: list[TablePlan] = []
    contracts: dict[str, Effective] = {}
    unplanned: list[UnplannedTable] = []
    for table in filed:
        errors: list[SchemalintError] = []
        with collecting(errors, table.table):
            plan, contract = _resumed(request, table, live_tables)
            plans.append(plan)
            contracts[table.table] = contract
        unplanned += (UnplannedTable(table.table, error) for error in errors)
    return Deployment(
        plan=Plan(request.target.name, tuple(plans)),
        contracts=contracts,
        revision=request.revision,
        unplanned=tuple(unplanned),
        streams=tuple(report for plan in plans for report in planned_streams(plan, contracts[plan.table])),
        access=access,
        approved=request.approved | request.settings.config.approved_plans,
        full_hash=request.file.hash,
        planned_for=lambda engine: resume(replace(request, target=run_by(request.target, engine))),
    )


def _requested(request: ResumeInput) -> tuple[FiledTable, ...]:
    """Return the tables of the file that the user requests by name; all if there are no names."""
    filed = request.file.tables
    keys = {table_key(table.table) for table in filed}
    for name in request.tables:
        if table_key(name) not in keys:
            content = ", ".join(table.table for table in filed) or "no table"
            raise UsageError(f"{request.path} does not contain {name}", help=f"it contains {content}")
    requested = {table_key(name) for name in request.tables} or keys
    return tuple(table for table in filed if table_key(table.table) in requested)


def _resumed(
    request: ResumeInput, filed: FiledTable, live_tables: TargetTables
) -> tuple[TablePlan, Effective]:
    """Return what is left of a table's plan, and the declaration with the progress of its streams."""
    target = request.target
    idle = TablePlan(
        filed.table,
        filed.uri,
        filed.declaration_hash,
        target=target.name,
        table_id=filed.table_id,
        version=filed.version,
        refusals=filed.refusals,
        name=filed.name,
    )
    if filed.origin is None:
        if filed.has_steps:
            reason = "its plan contains a credential, which no plan file holds"
            idle = _refused(idle, Refusal(RefusalKind.OPERATION, reason, "apply without --plan"))
        return idle, _nothing_declared(filed)
    contract = replace(
        filed.origin.contract, engines=target.engines, client_rows=request.settings.config.clients
    )
    location, live = live_tables.location(contract), live_tables.read(contract)
    plan = planned_again(filed, filed.origin, contract, location, target)
    if plan is None:
        return _refused(idle, _not_planned_again(request)), contract
    beyond = tuple(_beyond_engine(contract, live, filed.origin.options.tracking))
    if beyond:
        return replace(plan, steps=(), writes_marker=False, refusals=beyond), contract
    if live is not None:
        contract = with_progress(contract, live, target, request.folder)
        plan = _rest(plan, filed.origin, contract, live)
        return without_unread_streams(plan, contract) if request.require_streams else plan, contract
    if plan.live is not None:
        return _refused(plan, Refusal(RefusalKind.OPERATION, "the table is gone", "plan again")), contract
    if not target.create:
        reason = f"there is no table at {location}, and target {target.name} creates no tables"
        return _refused(plan, Refusal(RefusalKind.LIVE, reason)), contract
    return plan, contract


def _not_planned_again(request: ResumeInput) -> Refusal:
    """Return why the steps of the file are no plan of its declaration."""
    if request.file.engine != request.target.engine:
        planned_for = request.file.engine or NEWEST
        return Refusal(RefusalKind.OPERATION, f"its steps are made for {planned_for}", "plan again")
    return Refusal(
        RefusalKind.OPERATION,
        "the steps of the file are not those of its declaration: another version of schemalint planned them, "
        "or the file was altered",
        "plan again",
    )


def _nothing_declared(filed: FiledTable) -> Effective:
    return effective(Contract(filed.table, _NOTHING), EVERYWHERE)


def planned_again(
    filed: FiledTable, origin: Origin, contract: Effective, location: str, target: TrustedTarget
) -> TablePlan | None:
    """Plan the steps again; return None unless they are those that the file states the hash of."""
    name = location if is_found_by_name(contract, target) else None
    live = _as_planned(filed, origin)
    try:
        plan = plan_table(
            contract, live, location if name is None else filed.uri, (), origin.options, name=name
        )
        plan = replace(plan, clients=_clients(contract, live, origin.options.tracking))
    except (SchemalintError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None  # no plan has such content
    plan = replace(plan, target=target.name)
    if plan.hash == filed.hash and plan.steps:
        return replace(plan, filed_hash=filed.hash)
    return None


def _as_planned(filed: FiledTable, origin: Origin) -> LiveTable | None:
    """Return the live table as the plan was made for it; None if the plan creates it."""
    if origin.planned_from is None:
        return None
    features = origin.planned_from.features
    readers = frozenset(name for name in features if (row := find_feature(name)) is not None and row.reader)
    return LiveTable(
        filed.uri,
        filed.version or 0,
        Protocol(TABLE_FEATURES_READER, TABLE_FEATURES_WRITER, readers, features),
        Metadata(filed.table_id or "", origin.planned_from),
    )


def _clients(
    contract: Effective, live: LiveTable | None, tracking: ColumnTracking | None
) -> tuple[ClientSupport, ...]:
    """Return what the declared clients do with the table, as the plan said it."""
    case = Case((), declared=contract, live=live, tracking=tracking)
    return each_client_once(Verdict(case, ()).clients)


def _beyond_engine(
    contract: Effective, live: LiveTable | None, tracking: ColumnTracking | None
) -> Iterator[Refusal]:
    """Yield what the engine of the target refuses: the file may come from a time when it was another."""
    if contract.engine is None:
        return
    rules = RuleSet(tuple(rule for rule in load_rules() if rule.engine))
    case = Case((rules,), declared=contract, live=live, purpose=Purpose.PLAN, tracking=tracking)
    yield from refused_by_rules(judge(case).findings)


def _rest(plan: TablePlan, origin: Origin, contract: Effective, live: LiveTable) -> TablePlan:
    """Return the plan with the steps that the table lacks; refuse a table in no state of the plan."""
    marker = read_marker(live)
    now = replace(plan, table_id=live.metadata.table_id, version=live.version, marker=marker)
    if plan.name is not None:
        now = replace(now, uri=live.uri)
    applied = marker.hash if marker is not None else None
    if plan.table_id not in (None, live.metadata.table_id):
        return _refused(
            plan, Refusal(RefusalKind.OPERATION, "another table is at this location now", "plan again")
        )
    fills = any(step.kind is StepKind.FILL for step in plan.steps)  # the marker does not tell that they ended
    is_over = applied == plan.declaration_hash != origin.applied_hash and not fills
    if is_over and _is_as_declared(contract, live):
        return replace(now, live=live.state, steps=(), writes_marker=False, done=len(plan.steps))
    if applied not in (None, plan.declaration_hash, origin.applied_hash):
        return _refused(
            plan, Refusal(RefusalKind.OPERATION, "another declaration was applied since", "plan again")
        )
    rest = remaining_steps(plan.live or _NOTHING, live.state, plan.steps)
    if not isinstance(rest, Remaining):
        differences = "; ".join(rest) or "it is in several states of the plan"
        reason = f"the table differs from the plan file: {differences}"
        return _refused(plan, Refusal(RefusalKind.OPERATION, reason, "plan again"))
    is_recorded = applied == plan.declaration_hash and PENDING not in live.state.properties
    writes_marker = bool(rest.steps) or not is_recorded
    return replace(
        with_size(now, live, rest.steps),
        live=rest.expected,
        features=live.protocol.features,
        steps=rest.steps,
        writes_marker=writes_marker,
        drops_to_prove=dropped_since(contract, plan.live or _NOTHING, live) if writes_marker else (),
        rewrites_to_prove=contract.rewrites if writes_marker else Rewrites(),
        done=len(plan.steps) - len(rest.steps),
    )


def _is_as_declared(contract: Effective, live: LiveTable) -> bool:
    has_dropped = bool(contract.drop_features & live.protocol.features)
    is_noted = PENDING in live.state.properties
    return not (has_dropped or is_noted or pending_changes(contract, live.state))


def _refused(plan: TablePlan, refusal: Refusal) -> TablePlan:
    return replace(plan, steps=(), writes_marker=False, refusals=(refusal,))
