"""Plan the live tables for contracts at a revision: `plan` shows the plan, and `apply` runs it.

The command line and Python give the same `DeployOptions`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from schemalint.base.errors import SchemalintError, UsageError
from schemalint.base.printable import visible
from schemalint.base.values import frozen, replace
from schemalint.contract.consumers import configuration_faults, environment, warning_of_writers
from schemalint.contract.contract_files import contract_files, made_files
from schemalint.contract.contract_revisions import Declarations, Revisions, contracts_at
from schemalint.delta.column_names import nearest_name
from schemalint.delta.engine import Engine
from schemalint.deploy.approvals import require_hashes
from schemalint.deploy.consumer_streams import planned_streams, without_unread_streams
from schemalint.deploy.deploy_input import (
    DeployInput,
    Deployment,
    DeployOptions,
    TargetAccess,
    UnplannedTable,
)
from schemalint.deploy.earlier_target import in_order, read_deploy_log
from schemalint.deploy.last_applied import resolved_base
from schemalint.deploy.other_engine import refused_by
from schemalint.deploy.planning import ContractPlanner
from schemalint.deploy.several_writers import warnings
from schemalint.deploy.table_identity import TableIdentities
from schemalint.judge.rule_judge import collecting
from schemalint.model.contract import Contract, table_key
from schemalint.model.effective import Effective, effective
from schemalint.model.finding import SkippedTable
from schemalint.model.stream_report import StreamReport
from schemalint.model.table_plan import Plan, TablePlan
from schemalint.project import git
from schemalint.project.config.contracts_entry import ContractsEntry
from schemalint.project.config.repository_config import Project, unmatched_globs
from schemalint.project.config.trust import Trusted, resolve_storage, run_by, written_by
from schemalint.review.baseline_file import merged_baseline
from schemalint.review.exception_files import merged_exceptions
from schemalint.review.rule_sets import lock_faults, rule_sets_for_apply
from schemalint.review.rulebook import rules_for_apply
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.table_location import choose_target, require_reachable
from schemalint.tables.catalog.target_tables import TargetTables
from schemalint.tables.storage.table_workers import SIDE_BY_SIDE, TableWorkers

_MOST_NAMED: Final = 10


def prepare(request: DeployInput) -> Deployment:
    """Plan all tables before any statement runs; `schemalint.deploy.approvals` decides what may run.

    Raises:
        SchemalintError: The contracts cannot be read, or a requested table has none.
    """
    request = _with_merged_files(request)
    target, config = request.target, request.settings.config
    require_reachable(target, request.repository.root)
    for fault in (*configuration_faults(config), *lock_faults(config, request.rules)):
        raise fault
    declarations = _declared(request)
    where = environment(config, target=target.name, engines=target.engines)
    requested = [effective(contract, where) for contract in _requested(request, declarations)]
    access = TargetAccess(
        target, request.repository.root, resolve_storage(target), request.via, request.workers
    )
    live_tables = access.tables()
    planned = _planned(request, declarations, live_tables, list(filter(_is_planned, requested)))
    full_hash = planned.plan.hash
    if request.options.require_streams:
        planned = planned.requiring_streams()
    return Deployment(
        plan=planned.plan,
        contracts=planned.contracts,
        revision=request.head.commit,
        skipped=tuple(_skipped_tables(request, requested)),
        unplanned=planned.unplanned,
        warnings=tuple(_warnings(request, planned, live_tables)),
        access=access,
        streams=tuple(planned.streams()),
        request=request,
        full_hash=full_hash,
        planned_for=lambda engine: prepare(replace(request, target=run_by(target, engine))),
    )


def _with_merged_files(request: DeployInput) -> DeployInput:
    """Return the input with what the files beside the contracts say: settings, exceptions, the baseline."""
    repository = request.repository
    settings = request.settings.with_nested(repository)
    return replace(
        request,
        base=resolved_base(repository, request.base),
        settings=settings,
        exceptions=merged_exceptions(repository, request.head, settings, os.environ),
        baseline=merged_baseline(repository, request.head, settings),
    )


@frozen
class _Planned:
    """The plans of the requested tables.

    Attributes:
        plan: The plan of all tables that could be planned.
        contracts: Their contracts by table name, with the progress of the streams.
        unplanned: The tables and files that could not be planned.
        live_writers: Who wrote each live table lately, as `LiveTable.writers`.
    """

    plan: Plan
    contracts: dict[str, Effective]
    unplanned: tuple[UnplannedTable, ...]
    live_writers: tuple[Mapping[str, int], ...]

    def requiring_streams(self) -> _Planned:
        """Refuse each table that a declared stream has not read to its end."""
        tables = tuple(
            without_unread_streams(table, self.contracts[table.table]) for table in self.plan.tables
        )
        return replace(self, plan=replace(self.plan, tables=tables))

    def streams(self) -> Iterator[StreamReport]:
        """Yield what the plans mean for the declared streams of their tables."""
        for table in self.plan.tables:
            yield from planned_streams(table, self.contracts[table.table])


def _planned(
    request: DeployInput, declarations: Declarations, live_tables: TargetTables, to_plan: list[Effective]
) -> _Planned:
    """Read the live tables, and plan each of them."""
    repository, target, config = request.repository, request.target, request.settings.config
    revisions = Revisions(repository, contract_files(config, target.name), target.name, request.head)
    identities = TableIdentities(declarations.contracts, revisions, target, repository.root, request.via)
    live_tables.fetch(to_plan)
    revisions.history.expect(live_tables.fetched)
    live_writers = tuple(table.writers for table in live_tables.fetched)
    rules = rule_sets_for_apply(config, request.rules, request.local)
    planner = ContractPlanner(request, live_tables, identities, rules)

    def planned_or_not(contract: Effective) -> tuple[TablePlan, Effective] | UnplannedTable:
        done: list[tuple[TablePlan, Effective]] = []
        errors: list[SchemalintError] = []
        with collecting(errors, contract.table):
            done.append(planner.plan(contract))
        return done[0] if done else UnplannedTable(contract.table, errors[0])

    unplanned = [
        UnplannedTable(error.location.file if error.location else "", error) for error in declarations.errors
    ]
    plans: list[TablePlan] = []
    contracts: dict[str, Effective] = {}
    for result in live_tables.each("planning", planned_or_not, to_plan):
        if isinstance(result, UnplannedTable):
            unplanned.append(result)
            continue
        plan, contract = result
        if request.after is not None:
            plan = in_order(plan, declarations.contracts[contract.key], request.after)
        plans.append(plan)
        contracts[contract.table] = contract
    whole = Plan(target.name, tuple(identities.without_shared_tables(plans)))
    return _Planned(whole, contracts, tuple(unplanned), live_writers)


def _warnings(request: DeployInput, planned: _Planned, live_tables: TargetTables) -> Iterator[str]:
    """Yield what may be wrong: engines, a root without tables, tables that would take no statement.

    Raises:
        LiveError: The target creates no tables, or the root cannot be listed.
    """
    target, config = request.target, request.settings.config
    for engine in target.engines.all:
        if engine.newer_note is not None:
            yield engine.newer_note
    of_writers = warning_of_writers(target.name, target.engines, (config,), planned.live_writers)
    if of_writers is not None:
        yield of_writers
    for table in planned.plan.tables:
        yield from _about_known(table)
    if not planned.unplanned:
        yield from _about_root(live_tables, planned.plan.tables)
    if not request.applies:
        yield from warnings(planned.plan.tables, target, config.spark)


def _skipped_tables(request: DeployInput, requested: Iterable[Contract]) -> Iterator[SkippedTable]:
    for contract in requested:
        if not _is_planned(contract):
            yield _skipped(contract)
    if not request.options.tables:
        yield from map(_of_another_tool, made_files(request.settings.config))


def _skipped(contract: Contract) -> SkippedTable:
    reason = "absent from this target" if contract.absent else f"managed by {contract.managed_by}"
    return SkippedTable(contract.table, reason)


def _of_another_tool(entry: ContractsEntry) -> SkippedTable:
    return SkippedTable(
        visible(entry.path), f"managed by {entry.format}, which alters the tables of this file itself"
    )


def _about_known(plan: TablePlan) -> Iterator[str]:
    for refusal in plan.known:
        yield f"{plan.table} needs no statement, and would take none: {refusal.reason} (in the baseline)"


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
    config = request.settings.config
    files = contract_files(config, request.target.name)
    for error in unmatched_globs(Project(request.repository, config), files.named, request.head):
        raise error
    declarations = contracts_at(request.repository, request.head, files)
    if not isinstance(request.head, git.Worktree):
        changed = git.dirty(
            request.repository, {contract.file for contract in declarations.contracts.values()}
        )
        if changed:
            raise UsageError(
                f"{min(changed)} has uncommitted changes",
                help="commit them, or plan the working tree: --head worktree",
            )
    if request.applies:
        declarations.require_complete()
    return declarations


def _requested(request: DeployInput, declarations: Declarations) -> list[Contract]:
    declared = declarations.contracts
    if not declared:
        declarations.require_complete()
        for entry in made_files(request.settings.config):
            raise UsageError(
                f"no contracts found, and {entry.format} alters the tables of {visible(entry.path)} itself",
                help="compare them with their live tables: schemalint check --live",
            )
        raise UsageError("no contracts found", help="a contract is a YAML file with `schemalint: 1`")
    keys = [table_key(name) for name in request.options.tables] or sorted(declared)
    for name, key in zip(request.options.tables, keys, strict=False):
        if key not in declared:
            declarations.require_complete()
            raise UsageError(f"no contract declares {name}", help=_meant(name, sorted(declared)))
    return [declared[key] for key in keys]


def _is_planned(contract: Contract) -> bool:
    return not contract.absent and contract.managed_by == "schemalint"


def _meant(name: str, declared: Sequence[str]) -> str:
    """Return help for the name of a table that no contract declares."""
    if close := nearest_name(name, declared):
        return f"did you mean {close}?"
    if name.endswith((".yml", ".yaml")):
        return "name the table that the file declares"
    more = ", …" if len(declared) > _MOST_NAMED else ""
    return f"declared: {', '.join(declared[:_MOST_NAMED])}{more}"


def prepare_requested(
    repository: git.Repository,
    settings: Trusted,
    options: DeployOptions,
    *,
    via: Catalog | None,
    applies: bool = False,
    workers: TableWorkers = SIDE_BY_SIDE,
    engine: Engine | None = None,
) -> Deployment:
    """Plan the requested tables; with `fetch`, a second time with the history that was missing.

    Args:
        repository: The repository with the contracts.
        settings: The configuration.
        options: The options of the deployment.
        via: The catalogs of a running Spark session.
        applies: Whether the plan will be run.
        workers: How many tables are read at the same time.
        engine: The engine to plan for in place of those of the configuration; in CI one to judge by beside
            them.

    Raises:
        SchemalintError: See `prepare`; or an option is invalid.
    """
    local = settings.rule_files(repository) if options.allow_local_plugins else None
    target = choose_target(settings, options.target)
    is_added = engine is not None and git.is_ci(os.environ)
    if engine is not None and not is_added:
        settings, target = settings.without_writers(), written_by(target, engine)
    after = None
    if options.after is not None:
        after = read_deploy_log(str(options.after), target, settings.targets)
    require_hashes(options.approved)
    request = DeployInput(
        repository=repository,
        settings=settings,
        target=target,
        head=git.find_head(repository, options.head, os.environ),
        rules=rules_for_apply(settings.config, local),
        options=options,
        base=git.retry_with_fetch(
            repository, lambda: resolved_base(repository, options.base), fetch=options.fetch
        ),
        applies=applies,
        via=via,
        local=local,
        workers=workers,
        after=after,
    )
    deployment = prepare(request)
    errors = [unplanned.error for unplanned in deployment.unplanned]
    commands = {error.command for error in errors if isinstance(error, git.MissingHistoryError)} - {()}
    if options.fetch and commands:
        for command in sorted(commands):
            git.fetch_missing(repository, command)
        deployment = prepare(request)
    if engine is not None and is_added:
        return refused_by(deployment, engine)
    return deployment


def for_session(deployment: Deployment, engine_of_session: Callable[[], Engine | None]) -> Deployment:
    """Return the plan for the engine of the session, if the target names none and there are steps to run.

    A plan file is not planned again: `require_same_answers` compares it with the session.

    Args:
        deployment: The plan.
        engine_of_session: Returns the engine of the session, or None if it does not tell; may start it.
    """
    is_filed = deployment.approved is not None
    if is_filed or deployment.engine or deployment.plan.is_empty or deployment.planned_for is None:
        return deployment
    engine = engine_of_session()
    if engine is None or engine.is_newest:
        return deployment
    return deployment.planned_for(engine)
