"""``schemalint plan``."""

from __future__ import annotations

from typing import Any

import click

from schemalint.cli import tell_error
from schemalint.cli._deploy import deploy_options, prepared
from schemalint.cli._plantext import plan_as_json, plan_as_sql, plan_as_text
from schemalint.cli._shared import PENDING
from schemalint.deploy import Deployment

_FORMATS = {"text": plan_as_text, "json": plan_as_json, "sql": plan_as_sql}


@click.command("plan")
@deploy_options(default_head="worktree")
@click.option("--output-format", type=click.Choice([*_FORMATS]), default="text")
@click.option("--exit-code", is_flag=True, help="Status 4 if there is something to do.")
def command(output_format: str, *, exit_code: bool, **options: Any) -> int:  # noqa: ANN401
    """Show the statements that would bring the live tables to the declared state.

    TABLES are names; all contracts if there are none.
    """
    deployment = prepared(options)
    click.echo(_FORMATS[output_format](deployment), nl=False)
    for one in deployment.unplanned:
        tell_error(one.error)
    status = status_of(deployment)
    return status or (PENDING if exit_code and not deployment.plan.is_empty else 0)


def status_of(deployment: Deployment) -> int:
    """2 if a table could not be planned, 1 if a rule refuses one, 4 if one awaits approval, else 0."""
    refusals = [refusal for plan in deployment.plan.tables for refusal in plan.refusals]
    barred = [refusal for refusal in refusals if refusal.awaits is None]
    if deployment.unplanned or not all(refusal.is_finding for refusal in barred):
        return max([2, *(one.error.exit_status for one in deployment.unplanned)])
    return 1 if barred else PENDING if refusals else 0
