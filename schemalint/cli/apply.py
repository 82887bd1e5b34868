"""``schemalint apply``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from schemalint.base.errors import UsageError, worst_status
from schemalint.base.values import frozen, replace
from schemalint.cli import print_error, print_note
from schemalint.cli._connection import repository_settings, running_spark
from schemalint.cli._deploy_options import (
    deploy_options,
    opened_plan_file,
    print_unplanned,
    require_no_planning,
)
from schemalint.cli._options import PENDING, examples
from schemalint.cli._output import can_ask, confirmed, show
from schemalint.cli._progress import JOBS, table_workers
from schemalint.cli._typed import Connection, takes
from schemalint.deploy.approvals import (
    is_approved_by_hash,
    missing_approvals,
    require_at_most,
    unused_hashes,
    without_unapproved,
)
from schemalint.deploy.deploy_input import Deployment
from schemalint.deploy.prepare import DeployOptions, for_session, prepare_requested
from schemalint.deploy.results import AppliedTable, DeployLog, Outcome, warnings
from schemalint.deploy.resume import resume
from schemalint.model.table_plan import RefusalKind
from schemalint.report import deploy_log
from schemalint.report.plan import text as plan_text
from schemalint.report.text_helpers import counted
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.fill import FillLimits
from schemalint.spark.runner import apply_plan, status_after, without_work
from schemalint.tables.catalog.table_location import choose_target

_JOBS = 4


@frozen
class ApplyCommand:
    """The options of ``apply``."""

    yes: bool
    plan_file: str | None
    revision: str | None
    all_or_nothing: bool
    fail_fast: bool
    max_tables: int | None
    output_format: str
    log_file: str | None
    max_bytes: int | None
    samples: bool
    deploy: DeployOptions
    connection: Connection

    def require_consistent(self) -> None:
        """Refuse a revision without a plan, and what a plan file says already."""
        if self.plan_file is not None:
            require_no_planning()
        elif self.revision is not None:
            raise UsageError("--revision has no effect without --plan", help="--head is the revision")


@click.command(
    "apply",
    epilog=examples(
        "schemalint apply --target prod",
        "schemalint apply --target prod --yes sales.orders",
    ),
)
@deploy_options(
    default_head="HEAD",
    jobs_help=f"Read and change N tables in parallel; by default read {JOBS} and change {_JOBS}",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Skip the question; steps that need an approval stay refused without one",
)
@click.option(
    "--approved",
    multiple=True,
    metavar="HASH",
    help="Approve the steps with this hash, of a table or of a whole plan",
)
@click.option(
    "--plan",
    "plan_file",
    metavar="FILE",
    help="Apply a file from `plan --out`; resumes where it stopped",
)
@click.option("--revision", metavar="SHA", help="With --plan: the commit that the markers name")
@click.option(
    "--require-streams",
    is_flag=True,
    help="Exit with 4 while a declared stream has not read its table to the end",
)
@click.option("--all-or-nothing", is_flag=True, help="Change no table if one is refused or cannot be planned")
@click.option(
    "--fail-fast/--keep-going",
    "fail_fast",
    default=False,
    help="Stop after a table failed, or (default) go on with the others",
)
@click.option(
    "--max-tables",
    type=click.IntRange(min=0),
    metavar="N",
    help="Exit with 2, and change nothing, if the plan changes more than N tables",
)
@click.option(
    "--with-packages",
    is_flag=True,
    help="Let Spark download the packages that the target's object store needs",
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the results",
)
@click.option(
    "--log",
    "log_file",
    metavar="FILE",
    help="Write the deploy log to FILE while tables change: one JSON object per line",
)
@click.option(
    "--max-bytes",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --allow data: fill the rows of at most N bytes of data files for each column",
)
@click.option(
    "--samples",
    is_flag=True,
    help="With --allow data: show some values that do not convert; they end up in the log of CI",
)
@takes(ApplyCommand)
def command(options: ApplyCommand) -> int:
    """Apply the contracts to the live tables, with Spark.

    TABLES are names of declared tables; by default all are applied. The command shows the plan and asks for
    confirmation. Without a terminal and without --yes it changes nothing and exits with 4. It does not ask
    if --approved, or approved-plans in the configuration, has the hashes of all steps.

    Tables change in parallel, and a failed table does not stop the others, unless --fail-fast is given; the
    report says which tables were left alone and why, and a second run executes the rest.
    After the last commit of a table the command prints the settings that its blocked streams need.
    With --plan the file alone says what to do: contracts are not read, and tables outside of the plan stay
    unchanged. Steps that the tables have completed already are left out, so that the same file goes on after
    any interruption; a table that others changed is refused. The steps run only with --approved,
    approved-plans or the answer in a terminal: --yes approves no file.
    With --log the command first empties FILE, then writes a line at once for each statement and each table
    that ends, and a last one with the exit status; `schemalint schema deploy-log` describes them.
    """
    as_json = options.output_format == "json"
    with DeployLog(Path(options.log_file) if options.log_file is not None else None) as log:
        if options.plan_file is None:
            journal = None
            repository, settings = repository_settings(options.connection)
            target = choose_target(settings, options.connection.target)
        else:
            journal = opened_plan_file(
                options.plan_file, options.revision, options.deploy, options.connection
            )
            settings, target = journal.settings, journal.target
        with running_spark(settings.spark, options.connection, target) as spark:
            with table_workers(options.connection) as workers:
                deployment = (
                    resume(replace(journal, via=spark.catalog, workers=workers))
                    if journal is not None
                    else prepare_requested(
                        repository,
                        settings,
                        options.deploy,
                        via=spark.catalog,
                        applies=True,
                        workers=workers,
                    )
                )
            show(plan_text.render(deployment), err=as_json)
            print_unplanned(deployment)
            require_at_most(deployment.plan, options.max_tables)
            decided = _decided(deployment, yes=options.yes)
            if decided is not None and journal is None:
                planned = for_session(deployment, lambda: spark.engine)
                if planned.plan.hash != deployment.plan.hash:
                    print_note(
                        f"note: the session is {planned.engine}, which no target names: planned again for it"
                    )
                    show(plan_text.render(planned), err=as_json)
                    decided = _decided(planned, yes=options.yes)
                deployment = planned
            log.started(decided or deployment)
            if decided is None:
                log.ended(status := deployment.exit_status or PENDING)
                return _with_problem_of(log, status)
            deployment = decided
            has_work = any(plan.has_work for plan in deployment.plan.tables)
            with table_workers(options.connection) as workers:
                apply_options = ApplyOptions(
                    lambda plan, step: print_note(deploy_log.step_line(plan, step)),
                    options.connection.jobs or _JOBS,
                    options.all_or_nothing,
                    fail_fast=options.fail_fast,
                    note=lambda text: print_note(f"note: {text}"),
                    progress=workers.tell,
                    log=log,
                    fills=FillLimits(options.max_bytes, options.samples),
                )
                results = (
                    apply_plan(spark.session, deployment, apply_options)
                    if has_work
                    else without_work(deployment, log)
                )
        status = status_after(deployment, results)
        log.ended(status)
    _print_results(results, quiet=as_json)
    if as_json:
        show(deploy_log.as_json(deployment, results, status))
    return _with_problem_of(log, status)


def _with_problem_of(log: DeployLog, status: int) -> int:
    """Print why lines of the log are missing, and return the exit status."""
    if log.problem is None:
        return status
    print_error(log.problem)
    return worst_status([status, log.problem.exit_status])


def _decided(deployment: Deployment, *, yes: bool) -> Deployment | None:
    """Return the deployment with only approved steps; None if it waits for a confirmation."""
    for unused in unused_hashes(deployment):
        print_note(f"warning: {unused} matches no pending step: the plan changed, or it already ran")
    if deployment.approved is not None:  # --yes approves no plan file
        yes = not can_ask()
    if yes or deployment.plan.is_empty or is_approved_by_hash(deployment):
        decided = without_unapproved(deployment)
        for plan in decided.plan.tables:
            for refusal in plan.refusals:
                if refusal.kind is RefusalKind.APPROVAL:
                    print_note(f"{plan.table}: {refusal.reason}")
                    print_note(f"  help: {refusal.help}")
        return decided
    gated = sum(bool(missing_approvals(deployment, plan)) for plan in deployment.plan.tables)
    question = f"Approve the steps of {counted(gated, 'table')}, and apply this?" if gated else "Apply this?"
    if confirmed(question):
        return deployment
    if can_ask():
        print_note("nothing was changed")
    elif gated:
        needed = f"{counted(gated, 'table')} need{'s' if gated == 1 else ''} an approval"
        print_note(f"nothing was changed: {needed}; confirm the rest with --yes")
    else:
        print_note("nothing was changed: confirm the plan with --yes")
    return None


def _print_results(results: Iterable[AppliedTable], *, quiet: bool) -> None:
    """Print the result of each table, except for results that the printed plan shows already."""
    for result in results:
        is_in_plan = result.outcome in (Outcome.UNPLANNED, Outcome.NOTHING, Outcome.RECORDED) or (
            result.outcome is Outcome.REFUSED and result.error is None
        )
        if not is_in_plan and not quiet:
            show(deploy_log.text(result))
        if not is_in_plan and result.error is not None:
            print_error(result.error)
        for warning in () if quiet else warnings(result):
            print_note(f"warning: {warning}")
