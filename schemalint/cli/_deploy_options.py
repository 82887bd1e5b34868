"""Options and steps that `plan` and `apply` share, and the file of ``apply --plan FILE``."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from schemalint.base.errors import UsageError
from schemalint.cli import print_error, print_note, report_bugs
from schemalint.cli._completion import table_names
from schemalint.cli._connection import settings_without_contracts, via_options
from schemalint.cli._options import F, local_plugins_option, project_options, target_option, together
from schemalint.cli._progress import READ_IN_PARALLEL, workers_options
from schemalint.cli._typed import Connection
from schemalint.deploy.approvals import require_hashes
from schemalint.deploy.deploy_input import Deployment, DeployOptions
from schemalint.deploy.other_engine import NEWEST
from schemalint.deploy.plan_file import read_plan_file
from schemalint.deploy.resume import ResumeInput
from schemalint.model.table_plan import Approval
from schemalint.project import git
from schemalint.project.config.trust import Trusted
from schemalint.project.git import Repository, resolve
from schemalint.tables.catalog.table_location import choose_target


def deploy_options(default_head: str, jobs_help: str = READ_IN_PARALLEL) -> Callable[[F], F]:
    """Add the options that choose contracts, target and approvals."""
    return together(
        project_options,
        click.argument("tables", nargs=-1, shell_complete=table_names),
        target_option("Use this target of the configuration"),
        workers_options(jobs_help),
        via_options,
        click.option(
            "--after",
            metavar="FILE",
            help="Apply only tables that this deploy log of the previous target reports as applied; "
            "exit with 4 for others",
        ),
        click.option(
            "--head",
            default=default_head,
            show_default=True,
            metavar="SIDE",
            help="Read the contracts from this side: worktree or REV",
        ),
        click.option(
            "--allow",
            multiple=True,
            type=click.Choice([approval.value for approval in Approval]),
            help="Approve protocol upgrades, destructive steps, steps that fill columns, or rewrites",
        ),
        click.option(
            "--base",
            metavar="REV",
            help='Commit last applied, for tables without a marker; "none" if never',
        ),
        click.option(
            "--cosmetic",
            type=click.Choice(["now", "ride-along"]),
            help="Apply comments and column order now, or with the next change of a table that a "
            "tracked stream reads",
        ),
        click.option("--reorder", is_flag=True, help="Move columns to the declared order"),
        click.option("--allow-older", is_flag=True, help="Apply a revision older than the one last applied"),
        click.option("--repair-drift", is_flag=True, help="Overwrite changes made outside of the contracts"),
        local_plugins_option,
    )


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


_OF_PLANNING: Final = (
    *("head", "base", "allow", "allow_older", "repair_drift", "reorder", "cosmetic", "after"),
)
"""The options that only choose what is planned: a plan file says it already."""

_COMMIT: Final = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


def require_no_planning() -> None:
    """Refuse options of the running command that have no effect on a plan file."""
    context = click.get_current_context()
    for name in _OF_PLANNING:
        if name in context.params and context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} has no effect with --plan", help=f"plan --out with {option}")


def opened_plan_file(
    path: str, revision: str | None, options: DeployOptions, connection: Connection
) -> ResumeInput:
    """Return the input of ``apply --plan``; it has no catalog of a session yet.

    Raises:
        SchemalintError: The file is not a plan, no configuration counts, or the revision is unknown.
    """
    file = read_plan_file(path)
    repository, settings = settings_without_contracts(connection)
    target = choose_target(settings, options.target or file.target)
    if file.engine != target.engine:
        raise UsageError(
            f"{path} is a plan for {file.engine or NEWEST}, and the engine of target {target.name} is "
            f"{target.engine or 'not named'}",
            help="plan again",
        )
    return ResumeInput(
        file,
        path,
        settings,
        target,
        Path.cwd() if repository is None or repository.bare else repository.root,
        approved=require_hashes(options.approved),
        tables=tuple(options.tables),
        revision=None if revision is None else _confirmed(revision, repository),
        require_streams=options.require_streams,
    )


def _confirmed(revision: str, repository: Repository | None) -> str:
    """Return the full id of a commit; without git the user must give it.

    Raises:
        UsageError: The text is no full id of a commit, or git reads no revision in it.
        MissingHistoryError: The repository has no such commit.
    """
    if repository is not None:
        return resolve(repository, revision)
    if not _COMMIT.fullmatch(revision):
        raise UsageError(f"--revision {revision} is not the full id of a commit", help="git rev-parse HEAD")
    return revision
