"""Run a plan: several tables at a time, each independent of the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final, TypeVar

import schemalint
from schemalint import deploy, git
from schemalint.catalog.stream_progress import with_progress
from schemalint.catalog.table_location import choose_target
from schemalint.catalog.target_tables import TargetTables
from schemalint.config import Cosmetic
from schemalint.config.trust import ConfigOptions, find_trusted
from schemalint.deploy import DeployInput, Deployment
from schemalint.deploy.catalog_features import require_told_features
from schemalint.deploy.consumers import applied_streams
from schemalint.deploy.outcome import Applied, DoneStep, Outcome
from schemalint.errors import ApplyError, InternalError, LiveError, SchemalintError, WaitingError
from schemalint.lint.rulebook import rules_for_apply, selection_of
from schemalint.model.contract import Contract
from schemalint.model.plan import TablePlan
from schemalint.model.stream_report import StreamReport
from schemalint.planner.sql import named_table, path_table
from schemalint.printable import json_text
from schemalint.spark.catalog import SessionCatalog, require_catalog
from schemalint.spark.datacheck import require_clean
from schemalint.spark.expressioncheck import require_accepted
from schemalint.spark.session import SqlSession, sibling_sessions
from schemalint.spark.session_settings import prepared, required_settings, session_catalog
from schemalint.spark.table import OnStep, TableRun
from schemalint.values import field, frozen, replace

T = TypeVar("T")


@frozen
class ApplyOptions:
    """How to run a plan.

    Attributes:
        tell: Called before each statement, from several threads.
        jobs: How many tables to change at the same time, each in its own session; 1 uses the given session.
        all_or_nothing: Whether to change no table if one is refused or has no plan.
        exactly: Whether to run only steps of the approved plan.
    """

    tell: OnStep = field(default=lambda _plan, _step: None)
    jobs: int = 1
    all_or_nothing: bool = False
    exactly: bool = False


DEFAULTS: Final = ApplyOptions()


def apply(  # noqa: PLR0913 (each is a flag of the command line)
    session: SqlSession,
    repository: str | Path = ".",
    *,
    target: str | None = None,
    tables: Iterable[str] = (),
    head: str = "HEAD",
    allow: Iterable[str] = (),
    allow_older: bool = False,
    repair_drift: bool = False,
    base: str | None = None,
    reorder: bool = False,
    cosmetic: Cosmetic | None = None,
    require_streams: bool = False,
    allow_local_plugins: bool = False,
    all_or_nothing: bool = False,
    jobs: int = 1,
    trusted_refs: Iterable[str] = (),
) -> tuple[Applied, ...]:
    """Change the live tables of a target to the state that a repository declares.

    Args:
        session: A Spark session with Delta, classic or Connect.
        repository: A path in the git repository of the contracts.
        target: The target; None means the only one that is configured.
        tables: Table names; empty means all contracts.
        head: The revision of the contracts, or ``worktree``.
        allow: ``upgrade`` approves protocol upgrades, ``destructive`` approves irreversible steps.
        allow_older: Apply even if a newer commit was applied already.
        repair_drift: Overwrite changes that were made outside of schemalint.
        base: Commit last applied, for tables without a marker.
        reorder: Move columns to the declared order.
        cosmetic: Apply comments and column order ``now``, or with the next change of a table that a tracked
            stream reads (``ride-along``); None means as the configuration says.
        require_streams: Refuse tables whose declared streams have not read them to the end.
        allow_local_plugins: Run the rule files that the configuration names.
        all_or_nothing: Do nothing if a table is refused or cannot be planned.
        jobs: How many tables to change at the same time. With more than one, each table gets its own session,
            without the settings of the given one.
        trusted_refs: In CI, branches of ``origin``, or full references, whose commits count like those of the
            default branch.

    Raises:
        SchemalintError: The contracts or the configuration cannot be read.
    """
    repo = git.open_repository(Path(repository), os.environ)
    settings = find_trusted(repo, os.environ, ConfigOptions(trusted_refs=tuple(trusted_refs)))
    request = DeployInput(
        repo,
        settings,
        choose_target(settings, target),
        git.find_head(repo, head, {}),
        rules_for_apply(
            selection_of(settings.config, settings.rule_files(repo) if allow_local_plugins else None)
        ),
        tuple(tables),
        frozenset(allow),
        allow_older=allow_older,
        repair_drift=repair_drift,
        base=base,
        reorder=reorder,
        cosmetic=cosmetic,
        require_streams=require_streams,
        applies=True,
        via=SessionCatalog(lambda: session),
    )
    deployment = deploy.prepare(request)
    return apply_plan(session, deployment, ApplyOptions(jobs=jobs, all_or_nothing=all_or_nothing))


def apply_plan(
    session: SqlSession, deployment: Deployment, options: ApplyOptions = DEFAULTS
) -> tuple[Applied, ...]:
    """Run a plan; a table that fails does not stop the others.

    The expressions and the data of all tables are checked before the first statement of any table.

    Raises:
        ApplyError: The session does not allow a setting that the statements need; nothing was run.
    """
    work = [
        plan for plan in deployment.plan.tables if not plan.refusals and (plan.steps or plan.writes_marker)
    ]
    sessions = sibling_sessions(session, min(options.jobs, len(work)))
    with ExitStack() as settings:
        for used in sessions:
            settings.enter_context(required_settings(used))
            if any(plan.name is None for plan in work):
                settings.enter_context(session_catalog(used))
        return _apply(sessions, work, deployment, options)


def _apply(
    sessions: list[SqlSession], work: list[TablePlan], deployment: Deployment, options: ApplyOptions
) -> tuple[Applied, ...]:
    plans = deployment.plan.tables
    results = {result.table: result for result in without_work(deployment)}
    checked = _each(sessions, work, partial(_check_table, deployment=deployment))
    results |= {result.table: result for result in checked if result is not None}
    work = [plan for plan in work if plan.table not in results]
    blocking = (Outcome.REFUSED, Outcome.UNPLANNED)
    if options.all_or_nothing and any(result.outcome in blocking for result in results.values()):
        results |= {plan.table: _left_alone(plan) for plan in work}
    else:
        applied = _each(sessions, work, partial(_run_table, deployment=deployment, options=options))
        results |= {result.table: result for result in applied}
    names = (*(plan.table for plan in plans), *(failure.table for failure in deployment.unplanned))
    return tuple(results[name] for name in names)


def without_work(deployment: Deployment) -> tuple[Applied, ...]:
    """Return the results of tables without work: up to date, refused, or not planned."""
    idle = [
        plan for plan in deployment.plan.tables if plan.refusals or not (plan.steps or plan.writes_marker)
    ]
    unplanned = (
        Applied(failure.table, "", Outcome.UNPLANNED, error=failure.error) for failure in deployment.unplanned
    )
    return (*map(_without_work, idle), *unplanned)


def _without_work(plan: TablePlan) -> Applied:
    outcome = Outcome.REFUSED if plan.refusals else Outcome.NOTHING
    return Applied(plan.table, plan.uri, outcome, plan.version, before=plan.version)


def _left_alone(plan: TablePlan) -> Applied:
    return Applied(plan.table, plan.uri, Outcome.LEFT_ALONE, plan.version, before=plan.version)


def _each(
    sessions: list[SqlSession], plans: list[TablePlan], work: Callable[[SqlSession, TablePlan], T]
) -> list[T]:
    """Do the work on each plan, as many at a time as there are sessions."""
    if len(sessions) == 1:
        return [work(sessions[0], plan) for plan in plans]
    free: SimpleQueue[SqlSession] = SimpleQueue()
    for session in sessions:
        free.put(session)

    def in_a_free_session(plan: TablePlan) -> T:
        session = free.get()
        try:
            return work(session, plan)
        finally:
            free.put(session)

    with ThreadPoolExecutor(len(sessions)) as threads:
        return list(threads.map(in_a_free_session, plans))


def _check_table(session: SqlSession, plan: TablePlan, *, deployment: Deployment) -> Applied | None:
    """Check a table's expressions and data; return its result if it is refused."""
    try:
        if plan.name is not None:
            require_catalog(session, plan.name)
        with prepared(session, _user_metadata(deployment.contracts[plan.table], deployment)):
            require_accepted(session, plan, _table_in_sql(plan))
            require_clean(session, plan, _table_in_sql(plan))
        request = _request_of(deployment)
        require_told_features(plan, deployment.contracts[plan.table], request.target, request.via)
    except SchemalintError as error:
        return Applied(plan.table, plan.uri, Outcome.REFUSED, plan.version, error=error, before=plan.version)
    return None


def _run_table(
    session: SqlSession, plan: TablePlan, *, deployment: Deployment, options: ApplyOptions
) -> Applied:
    done: list[DoneStep] = []
    result = Applied(plan.table, plan.uri, Outcome.FAILED, plan.version, before=plan.version)
    try:
        with prepared(session, _user_metadata(deployment.contracts[plan.table], deployment)):
            version = _apply_table(session, plan, deployment, options, done)
    except SchemalintError as error:
        last = done[-1].version if done else plan.version
        outcome = Outcome.WAITING if isinstance(error, WaitingError) else Outcome.FAILED
        return replace(result, outcome=outcome, version=last, done=tuple(done), error=error)
    outcome = Outcome.APPLIED if plan.steps else Outcome.RECORDED
    streams = _streams(plan, deployment) if plan.steps else ()
    return replace(result, outcome=outcome, version=version, done=tuple(done), streams=streams)


def _streams(plan: TablePlan, deployment: Deployment) -> tuple[StreamReport, ...]:
    """Return what the declared streams meet now; an unreadable log leaves what the plan expected."""
    contract, request = deployment.contracts[plan.table], _request_of(deployment)
    expected = tuple(report for report in deployment.streams if report.table == plan.table)
    if not expected:
        return ()
    tables = TargetTables(request.target, request.repository.root, deployment.storage, request.via)
    with suppress(LiveError):
        if (table := tables.read(contract)) is not None:
            contract = with_progress(contract, table, request.target, request.repository.root)
            return tuple(applied_streams(plan, contract, table))
    return expected


def _apply_table(
    session: SqlSession, plan: TablePlan, deployment: Deployment, options: ApplyOptions, done: list[DoneStep]
) -> int:
    contract, request = deployment.contracts[plan.table], _request_of(deployment)
    tables = TargetTables(request.target, request.repository.root, deployment.storage, request.via)
    run = TableRun(session, plan, _table_in_sql(plan), partial(tables.read, contract), options.tell, done)
    run.run_steps()
    if not plan.needs_replanning:
        return run.record(contract, deployment.revision)
    if options.exactly:
        raise ApplyError(
            f"{plan.table}: the steps of an interrupted run are finished; the plan does not contain the rest",
            help="plan again",
        )
    # This run changes the table anyway, so nothing of it waits for a next change.
    new_deployment = deploy.prepare(replace(request, tables=(plan.table,), cosmetic="now"))
    if new_deployment.unplanned:
        raise new_deployment.unplanned[0].error
    (new_plan,) = new_deployment.plan.tables
    if new_plan.refusals:
        raise ApplyError(f"{plan.table}: {new_plan.refusals[0].reason}", help=new_plan.refusals[0].help)
    return _apply_table(session, new_plan, new_deployment, options, done)


def _table_in_sql(plan: TablePlan) -> str:
    return named_table(plan.name) if plan.name is not None else path_table(plan.uri)


def _request_of(deployment: Deployment) -> DeployInput:
    if deployment.request is None:
        raise InternalError("a deployment without its request cannot be planned again")
    return deployment.request


def _user_metadata(contract: Contract, deployment: Deployment) -> str:
    """Return the provenance for people; no decision depends on it."""
    return json_text(
        {
            "schemalint": schemalint.__version__,
            "contract": contract.file,
            "revision": deployment.revision,
            "plan": deployment.plan.hash,
        }
    ).rstrip()
