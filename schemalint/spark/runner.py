"""Run a plan: several tables at a time, each independent of the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final, TypeVar

import schemalint
from schemalint.base.errors import (
    InternalError,
    LiveError,
    SchemalintError,
    worst_status,
)
from schemalint.base.printable import json_text
from schemalint.base.values import replace
from schemalint.deploy.approvals import require_at_most, without_unapproved
from schemalint.deploy.catalog_features import require_told_features
from schemalint.deploy.consumer_streams import applied_streams
from schemalint.deploy.deploy_input import Deployment, TargetAccess
from schemalint.deploy.other_engine import require_same_answers
from schemalint.deploy.prepare import DeployOptions, for_session, prepare_requested
from schemalint.deploy.results import AppliedTable, DeployLog, DoneStep, Outcome, outcome_of, unfilled_error
from schemalint.model.contract import Contract
from schemalint.model.stream_report import StreamReport
from schemalint.model.table_plan import TablePlan
from schemalint.planner.statements import named_table, path_table
from schemalint.project import git
from schemalint.project.config import Cosmetic
from schemalint.project.config.trust import ConfigOptions, find_trusted
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.fill import FillLimits, TableFills
from schemalint.spark.prechecks import require_accepted, require_clean
from schemalint.spark.session import SqlSession, refusals_not_logged, sibling_sessions
from schemalint.spark.session_catalog import SessionCatalog, require_catalog
from schemalint.spark.session_engine import engine_of, require_delta
from schemalint.spark.session_settings import kinds_of, prepared, required_settings, session_catalog
from schemalint.spark.shared_log_store import require_shared_log_store
from schemalint.spark.snapshot_partitions import snapshots_that_fit
from schemalint.spark.table_run import RecordedTable, TableRun
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.target_tables import refresh_entry
from schemalint.tables.storage.table_workers import TableWorkers

T = TypeVar("T")


_BLOCKING: Final = (Outcome.REFUSED, Outcome.UNPLANNED)


def apply(  # noqa: PLR0913 (each is a flag of the command line)
    session: SqlSession,
    repository: str | Path = ".",
    *,
    target: str | None = None,
    tables: Iterable[str] = (),
    head: str = "HEAD",
    after: str | Path | None = None,
    allow: Iterable[str] = (),
    approved: Iterable[str] = (),
    allow_older: bool = False,
    repair_drift: bool = False,
    base: str | None = None,
    reorder: bool = False,
    cosmetic: Cosmetic | None = None,
    require_streams: bool = False,
    allow_local_plugins: bool = False,
    all_or_nothing: bool = False,
    fail_fast: bool = False,
    max_tables: int | None = None,
    jobs: int = 1,
    trusted_refs: Iterable[str] = (),
    fetch: bool = False,
    log: str | Path | None = None,
    max_bytes: int | None = None,
    samples: bool = False,
) -> tuple[AppliedTable, ...]:
    """Change the live tables of a target to the state that a repository declares.

    Args:
        session: A Spark session with Delta, classic or Connect.
        repository: A path in the git repository of the contracts.
        target: The target; None means the only one that is configured.
        tables: Table names; empty means all contracts.
        head: The revision of the contracts, or ``worktree``.
        after: The deploy log of the previous target: only tables that it reports as applied change.
        allow: ``upgrade`` approves protocol upgrades, ``destructive`` approves irreversible steps,
            and ``data`` fills columns.
        approved: The approved hashes, of plans or of tables.
        allow_older: Apply even if a newer commit was applied already.
        repair_drift: Overwrite changes that were made outside of schemalint.
        base: Commit last applied, or ``none``, for the tables of which it is unknown.
        reorder: Move columns to the declared order.
        cosmetic: Apply comments and column order ``now``, or with the next change of a table that a tracked
            stream reads (``ride-along``); None means as the configuration says.
        require_streams: Refuse tables whose declared streams have not read them to the end.
        allow_local_plugins: Run the rule files that the configuration names.
        all_or_nothing: Do nothing if a table is refused or cannot be planned.
        fail_fast: Begin no further table after one failed.
        max_tables: Change nothing if the plan changes more tables.
        jobs: How many tables to change at the same time. With more than one, each table gets its own session,
            with the settings of the given one.
        trusted_refs: In CI, branches of ``origin``, or full references, whose commits count like those of the
            default branch.
        fetch: Fetch history from the remote if this clone lacks it.
        log: The file of the deploy log, written as JSON lines while tables change.
        max_bytes: Fill at most the rows of so many bytes of data files, for each column.
        samples: Show values that do not convert.

    Raises:
        SchemalintError: The contracts or the configuration cannot be read, or more than `max_tables` change.
    """
    with DeployLog(Path(log) if log is not None else None) as lines, refusals_not_logged():
        repo = git.open_repository(Path(repository), os.environ)
        if fetch:
            repo = repo.fetching_objects()
        settings = find_trusted(
            repo, os.environ, ConfigOptions(trusted_refs=tuple(trusted_refs), fetch=fetch)
        )
        deployment = prepare_requested(
            repo,
            settings,
            DeployOptions(
                tables=tuple(tables),
                target=target,
                head=head,
                after=None if after is None else str(after),
                base=base,
                allow=tuple(allow),
                approved=tuple(approved),
                allow_older=allow_older,
                repair_drift=repair_drift,
                reorder=reorder,
                cosmetic=cosmetic,
                require_streams=require_streams,
                allow_local_plugins=allow_local_plugins,
                fetch=fetch,
            ),
            via=SessionCatalog(lambda: session),
            applies=True,
        )
        deployment = for_session(deployment, lambda: engine_of(session))
        require_at_most(deployment.plan, max_tables)
        deployment = without_unapproved(deployment)
        lines.started(deployment)
        options = ApplyOptions(
            jobs=jobs,
            all_or_nothing=all_or_nothing,
            fail_fast=fail_fast,
            log=lines,
            fills=FillLimits(max_bytes, samples),
        )
        results = apply_plan(session, deployment, options)
        lines.ended(status_after(deployment, results))
        return results


def status_after(deployment: Deployment, results: Iterable[AppliedTable]) -> int:
    """Return the exit status of a run: the worst of its refusals and errors."""
    errors = (result.error for result in results)
    return worst_status(
        [deployment.exit_status, *(error.exit_status for error in errors if error is not None)]
    )


def apply_plan(
    session: SqlSession, deployment: Deployment, options: ApplyOptions
) -> tuple[AppliedTable, ...]:
    """Run a plan; a table that fails does not stop the others, unless the options say so.

    The expressions and the data of all tables are checked before the first statement of any table.

    Raises:
        UsageError: The session is another engine than the plan was made for, which answers otherwise.
        ApplyError: The session has no Delta, does not allow a setting that the statements need, or would
            overwrite commits of other writers; nothing was run.
    """
    work = [plan for plan in deployment.plan.tables if plan.has_work and not plan.refusals]
    if work:
        require_delta(session)
        note = require_same_answers(deployment, engine_of(session))
        if note is not None:
            options.note(note)
    require_shared_log_store(session, work, _access_of(deployment).target)
    sessions = sibling_sessions(session, min(options.jobs, len(work)))
    with required_settings(*sessions, kinds=kinds_of(work)), ExitStack() as catalog:
        if any(plan.name is None for plan in work):
            catalog.enter_context(session_catalog(*sessions))
        return _apply(sessions, work, deployment, options)


def _apply(
    sessions: list[SqlSession], work: list[TablePlan], deployment: Deployment, options: ApplyOptions
) -> tuple[AppliedTable, ...]:
    plans = deployment.plan.tables
    results = {result.table: result for result in without_work(deployment, options.log)}
    check = partial(_check_table, deployment=deployment, log=options.log)
    checked = _each("checking", sessions, work, check, options)
    results |= {result.table: result for result in checked if result is not None}
    work = [plan for plan in work if plan.table not in results]
    blocking = [result for result in results.values() if result.outcome in _BLOCKING]
    if options.all_or_nothing and blocking:
        reason = f"{blocking[0].table} is {blocking[0].outcome.value} (--all-or-nothing)"
        results |= {plan.table: _left_alone(plan, reason, options.log) for plan in work}
    else:
        failed: list[str] = []
        applied = _each(
            "applying",
            sessions,
            work,
            partial(_run_or_leave, failed=failed, deployment=deployment, options=options),
            options,
        )
        results |= {result.table: result for result in applied}
    names = (*(plan.table for plan in plans), *(failure.table for failure in deployment.unplanned))
    return tuple(results[name] for name in names)


def without_work(deployment: Deployment, log: DeployLog) -> tuple[AppliedTable, ...]:
    """Log and return the results of tables without work: up to date, refused, or not planned."""
    idle = [plan for plan in deployment.plan.tables if plan.refusals or not plan.has_work]
    unplanned = (
        AppliedTable(failure.table, "", Outcome.UNPLANNED, error=failure.error)
        for failure in deployment.unplanned
    )
    return tuple(map(log.table, (*map(_without_work, idle), *unplanned)))


def _without_work(plan: TablePlan) -> AppliedTable:
    error = None if plan.refusals else unfilled_error(plan)
    outcome = Outcome.REFUSED if plan.refusals else Outcome.NOTHING if error is None else Outcome.FILLING
    return AppliedTable(plan.table, plan.uri, outcome, plan.version, error=error, before=plan.version)


def _left_alone(plan: TablePlan, reason: str, log: DeployLog) -> AppliedTable:
    left = AppliedTable(
        plan.table, plan.uri, Outcome.LEFT_ALONE, plan.version, before=plan.version, reason=reason
    )
    return log.table(left)


def _each(
    stage: str,
    sessions: list[SqlSession],
    plans: list[TablePlan],
    work: Callable[[SqlSession, TablePlan], T],
    options: ApplyOptions,
) -> list[T]:
    """Do the work on each plan, as many at a time as there are sessions."""
    free: SimpleQueue[SqlSession] = SimpleQueue()
    for session in sessions:
        free.put(session)

    def in_a_free_session(plan: TablePlan) -> T:
        session = free.get()
        try:
            return work(session, plan)
        finally:
            free.put(session)

    workers = TableWorkers(len(sessions), options.progress)
    return workers.each(stage, in_a_free_session, plans, lambda plan: plan.table)


def _check_table(
    session: SqlSession, plan: TablePlan, *, deployment: Deployment, log: DeployLog
) -> AppliedTable | None:
    """Check a table's expressions and data; log and return its result if it is refused."""
    try:
        if plan.name is not None:
            require_catalog(session, plan.name)
        with (
            prepared(session, _user_metadata(deployment.contracts[plan.table], deployment)),
            snapshots_that_fit(session, plan, _access_of(deployment).storage),
        ):
            require_accepted(session, plan, _table_in_sql(plan))
            require_clean(session, plan, _table_in_sql(plan))
        access = _access_of(deployment)
        require_told_features(plan, deployment.contracts[plan.table], access.target, access.via)
    except SchemalintError as error:
        refused = AppliedTable(
            plan.table, plan.uri, Outcome.REFUSED, plan.version, error=error, before=plan.version
        )
        return log.table(refused)
    return None


def _run_or_leave(
    session: SqlSession, plan: TablePlan, *, failed: list[str], deployment: Deployment, options: ApplyOptions
) -> AppliedTable:
    """Run a table's plan, unless the run is to end with a table that failed."""
    if failed and options.fail_fast:
        return _left_alone(plan, f"{failed[0]} failed (--fail-fast)", options.log)
    result = options.log.table(_run_table(session, plan, deployment=deployment, options=options))
    if result.outcome is Outcome.FAILED:
        failed.append(plan.table)
    return result


def _run_table(
    session: SqlSession, plan: TablePlan, *, deployment: Deployment, options: ApplyOptions
) -> AppliedTable:
    done: list[DoneStep] = []
    result = AppliedTable(plan.table, plan.uri, Outcome.FAILED, plan.version, before=plan.version)
    try:
        with (
            prepared(session, _user_metadata(deployment.contracts[plan.table], deployment)),
            snapshots_that_fit(session, plan, _access_of(deployment).storage),
        ):
            recorded = _apply_table(session, plan, deployment, options, done)
    except SchemalintError as error:
        last = done[-1].version if done else plan.version
        outcome = outcome_of(error)
        return replace(result, outcome=outcome, version=last, done=tuple(done), error=error)
    outcome = Outcome.APPLIED if plan.steps else Outcome.RECORDED
    contract, tables = deployment.contracts[plan.table], _access_of(deployment).tables()
    stale = refresh_entry(contract, tables) if plan.steps else None
    streams = _streams(plan, deployment) if plan.steps else ()
    return replace(
        result,
        outcome=outcome,
        version=recorded.version,
        done=tuple(done),
        streams=streams,
        unmarked=recorded.problem,
        stale=stale,
    )


def _streams(plan: TablePlan, deployment: Deployment) -> tuple[StreamReport, ...]:
    """Return what the declared streams meet now; an unreadable log leaves what the plan expected."""
    contract, access = deployment.contracts[plan.table], _access_of(deployment)
    expected = tuple(report for report in deployment.streams if report.table == plan.table)
    if not expected:
        return ()
    with suppress(LiveError):
        if (table := access.tables().read(contract)) is not None:
            contract = with_progress(contract, table, access.target, access.folder)
            return tuple(applied_streams(plan, contract, table))
    return expected


def _apply_table(
    session: SqlSession, plan: TablePlan, deployment: Deployment, options: ApplyOptions, done: list[DoneStep]
) -> RecordedTable:
    contract, tables = deployment.contracts[plan.table], _access_of(deployment).tables()
    read = partial(tables.read, contract)
    run = TableRun(session, plan, _table_in_sql(plan), read, options.tell, done, options.log.step)
    run.fills = TableFills(
        session,
        run.table,
        run.read_existing,
        partial(tables.number_of_rows, contract, plan.uri),
        options.fills,
        lambda text: options.note(f"{plan.table}: {text}"),
    )
    run.run_steps()
    recorded = run.record(contract, deployment.revision)
    if (error := unfilled_error(plan, run.unfilled)) is not None:
        raise error
    return recorded


def _table_in_sql(plan: TablePlan) -> str:
    return named_table(plan.name) if plan.name is not None else path_table(plan.uri)


def _access_of(deployment: Deployment) -> TargetAccess:
    if deployment.access is None:
        raise InternalError("a deployment without access to its tables cannot be run")
    return deployment.access


def _user_metadata(contract: Contract, deployment: Deployment) -> str:
    """Return the provenance for people; no decision depends on it."""
    return json_text(
        {
            "schemalint": schemalint.__version__,
            "contract": contract.file,
            "revision": deployment.revision,
            "plan": deployment.plan_hash,
        }
    ).rstrip()
