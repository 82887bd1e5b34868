"""Options and steps that `plan` and `apply` share."""

from __future__ import annotations

import os
from collections.abc import Callable

import click

from schemalint.cli import print_error, print_note, report_bugs
from schemalint.cli._completion import table_names
from schemalint.cli._options import F, local_plugins_option, project_options, target_option
from schemalint.cli._progress import READ_IN_PARALLEL, workers_options
from schemalint.cli._spark_options import via_options
from schemalint.deploy import Deployment
from schemalint.deploy.options import DeployOptions
from schemalint.model.plan import Approval
from schemalint.project import git
from schemalint.project.config.trust import Trusted


def deploy_options(default_head: str, jobs_help: str = READ_IN_PARALLEL) -> Callable[[F], F]:
    """Add the options that choose contracts, target and approvals."""

    def decorated(function: F) -> F:
        for option in (
            local_plugins_option,
            click.option(
                "--repair-drift", is_flag=True, help="Overwrite changes made outside of the contracts"
            ),
            click.option(
                "--allow-older", is_flag=True, help="Apply a revision older than the one last applied"
            ),
            click.option("--reorder", is_flag=True, help="Move columns to the declared order"),
            click.option(
                "--cosmetic",
                type=click.Choice(["now", "ride-along"]),
                help="Apply comments and column order now, or with the next change of a table that a "
                "tracked stream reads",
            ),
            click.option(
                "--base",
                metavar="REV",
                help='Commit last applied, for tables without a marker; "none" if never',
            ),
            click.option(
                "--allow",
                multiple=True,
                type=click.Choice([approval.value for approval in Approval]),
                help="Approve protocol upgrades or destructive steps",
            ),
            click.option(
                "--head",
                default=default_head,
                show_default=True,
                metavar="SIDE",
                help="Read the contracts from this side: worktree or REV",
            ),
            click.option(
                "--after",
                metavar="FILE",
                help="Apply only tables that this deploy log of the previous target reports as applied; "
                "exit with 4 for others",
            ),
            via_options,
            workers_options(jobs_help),
            target_option("Use this target of the configuration"),
            click.argument("tables", nargs=-1, shell_complete=table_names),
        ):
            function = option(function)
        return project_options(function)

    return decorated


def base_of_change(
    repository: git.Repository, settings: Trusted, against: str | None, options: DeployOptions
) -> git.Side:
    """Return the base of the change under review, as `check` finds it."""
    against = against or (None if git.is_ci(os.environ) else settings.config.against)
    head = git.find_head(repository, options.head, os.environ)
    return git.find_base(repository, head, against, os.environ, fetch=options.fetch)


def print_unplanned(deployment: Deployment) -> None:
    """Print to standard error why tables have no plan; with the table, as several may have one error.

    Warnings about the target come first.
    """
    for warning in deployment.warnings:
        print_note(f"warning: {warning}")
    for unplanned in deployment.unplanned:
        location = unplanned.error.location
        is_file = location is not None and location.file == unplanned.table
        print_error(unplanned.error, table="" if is_file else unplanned.table)
    report_bugs(unplanned.error for unplanned in deployment.unplanned)
