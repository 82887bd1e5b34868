"""``schemalint apply``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from schemalint.cli import print_error, print_note
from schemalint.cli._deploy_options import deploy_options, prepare_deployment, print_unplanned
from schemalint.cli._options import PENDING
from schemalint.cli._output import confirmed, show
from schemalint.cli._settings import repository_settings
from schemalint.cli._spark_options import running_spark
from schemalint.deploy.outcome import Applied, Outcome
from schemalint.deploy.plan_file import restrict_to_file
from schemalint.errors import worst_status
from schemalint.model.plan import Step, TablePlan
from schemalint.report import deploy_log
from schemalint.report.plan import text as plan_text
from schemalint.spark.runner import ApplyOptions, apply_plan, without_work

_JOBS = 4


@click.command("apply")
@deploy_options(default_head="HEAD")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation")
@click.option(
    "--plan", "plan_file", metavar="FILE", help="Apply only this plan, a file that `plan --out` wrote"
)
@click.option(
    "--require-streams",
    is_flag=True,
    help="Exit with 4 while a declared stream has not read its table to the end",
)
@click.option("--all-or-nothing", is_flag=True, help="Change no table if one is refused or cannot be planned")
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=_JOBS,
    show_default=True,
    metavar="N",
    help="Change N tables in parallel",
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the results",
)
def command(
    *,
    yes: bool,
    plan_file: str | None,
    all_or_nothing: bool,
    jobs: int,
    output_format: str,
    **options: Any,  # noqa: ANN401
) -> int:
    """Apply the contracts to the live tables, with Spark.

    TABLES are names of declared tables; by default all are applied. The command shows the plan and asks for
    confirmation. Without a terminal and without --yes it changes nothing and exits with 4.

    Tables change in parallel, and a failed table does not stop the others; a second run executes the rest.
    After the last commit of a table the command prints the settings that its blocked streams need.
    With --plan, tables that changed since the plan was written are refused, and tables outside of the plan
    stay unchanged.
    """
    repository, settings = repository_settings(options)
    as_json = output_format == "json"
    with running_spark(settings.spark, options) as spark:
        deployment = prepare_deployment(repository, settings, options, via=spark.catalog, applies=True)
        if plan_file is not None:
            deployment = restrict_to_file(deployment, plan_file)
        show(plan_text.render(deployment), err=as_json)
        print_unplanned(deployment)
        status = deployment.exit_status
        has_work = any(plan.steps or plan.writes_marker for plan in deployment.plan.tables)
        if has_work and not yes and not confirmed("Apply this?"):
            print_note("nothing was changed")
            return status or PENDING
        apply_options = ApplyOptions(_print_step, jobs, all_or_nothing, exactly=plan_file is not None)
        results = (
            apply_plan(spark.session, deployment, apply_options) if has_work else without_work(deployment)
        )
    status = worst_status(
        [status, *(result.error.exit_status for result in results if result.error is not None)]
    )
    _print_results(results, quiet=as_json)
    if as_json:
        show(deploy_log.as_json(deployment, results, status))
    return status


def _print_step(plan: TablePlan, step: Step) -> None:
    print_note(deploy_log.step_line(plan, step))


def _print_results(results: Iterable[Applied], *, quiet: bool) -> None:
    """Print the result of each table, except for results that the printed plan shows already."""
    for result in results:
        is_in_plan = result.outcome in (Outcome.UNPLANNED, Outcome.NOTHING) or (
            result.outcome is Outcome.REFUSED and result.error is None
        )
        if not is_in_plan and not quiet:
            show(deploy_log.text(result))
        if not is_in_plan and result.error is not None:
            print_error(result.error)
