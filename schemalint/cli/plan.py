"""``schemalint plan``."""

from __future__ import annotations

import os
from typing import Any

import click

from schemalint import git
from schemalint.cli import print_note
from schemalint.cli._deploy_options import base_of_change, deploy_options, prepare_deployment, print_unplanned
from schemalint.cli._options import PENDING, color_option, examples, is_colored, write_report
from schemalint.cli._output import show
from schemalint.cli._settings import repository_settings
from schemalint.cli._spark_options import spark_for
from schemalint.deploy.changed import only_changed
from schemalint.errors import GitError
from schemalint.report import plan as plans


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
@color_option
@click.option("--exit-code", is_flag=True, help="Exit with 4 if the plan has statements")
def command(
    output_format: str,
    *,
    out: str | None,
    changed: bool | None,
    against: str | None,
    color: str,
    exit_code: bool,
    **options: Any,  # noqa: ANN401
) -> int:
    """Show the statements that apply the contracts to the live tables.

    TABLES are names of declared tables; by default all are planned. For each statement the plan shows its
    source in the contract, its cost, its effects on readers and writers, and how to undo it; and for each
    table what happens to the declared streams, with the settings that unblock them.

    The format sql is for other tools that run SQL: everything but the statements is a comment. Afterwards
    `plan --exit-code` exits with 0 if no statement is left, and `check --live --all --strict` verifies the
    tables.
    """
    repository, settings = repository_settings(options)
    base = None
    if changed or against is not None:
        base = base_of_change(repository, settings, against, options)
    elif changed is None and git.is_review(os.environ) and not options["tables"]:
        try:
            base = base_of_change(repository, settings, against, options)
        except git.MissingHistoryError:
            raise
        except GitError as error:  # the run has not checked out the change
            print_note(f"note: {error.message}: all tables are planned")
    with spark_for(settings, options) as spark:
        deployment = prepare_deployment(repository, settings, options, via=spark.catalog if spark else None)
        if base is not None:
            deployment = only_changed(deployment, base)
    if out is not None:
        write_report(plans.get("json").render(deployment), out)
    colored = is_colored(color, None)
    text = plans.get(output_format).render(deployment, color=colored)
    show(text, color=colored or None)
    print_unplanned(deployment)
    status = deployment.exit_status
    return status or (PENDING if exit_code and not deployment.plan.is_empty else 0)
