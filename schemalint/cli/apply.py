"""``schemalint apply``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import click

from schemalint.cli import print_error
from schemalint.cli._deploy_options import deploy_options, deploy_project, prepare_deployment, print_unplanned
from schemalint.cli._options import PENDING
from schemalint.cli._spark_options import running_spark
from schemalint.cli.plan import status_of
from schemalint.deploy.outcome import Applied, Outcome
from schemalint.deploy.plan_file import restrict_to_file
from schemalint.model.plan import Step, TablePlan
from schemalint.printable import printable
from schemalint.report import deploy_log
from schemalint.report.plan import text as plan_text
from schemalint.report.text import first_few
from schemalint.spark.runner import ApplyOptions, apply_plan, without_work

_JOBS = 4


@click.command("apply")
@deploy_options(default_head="HEAD")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--plan", "plan_file", metavar="FILE", help="Only this plan: what `plan --out` wrote.")
@click.option("--all-or-nothing", is_flag=True, help="Do nothing if a table cannot be brought on.")
@click.option("--jobs", type=click.IntRange(1, 64), default=_JOBS, show_default=True, help="Tables at once.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
def command(
    *,
    yes: bool,
    plan_file: str | None,
    all_or_nothing: bool,
    jobs: int,
    output_format: str,
    **options: Any,  # noqa: ANN401
) -> int:
    """Bring the live tables to the declared state, with Spark.

    Shows the plan and asks. Without a terminal and without --yes nothing is changed, and the status is 4.
    TABLES are names; all contracts if there are none. Tables are brought on side by side, and one that fails
    does not stop the others; a second run does what is left. With --plan every table that is not as it was
    when that plan was made is refused, and tables that are not in it are left alone.
    """
    here = deploy_project(options)
    as_json = output_format == "json"
    with running_spark(here.config.spark, options) as spark:
        deployment = prepare_deployment(here, options, via=spark.catalog, applies=True)
        if plan_file is not None:
            deployment = restrict_to_file(deployment, plan_file)
        click.echo(plan_text.render(deployment), nl=False, err=as_json)
        print_unplanned(deployment)
        status = status_of(deployment)
        has_work = any(plan.steps or plan.record for plan in deployment.plan.tables)
        if has_work and not yes and not _confirmed():
            click.echo("nothing was changed", err=True)
            return status or PENDING
        how = ApplyOptions(_tell, jobs, all_or_nothing, exactly=plan_file is not None)
        results = apply_plan(spark.session, deployment, how) if has_work else without_work(deployment)
    status = _worst([status, *(one.error.exit_status for one in results if one.error is not None)])
    _say(results, quiet=as_json)
    if as_json:
        click.echo(deploy_log.as_json(deployment, results, status), nl=False)
    return status


def _confirmed() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and click.confirm("Apply this?")


def _tell(plan: TablePlan, step: Step) -> None:
    text = f"{plan.table}: {step.kind.value}: {'; '.join(first_few(step.reasons))}"
    click.echo(printable(text), err=True)


def _say(results: Iterable[Applied], *, quiet: bool) -> None:
    """What became of each table, beside what the plan has said already: refused, not planned, as declared."""
    for one in results:
        told = one.outcome in (Outcome.UNPLANNED, Outcome.NOTHING) or (
            one.outcome is Outcome.REFUSED and one.error is None
        )
        if not told and not quiet:
            click.echo(deploy_log.line(one))
        if not told and one.error is not None:
            print_error(one.error)


def _worst(statuses: Iterable[int]) -> int:
    """Over all tables the worst status wins: a bug before what could not be done, that before findings."""
    order = (3, 2, 1, PENDING, 0)
    return min(statuses, key=order.index)
