"""``schemalint plan``."""

from __future__ import annotations

from typing import Any

import click

from schemalint.cli._deploy_options import deploy_options, deploy_project, prepare_deployment, print_unplanned
from schemalint.cli._options import PENDING, is_colored, write_report
from schemalint.cli._spark_options import spark_for
from schemalint.deploy import Deployment
from schemalint.report import plan as plans


@click.command("plan")
@deploy_options(default_head="worktree")
@click.option("--output-format", type=click.Choice(plans.names()), default="text")
@click.option("--out", metavar="FILE", help="Write the plan there too, as JSON, whatever is shown.")
@click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto")
@click.option("--exit-code", is_flag=True, help="Status 4 if there is something to do.")
def command(output_format: str, *, out: str | None, color: str, exit_code: bool, **options: Any) -> int:  # noqa: ANN401
    """Show the statements that would bring the live tables to the declared state.

    TABLES are names; all contracts if there are none. Of each statement it is said where in the contract it
    comes from, what it costs, what others notice of it, which declared streams stop, and how it is undone.

    As sql all but the statements stands in comments. Let `check --live --all --strict` prove what became of
    them, and `plan --exit-code` that none is left: there a table that only awaits the record of what is
    applied does not count.
    """
    here = deploy_project(options)
    with spark_for(here, options) as spark:
        deployment = prepare_deployment(here, options, via=spark.catalog if spark else None)
    if out is not None:
        write_report(plans.get("json").render(deployment), out)
    colored = is_colored(color, None)
    text = plans.get(output_format).render(deployment, color=colored)
    click.echo(text, nl=False, color=colored or None)
    print_unplanned(deployment)
    status = status_of(deployment)
    return status or (PENDING if exit_code and not deployment.plan.is_empty else 0)


def status_of(deployment: Deployment) -> int:
    """2 if a table could not be planned, 1 if a rule refuses one, 4 if one awaits approval, else 0."""
    refusals = [refusal for plan in deployment.plan.tables for refusal in plan.refusals]
    barred = [refusal for refusal in refusals if refusal.awaits is None]
    if deployment.unplanned or not all(refusal.is_finding for refusal in barred):
        return max([2, *(one.error.exit_status for one in deployment.unplanned)])
    return 1 if barred else PENDING if refusals else 0
