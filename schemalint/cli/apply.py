"""``schemalint apply``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import click

from schemalint.base.errors import UsageError, worst_status
from schemalint.base.phrases import counted
from schemalint.base.values import frozen, replace
from schemalint.cli import print_error, print_note
from schemalint.cli._connection import Spark, repository_settings, running_spark
from schemalint.cli._deploy_options import (
    deploy_options,
    opened_plan_file,
    print_unplanned,
    require_no_planning,
)
from schemalint.cli._options import examples
from schemalint.cli._output import can_ask, confirmed, show
from schemalint.cli._progress import JOBS, shown_progress, table_workers
from schemalint.cli._typed import Connection, takes
from schemalint.deploy.approvals import (
    is_approved_by_hash,
    missing_approvals,
    unused_hashes,
    without_unapproved,
)
from schemalint.deploy.deploy_input import Deployment
from schemalint.deploy.prepare import prepare_requested
from schemalint.deploy.results import AppliedTable, DeployLog, Outcome, warnings
from schemalint.deploy.resume import resume
from schemalint.model.table_plan import RefusalKind, Step, TablePlan
from schemalint.report import deploy_log
from schemalint.report.plan import text as plan_text
from schemalint.spark.apply_options import ApplyOptions
from schemalint.spark.runner import run_confirmed
from schemalint.tables.catalog.table_location import choose_target
from schemalint.tables.storage.table_workers import Tell

_JOBS = 4


@frozen
class ApplyCommand:
    """The options of ``apply``."""

    yes: bool
    plan_file: str | None
    revision: str | None
    output_format: str
    run: ApplyOptions
    connection: Connection

    def require_consistent(self) -> None:
        """Refuse a revision without a plan, and what a plan file says already."""
        if self.plan_file is not None:
            require_no_planning()
        elif self.revision is not None:
            raise UsageError("--revision has no effect without --plan", help="--head is the revision")
        if self.run.samples and not can_ask():
            raise UsageError(
                "--samples shows values of the tables, and this is no terminal",
                help="write them to a file that strangers do not read: --samples-to FILE",
            )


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
    "--attempts",
    type=click.IntRange(min=1, max=100),
    default=1,
    show_default=True,
    metavar="N",
    help="With --allow rewrite: write a table up to N times, where commits of other writers come first",
)
@click.option(
    "--samples",
    is_flag=True,
    help="With --allow data or rewrite: show some values that do not convert, or become others; only in a "
    "terminal",
)
@click.option(
    "--samples-to",
    metavar="FILE",
    help="With --allow data or rewrite: write some values that do not convert, or become others, to FILE",
)
@takes(ApplyCommand)
def command(options: ApplyCommand) -> int:
    """Apply the contracts to the live tables, with Spark.

    TABLES are names of declared tables; by default all are applied. The command shows the plan and asks for
    confirmation. Without a terminal and without --yes it changes nothing and exits with 4. It does not ask
    if --approved, or approved-plans in the configuration, has the hashes of all steps.

    Tables change in parallel, and a failed table does not stop the others; a second run executes the rest.
    With --plan the file alone says what to do, and goes on where it stopped; its steps run only with
    --approved, approved-plans or the answer in a terminal. After the last commit of a table the command
    prints the settings that its blocked streams need.
    """
    as_json = options.output_format == "json"
    with DeployLog(options.run.log_file) as log, _planned(options) as (deployment, spark):
        show(plan_text.render(deployment), err=as_json)
        print_unplanned(deployment)
        run_options = replace(options.run, jobs=options.run.jobs or _JOBS)
        run = run_confirmed(deployment, lambda: spark.session, run_options, _User(options), log)
    if run.results is not None:
        _print_results(run.results, quiet=as_json)
        if as_json:
            show(deploy_log.as_json(run.deployment, run.results, run.exit_status))
    if log.problem is None:
        return run.exit_status
    print_error(log.problem)
    return worst_status([run.exit_status, log.problem.exit_status])


@contextmanager
def _planned(options: ApplyCommand) -> Iterator[tuple[Deployment, Spark]]:
    """Provide the plan, or what is left of a plan file, and the Spark that runs it."""
    journal = None
    if options.plan_file is None:
        repository, settings = repository_settings(options.connection)
        target = choose_target(settings, options.run.target)
    else:
        journal = opened_plan_file(options.plan_file, options.revision, options.run, options.connection)
        settings, target = journal.settings, journal.target
    with running_spark(settings.spark, options.connection, target) as spark:
        with table_workers(options.connection) as workers:
            if journal is None:
                deployment = prepare_requested(
                    repository, settings, options.run, via=spark.catalog, applies=True, workers=workers
                )
            else:
                deployment = resume(replace(journal, via=spark.catalog, workers=workers))
        yield deployment, spark


class _User:
    """The user of the command line: sees each plan, and confirms it."""

    def __init__(self, options: ApplyCommand) -> None:
        self._options = options

    def confirm(self, deployment: Deployment) -> Deployment | None:
        """Return the deployment with only approved steps; None if it waits for a confirmation."""
        for unused in unused_hashes(deployment):
            print_note(f"warning: {unused} matches no pending step: the plan changed, or it already ran")
        yes = self._options.yes
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
        return deployment if _answers_yes(deployment) else None

    def planned_again(self, deployment: Deployment) -> None:
        """Show the plan for the engine of the session."""
        print_note(f"note: the session is {deployment.engine}, which no target names: planned again for it")
        show(plan_text.render(deployment), err=self._options.output_format == "json")

    def progress(self) -> AbstractContextManager[Tell]:
        """Show how far the run has come, unless the options ask for silence."""
        return shown_progress(self._options.connection)

    def step_begins(self, plan: TablePlan, step: Step) -> None:
        """Print a statement before it runs."""
        print_note(deploy_log.step_line(plan, step))

    def note(self, text: str) -> None:
        """Print what is worth telling."""
        print_note(f"note: {text}")

    def sample(self, text: str) -> None:
        """Print values of a table."""
        print_note(text)


def _answers_yes(deployment: Deployment) -> bool:
    """Ask whether to run the plan; without a terminal, say what would confirm it."""
    gated = sum(bool(missing_approvals(deployment, plan)) for plan in deployment.plan.tables)
    question = f"Approve the steps of {counted(gated, 'table')}, and apply this?" if gated else "Apply this?"
    if confirmed(question):
        return True
    if can_ask():
        print_note("nothing was changed")
    elif gated:
        needed = f"{counted(gated, 'table')} need{'s' if gated == 1 else ''} an approval"
        print_note(f"nothing was changed: {needed}; confirm the rest with --yes")
    else:
        print_note("nothing was changed: confirm the plan with --yes")
    return False


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
