"""Run a plan: several tables at a time, each independent of the others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Final, TypeVar

import schemalint
from schemalint.base.errors import InternalError, LiveError, SchemalintError, WaitingError, worst_status
from schemalint.base.files import LineFile
from schemalint.base.printable import json_text, terminal_text
from schemalint.base.values import frozen, replace
from schemalint.delta.engine import DATABRICKS, Engine
from schemalint.deploy.approvals import require_at_most
from schemalint.deploy.catalog_features import require_told_features
from schemalint.deploy.consumer_streams import applied_streams
from schemalint.deploy.deploy_input import Deployment, TargetAccess
from schemalint.deploy.other_engine import require_same_answers
from schemalint.deploy.prepare import for_session, prepare_requested
from schemalint.deploy.results import AppliedTable, DeployLog, DoneStep, Outcome, outcome_of, unfilled_error
from schemalint.model.contract import Contract
from schemalint.model.stream_report import StreamReport
from schemalint.model.table_plan import TablePlan
from schemalint.planner.statements import named_table, path_table
from schemalint.project import git
from schemalint.project.config.trust import ConfigOptions, TrustedTarget, find_trusted
from schemalint.spark.apply_options import ApplyOptions, Operator, Unattended
from schemalint.spark.fills.fill import TableFills
from schemalint.spark.prechecks.expressions import require_accepted
from schemalint.spark.prechecks.rows import require_clean
from schemalint.spark.session import sibling_sessions
from schemalint.spark.session_catalog import SessionCatalog, require_catalog
from schemalint.spark.session_engine import engine_of, require_delta
from schemalint.spark.session_settings import kinds_of, prepared, required_settings, session_catalog
from schemalint.spark.shared_log_store import require_shared_log_store
from schemalint.spark.snapshot_partitions import snapshots_that_fit
from schemalint.spark.statements import SqlSession, refusals_not_logged
from schemalint.spark.table_run import RecordedTable, TableRun
from schemalint.tables.catalog.contract_progress import with_progress
from schemalint.tables.catalog.target_tables import refresh_entry
from schemalint.tables.storage.table_workers import TableWorkers, Tell

T = TypeVar("T")


_BLOCKING: Final = (Outcome.REFUSED, Outcome.UNPLANNED)


@frozen
class Run:
    """What came of a run.

    Attributes:
        deployment: The plan as it was confirmed.
        results: What became of each table; None if the plan was not confirmed.
        exit_status: The exit status of the command.
    """

    deployment: Deployment
    results: tuple[AppliedTable, ...] | None
    exit_status: int


def apply(
    session: SqlSession,
    repository: str | Path = ".",
    options: ApplyOptions = ApplyOptions(),  # noqa: B008 (a value)
) -> tuple[AppliedTable, ...]:
    """Change the live tables of a target to the state that a repository declares.

    Args:
        session: A Spark session with Delta, classic or Connect.
        repository: A path in the git repository of the contracts.
        options: What is planned, and how it is run.

    Raises:
        SchemalintError: The contracts or the configuration cannot be read, or more than `max_tables` change.
    """
    with DeployLog(options.log_file) as log, refusals_not_logged():
        repo = git.open_repository(Path(repository), os.environ)
        if options.fetch:
            repo = repo.fetching_objects()
        settings = find_trusted(
            repo, os.environ, ConfigOptions(trusted_refs=options.trusted_refs, fetch=options.fetch)
        )
        via = SessionCatalog(lambda: session)
        deployment = prepare_requested(repo, settings, options, via=via, applies=True)
        return run_confirmed(deployment, lambda: session, options, Unattended(), log).results or ()


def run_confirmed(
    deployment: Deployment,
    session: Callable[[], SqlSession],
    options: ApplyOptions,
    operator: Operator,
    log: DeployLog,
) -> Run:
    """Run what the operator confirms of a plan.

    The operator is asked again if the session is an engine that the target does not name, and that gets other
    steps.

    Args:
        deployment: The plan, or what is left of a plan file.
        session: Returns the session; called only if a statement needs it.
        options: How the plan is run.
        operator: Who confirms the plan.
        log: Gets a line for each statement, for each table as it ends, and at the end.

    Raises:
        UsageError: More tables change than the options allow; or see `apply_plan`.
        ApplyError: See `apply_plan`.
    """
    require_at_most(deployment.plan, options.max_tables)
    confirmed = operator.confirm(deployment)
    if confirmed is not None and _to_run(confirmed):
        planned = for_session(deployment, lambda: engine_of(session()))
        if planned.plan.hash != deployment.plan.hash:
            operator.planned_again(planned)
            require_at_most(planned.plan, options.max_tables)
            confirmed = operator.confirm(planned)
        deployment = planned
    log.started(confirmed or deployment)
    if confirmed is None:
        status = deployment.exit_status or WaitingError.exit_status
        log.ended(status)
        return Run(deployment, None, status)
    if _to_run(confirmed):
        results = apply_plan(session(), confirmed, options, operator, log)
    else:
        results = _without_work(confirmed, log)
    errors = [result.error.exit_status for result in results if result.error is not None]
    status = worst_status([confirmed.exit_status, *errors])
    log.ended(status)
    return Run(confirmed, results, status)


def apply_plan(
    session: SqlSession,
    deployment: Deployment,
    options: ApplyOptions = ApplyOptions(),  # noqa: B008 (a value)
    operator: Operator = Unattended(),  # noqa: B008 (it has no state)
    log: DeployLog = DeployLog(None),  # noqa: B008 (writes nothing)
) -> tuple[AppliedTable, ...]:
    """Run a plan; a table that fails does not stop the others, unless the options say so.

    The expressions and the data of all tables are checked before the first statement of any table.

    Raises:
        UsageError: The session is another engine than the plan was made for, which answers otherwise.
        ApplyError: The session has no Delta, does not allow a setting that the statements need, or would
            overwrite commits of other writers; nothing was run.
    """
    work = _to_run(deployment)
    engine = None
    if work:
        require_delta(session)
        engine = engine_of(session)
        note = require_same_answers(deployment, engine)
        if note is not None:
            operator.note(note)
    require_shared_log_store(session, work, _access_of(deployment).target)
    sessions = sibling_sessions(session, min(options.jobs or 1, len(work)))
    with (
        required_settings(*sessions, kinds=kinds_of(work)),
        ExitStack() as catalog,
        operator.progress() as tell,
    ):
        if any(plan.name is None for plan in work):
            catalog.enter_context(session_catalog(*sessions))
        show = operator.sample
        if options.samples_to is not None:
            file = LineFile(Path(options.samples_to))
            catalog.callback(file.close)
            show = partial(_write_sample, file)
        may_mask = _masking_target(_access_of(deployment).target, engine)
        tables = _Tables(deployment, options, operator, log, sessions, tell, show, may_mask)
        return tables.apply(work)


def _to_run(deployment: Deployment) -> list[TablePlan]:
    """Return the plans of which something runs; a session is worth its start for these alone."""
    return [plan for plan in deployment.plan.tables if plan.has_work and not plan.refusals]


def _without_work(deployment: Deployment, log: DeployLog) -> tuple[AppliedTable, ...]:
    """Log and return the results of tables without work: up to date, refused, or not planned."""
    idle = [plan for plan in deployment.plan.tables if plan.refusals or not plan.has_work]
    results = [_idle_result(plan) for plan in idle]
    for failure in deployment.unplanned:
        results += [AppliedTable(failure.table, "", Outcome.UNPLANNED, error=failure.error)]
    return tuple(map(log.table, results))


def _idle_result(plan: TablePlan) -> AppliedTable:
    idle = AppliedTable(plan.table, plan.uri, Outcome.NOTHING, plan.version, before=plan.version)
    if plan.refusals:
        return replace(idle, outcome=Outcome.REFUSED)
    error = unfilled_error(plan)
    if error is None:
        return idle
    return replace(idle, outcome=outcome_of(error), error=error)


@frozen
class _Tables:
    """The tables of a run, each independent of the rest.

    Attributes:
        deployment: The plan.
        options: How it is run.
        operator: Who hears of it.
        log: Gets a line for each statement, and for each table as it ends.
        sessions: As many as tables that change at the same time.
        tell: Called whenever the work on a table begins or ends.
        show: Called with values of a table.
        may_mask: The target, if its platform can mask columns, and it does not say that none is masked.
    """

    deployment: Deployment
    options: ApplyOptions
    operator: Operator
    log: DeployLog
    sessions: list[SqlSession]
    tell: Tell
    show: Callable[[str], None]
    may_mask: str | None

    def apply(self, work: list[TablePlan]) -> tuple[AppliedTable, ...]:
        """Check all tables with work, run those that pass, and return the results of all tables."""
        results = {result.table: result for result in _without_work(self.deployment, self.log)}
        checked = self._each("checking", work, self._check)
        results |= {result.table: result for result in checked if result is not None}
        work = [plan for plan in work if plan.table not in results]
        blocking = [result for result in results.values() if result.outcome in _BLOCKING]
        if self.options.all_or_nothing and blocking:
            reason = f"{blocking[0].table} is {blocking[0].outcome.value} (--all-or-nothing)"
            results |= {plan.table: self._left_alone(plan, reason) for plan in work}
        else:
            applied = self._each("applying", work, partial(self._run_or_leave, failed=[]))
            results |= {result.table: result for result in applied}
        names = [plan.table for plan in self.deployment.plan.tables]
        names += [failure.table for failure in self.deployment.unplanned]
        return tuple(results[name] for name in names)

    def _each(
        self, stage: str, plans: list[TablePlan], work: Callable[[SqlSession, TablePlan], T]
    ) -> list[T]:
        """Do the work on each plan, as many at a time as there are sessions."""
        free: SimpleQueue[SqlSession] = SimpleQueue()
        for session in self.sessions:
            free.put(session)

        def in_a_free_session(plan: TablePlan) -> T:
            session = free.get()
            try:
                return work(session, plan)
            finally:
                free.put(session)

        workers = TableWorkers(len(self.sessions), self.tell)
        return workers.each(stage, in_a_free_session, plans, lambda plan: plan.table)

    @contextmanager
    def _prepared(self, session: SqlSession, plan: TablePlan) -> Iterator[None]:
        """Give a session what the statements about a table need."""
        metadata = _user_metadata(self.deployment.contracts[plan.table], self.deployment)
        storage = _access_of(self.deployment).storage
        with prepared(session, metadata), snapshots_that_fit(session, plan, storage):
            yield

    def _check(self, session: SqlSession, plan: TablePlan) -> AppliedTable | None:
        """Check a table's expressions and data; log and return its result if it is refused."""
        try:
            if plan.name is not None:
                require_catalog(session, plan.name)
            with self._prepared(session, plan):
                require_accepted(session, plan, _table_in_sql(plan))
                require_clean(session, plan, _table_in_sql(plan))
            access = _access_of(self.deployment)
            require_told_features(plan, self.deployment.contracts[plan.table], access.target, access.via)
        except SchemalintError as error:
            refused = AppliedTable(
                plan.table, plan.uri, Outcome.REFUSED, plan.version, error=error, before=plan.version
            )
            return self.log.table(refused)
        return None

    def _left_alone(self, plan: TablePlan, reason: str) -> AppliedTable:
        left = AppliedTable(
            plan.table, plan.uri, Outcome.LEFT_ALONE, plan.version, before=plan.version, reason=reason
        )
        return self.log.table(left)

    def _run_or_leave(self, session: SqlSession, plan: TablePlan, failed: list[str]) -> AppliedTable:
        """Run a table's plan, unless the run is to end with a table that failed."""
        if failed and self.options.fail_fast:
            return self._left_alone(plan, f"{failed[0]} failed (--fail-fast)")
        result = self.log.table(self._run(session, plan))
        if result.outcome is Outcome.FAILED:
            failed.append(plan.table)
        return result

    def _run(self, session: SqlSession, plan: TablePlan) -> AppliedTable:
        done: list[DoneStep] = []
        result = AppliedTable(plan.table, plan.uri, Outcome.APPLIED, before=plan.version)
        try:
            with self._prepared(session, plan):
                recorded = self._run_steps(session, plan, done)
        except SchemalintError as error:
            last = done[-1].version if done else plan.version
            return replace(result, outcome=outcome_of(error), version=last, done=tuple(done), error=error)
        result = replace(result, version=recorded.version, done=tuple(done), unmarked=recorded.problem)
        if not plan.steps:
            return replace(result, outcome=Outcome.RECORDED)
        contract, tables = self.deployment.contracts[plan.table], _access_of(self.deployment).tables()
        stale = refresh_entry(contract, tables)
        return replace(result, stale=stale, streams=_streams(plan, self.deployment))

    def _run_steps(self, session: SqlSession, plan: TablePlan, done: list[DoneStep]) -> RecordedTable:
        contract, tables = self.deployment.contracts[plan.table], _access_of(self.deployment).tables()
        read = partial(tables.read, contract)
        tell = self.operator.step_begins
        run = TableRun(session, plan, _table_in_sql(plan), read, tell, done, self.log.step)
        run.rewrite_attempts = self.options.attempts
        run.fills = TableFills(
            session,
            run.table,
            run.read_existing,
            partial(tables.told_rows, contract, plan.uri),
            self.options.fills,
            lambda text: self.operator.note(f"{plan.table}: {text}"),
            lambda text: self.show(f"{plan.table}: {text}"),
            self.may_mask,
        )
        run.run_steps()
        if any(step.rewrite is not None for step in plan.unfilled) and (error := unfilled_error(plan)):
            raise error
        recorded = run.record(contract, self.deployment.revision)
        if (error := unfilled_error(plan, run.unfilled)) is not None:
            raise error
        return recorded


def _masking_target(target: TrustedTarget, engine: Engine | None) -> str | None:
    """Return a target whose sessions may see masks: on Databricks, unless it says that they see none."""
    may = any(known is not None and known.name == DATABRICKS for known in (target.engine, engine))
    return target.name if may and not target.unmasked else None


def _write_sample(file: LineFile, text: str) -> None:
    file.write(terminal_text([text]))


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


def _table_in_sql(plan: TablePlan) -> str:
    if plan.name is not None:
        return named_table(plan.name)
    return path_table(plan.uri)


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
