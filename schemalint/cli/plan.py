"""``schemalint plan``."""

from __future__ import annotations

import os

import click

from schemalint.base.errors import GitError, UsageError
from schemalint.base.values import frozen
from schemalint.cli import print_note
from schemalint.cli._connection import Spark, catalog_of, repository_settings, spark_for
from schemalint.cli._deploy_options import base_of_change, deploy_options, print_unplanned
from schemalint.cli._options import (
    PENDING,
    color_option,
    engine_option,
    examples,
    is_colored,
    write_report,
)
from schemalint.cli._output import show
from schemalint.cli._progress import table_workers
from schemalint.cli._typed import Connection, takes
from schemalint.delta.engine import Engine
from schemalint.deploy.deploy_input import Deployment, DeployOptions, only_changed
from schemalint.deploy.prepare import prepare_requested
from schemalint.project import git
from schemalint.report import plan as plans
from schemalint.report.proof_texts import proof_lines


@frozen
class PlanOptions:
    """The options of ``plan``."""

    output_format: str
    out: str | None
    changed: bool | None
    against: str | None
    color: str
    exit_code: bool
    prove: bool
    engine: Engine | None
    deploy: DeployOptions
    connection: Connection

    def require_consistent(self) -> None:
        """Refuse the options of a session without one."""
        self.connection.require_session()
        if self.prove and not self.connection.via:
            raise UsageError("--prove counts rows, and needs a session", help="add --via spark")


@click.command(
    "plan",
    epilog=examples(
        "schemalint plan --target prod",
        "schemalint plan --target prod sales.orders --output-format sql",
    ),
)
@deploy_options(default_head="worktree")
@click.option(
    "--output-format",
    type=click.Choice(plans.names()),
    default="text",
    show_default=True,
    help="Format of the plan",
)
@click.option("-o", "--out", metavar="FILE", help="Write the plan to a file too, as JSON")
@click.option(
    "--changed/--all",
    default=None,
    help="Plan the tables whose declaration differs from the merge base's, or all; default: --changed in "
    "the run of a pull request, unless TABLES are given",
)
@click.option(
    "--against",
    metavar="BASE",
    help="Show the changes from this base: REV, merge-base:REV or tag:PATTERN",
)
@engine_option("Plan for this engine, such as 'delta-spark 3.3.2'; in CI refuse what it refuses too")
@color_option
@click.option("--exit-code", is_flag=True, help="Exit with 4 if the plan has statements")
@click.option(
    "--prove",
    is_flag=True,
    help="With --via spark: count the rows that fills and drops would find; reads the tables",
)
@takes(PlanOptions)
def command(options: PlanOptions) -> int:
    """Show the statements that apply the contracts to the live tables.

    TABLES are names of declared tables; by default all are planned. For each statement the plan shows its
    source in the contract, its cost, its effects on readers and writers, and how to undo it; and for each
    table what happens to the declared streams, with the settings that unblock them.

    A table with a fill has a statement as long as both columns exist: writers may add rows to fill, and only
    `apply` counts them.

    The format sql is for other tools that run SQL: everything but the statements is a comment. Afterwards
    `check --live --all --strict` verifies the tables.
    """
    changed, against = options.changed, options.against
    repository, settings = repository_settings(options.connection)
    base = None
    if changed or against is not None:
        base = base_of_change(repository, settings, against, options.deploy)
    elif changed is None and git.is_review(os.environ) and not options.deploy.tables:
        try:
            base = base_of_change(repository, settings, against, options.deploy)
        except git.MissingHistoryError:
            raise
        except GitError as error:  # the run has not checked out the change
            print_note(f"note: {error.message}: all tables are planned")
    with spark_for(settings, options.connection) as spark, table_workers(options.connection) as workers:
        via = catalog_of(spark)
        deployment = prepare_requested(
            repository, settings, options.deploy, via=via, workers=workers, engine=options.engine
        )
        if base is not None:
            deployment = only_changed(deployment, base)
        if options.prove and spark is not None:
            deployment = _with_proofs(spark, deployment)
    if options.out is not None:
        write_report(plans.get("json").render(deployment), options.out)
    colored = is_colored(options.color, None)
    text = plans.get(options.output_format).render(deployment, color=colored)
    show(text, color=colored or None)
    print_unplanned(deployment)
    for line in proof_lines(deployment):
        print_note(line)
    if (status := deployment.exit_status) or not options.exit_code or deployment.plan.is_empty:
        return status
    if deployment.plan.only_fills:
        print_note("note: all columns are there, and rows may be left to fill: apply counts them")
    return PENDING


def _with_proofs(spark: Spark, deployment: Deployment) -> Deployment:
    """Count the rows that fills would find, unless the change may be a stranger's.

    Raises:
        UsageError: It may be.
        ApplyError: The session cannot count them.
    """
    from schemalint.spark.session_questions import with_proofs  # noqa: PLC0415 (pyspark loads only when needed)

    if (why := git.foreign_head(os.environ)) is not None:
        raise UsageError(
            f"--prove evaluates expressions of the contracts over rows, and {why}",
            help="prove the plan after the merge",
        )
    return with_proofs(spark.session, deployment)
