"""A plan, carried out: the tables side by side, each apart from the others."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final, TypeVar

import schemalint
from schemalint import config, deploy, git
from schemalint.catalog.table_location import choose_target
from schemalint.catalog.target_tables import TargetTables
from schemalint.deploy import DeployInput, Deployment
from schemalint.deploy.outcome import Applied, DoneStep, Outcome
from schemalint.errors import ApplyError, InternalError, SchemalintError
from schemalint.lint.rulebook import rules_for_apply, selection_of
from schemalint.model.contract import Contract
from schemalint.model.plan import TablePlan
from schemalint.planner.sql import named_table, path_table
from schemalint.spark.catalog import SessionCatalog, require_catalog
from schemalint.spark.datacheck import require_clean
from schemalint.spark.expressioncheck import require_accepted
from schemalint.spark.session import SqlSession, prepared, sessions_beside
from schemalint.spark.table import OnStep, TableRun
from schemalint.values import field, frozen, replace

T = TypeVar("T")


@frozen
class ApplyOptions:
    """How a plan is carried out.

    Attributes:
        tell: Called before each statement, from several threads.
        jobs: How many tables at the same time, each in a session of its own; with 1 in the given one.
        all_or_nothing: Whether one table that cannot be brought on keeps all others from their first step.
        exactly: Whether nothing may be done that does not stand in the plan, as it was approved.
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
    allow_local_plugins: bool = False,
    all_or_nothing: bool = False,
    jobs: int = 1,
) -> tuple[Applied, ...]:
    """Bring the live tables of a target to the state that a repository declares, by a given session.

    Args:
        session: Spark's, classic or Connect, with Delta.
        repository: A path in the git repository of the contracts.
        target: The environment; the only one configured if None.
        tables: Names; all contracts if empty.
        head: The revision of the contracts, or ``worktree``.
        allow: ``upgrade`` approves what adds table features, ``destructive`` what cannot be taken back.
        allow_older: Apply although the table was brought further already.
        repair_drift: Overwrite what somebody altered.
        base: The commit that was applied last, where the tables do not tell.
        reorder: Move columns to the declared order.
        allow_local_plugins: Run the files of rules that the configuration names.
        all_or_nothing: Do nothing if a table is refused or cannot be planned.
        jobs: How many tables at the same time: more than one only in sessions of their own, without the
            settings that were made in the given one.

    Raises:
        SchemalintError: The contracts or the configuration cannot be read.
    """
    repo = git.open_repository(Path(repository), os.environ)
    settings = config.load(lambda name: config.read_file(repo.root / name))
    request = DeployInput(
        repo,
        settings,
        choose_target(settings, target),
        git.find_head(repo, head, {}),
        rules_for_apply(selection_of(settings, repo.root if allow_local_plugins else None)),
        tuple(tables),
        frozenset(allow),
        allow_older=allow_older,
        repair_drift=repair_drift,
        base=base,
        reorder=reorder,
        applies=True,
        via=SessionCatalog(lambda: session),
    )
    deployment = deploy.prepare(request)
    return apply_plan(session, deployment, ApplyOptions(jobs=jobs, all_or_nothing=all_or_nothing))


def apply_plan(
    session: SqlSession, deployment: Deployment, options: ApplyOptions = DEFAULTS
) -> tuple[Applied, ...]:
    """Carry a plan out: a table that fails does not stop the others.

    All tables' expressions and data are looked at before the first statement of any.
    """
    plans = deployment.plan.tables
    work = [plan for plan in plans if not plan.refusals and (plan.steps or plan.record)]
    settled = {one.table: one for one in without_work(deployment)}
    sessions = sessions_beside(session, min(options.jobs, len(work)))
    checked = _each(sessions, work, partial(_refused_beforehand, deployment=deployment))
    settled |= {one.table: one for one in checked if one is not None}
    work = [plan for plan in work if plan.table not in settled]
    barred = (Outcome.REFUSED, Outcome.UNPLANNED)
    if options.all_or_nothing and any(one.outcome in barred for one in settled.values()):
        settled |= {plan.table: _left_alone(plan) for plan in work}
    else:
        done = _each(sessions, work, partial(_applied, deployment=deployment, options=options))
        settled |= {one.table: one for one in done}
    names = (*(plan.table for plan in plans), *(one.table for one in deployment.unplanned))
    return tuple(settled[name] for name in names)


def without_work(deployment: Deployment) -> tuple[Applied, ...]:
    """The tables of which a plan leaves nothing to be carried out: done, refused, or not planned."""
    settled = [plan for plan in deployment.plan.tables if plan.refusals or not (plan.steps or plan.record)]
    unplanned = (Applied(one.table, "", Outcome.UNPLANNED, error=one.error) for one in deployment.unplanned)
    return (*map(_settled, settled), *unplanned)


def _settled(plan: TablePlan) -> Applied:
    outcome = Outcome.REFUSED if plan.refusals else Outcome.NOTHING
    return Applied(plan.table, plan.uri, outcome, plan.version, before=plan.version)


def _left_alone(plan: TablePlan) -> Applied:
    return Applied(plan.table, plan.uri, Outcome.LEFT_ALONE, plan.version, before=plan.version)


def _each(
    sessions: list[SqlSession], plans: list[TablePlan], work: Callable[[SqlSession, TablePlan], T]
) -> list[T]:
    """The work on each plan, as many at the same time as there are sessions."""
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


def _refused_beforehand(session: SqlSession, plan: TablePlan, *, deployment: Deployment) -> Applied | None:
    try:
        if plan.name is not None:
            require_catalog(session, plan.name)
        with prepared(session, _user_metadata(deployment.contracts[plan.table], deployment)):
            require_accepted(session, plan, _table_in_sql(plan))
            require_clean(session, plan, _table_in_sql(plan))
    except SchemalintError as error:
        return Applied(plan.table, plan.uri, Outcome.REFUSED, plan.version, error=error, before=plan.version)
    return None


def _applied(
    session: SqlSession, plan: TablePlan, *, deployment: Deployment, options: ApplyOptions
) -> Applied:
    done: list[DoneStep] = []
    result = Applied(plan.table, plan.uri, Outcome.FAILED, plan.version, before=plan.version)
    try:
        with prepared(session, _user_metadata(deployment.contracts[plan.table], deployment)):
            version = _apply_table(session, plan, deployment, options, done)
    except SchemalintError as error:
        last = done[-1].version if done else plan.version
        return replace(result, version=last, done=tuple(done), error=error)
    outcome = Outcome.APPLIED if plan.steps else Outcome.RECORDED
    return replace(result, outcome=outcome, version=version, done=tuple(done))


def _apply_table(
    session: SqlSession, plan: TablePlan, deployment: Deployment, options: ApplyOptions, done: list[DoneStep]
) -> int:
    contract, request = deployment.contracts[plan.table], _request_of(deployment)
    tables = TargetTables(request.target, request.repository.root, deployment.storage, request.via)
    run = TableRun(session, plan, _table_in_sql(plan), partial(tables.read, contract), options.tell, done)
    run.carry_out()
    if not plan.again:
        return run.record(contract, deployment.revision)
    if options.exactly:
        raise ApplyError(
            f"{plan.table}: what an interrupted run had begun is finished; the rest is not in the plan",
            help="plan again",
        )
    anew = deploy.prepare(replace(request, tables=(plan.table,)))
    if anew.unplanned:
        raise anew.unplanned[0].error
    (again,) = anew.plan.tables
    if again.refusals:
        raise ApplyError(f"{plan.table}: {again.refusals[0].reason}", help=again.refusals[0].help)
    return _apply_table(session, again, anew, options, done)


def _table_in_sql(plan: TablePlan) -> str:
    return named_table(plan.name) if plan.name is not None else path_table(plan.uri)


def _request_of(deployment: Deployment) -> DeployInput:
    if deployment.request is None:
        raise InternalError("a plan that is to be made anew does not know what was asked for")
    return deployment.request


def _user_metadata(contract: Contract, deployment: Deployment) -> str:
    """Provenance for people; nothing is ever decided by it."""
    return json.dumps(
        {
            "schemalint": schemalint.__version__,
            "contract": contract.file,
            "revision": deployment.revision,
            "plan": deployment.plan.hash,
        }
    )
