"""Options and steps that `plan` and `apply` share."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from schemalint import git
from schemalint.catalog import Catalog
from schemalint.catalog.table_location import choose_target
from schemalint.cli import print_error, print_note, report_bugs
from schemalint.cli._completion import table_names
from schemalint.cli._options import F, local_plugins_option, project_options, target_option
from schemalint.cli._progress import READ_IN_PARALLEL, table_workers, workers_options
from schemalint.cli._spark_options import via_options
from schemalint.config.trust import Trusted
from schemalint.deploy import DeployInput, Deployment, prepare
from schemalint.deploy.approvals import require_hashes
from schemalint.deploy.earlier_target import read_deploy_log
from schemalint.deploy.last_applied import resolved_base
from schemalint.lint.rulebook import rules_for_apply, selection_of
from schemalint.model.plan import Approval
from schemalint.values import replace


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


def prepare_deployment(
    repository: git.Repository,
    settings: Trusted,
    options: dict[str, Any],
    *,
    via: Catalog | None,
    applies: bool = False,
) -> Deployment:
    """Plan the requested tables.

    Args:
        repository: The repository whose contracts are deployed.
        settings: The configuration.
        options: The options of the command.
        via: See `DeployInput`.
        applies: Whether the command executes the plan.
    """
    local = settings.rule_files(repository) if options["allow_local_plugins"] else None
    target = choose_target(settings, options["target"])
    after = None
    if (log := options["after"]) is not None:
        after = read_deploy_log(log, target, settings.targets)
    request = DeployInput(
        repository=repository,
        settings=settings,
        target=target,
        head=git.find_head(repository, options["head"], os.environ),
        rules=rules_for_apply(selection_of(settings.config, local)),
        tables=options["tables"],
        allow=frozenset(options["allow"]),
        approved=require_hashes(options.get("approved", ())),
        allow_older=options["allow_older"],
        repair_drift=options["repair_drift"],
        base=git.retry_with_fetch(
            repository, lambda: resolved_base(repository, options["base"]), fetch=options["fetch"]
        ),
        reorder=options["reorder"],
        cosmetic=options["cosmetic"],
        require_streams=options.get("require_streams", False),
        applies=applies,
        via=via,
        after=after,
        local=local,
    )
    with table_workers(options) as workers:
        request = replace(request, workers=workers)
        deployment = prepare(request)
        errors = [unplanned.error for unplanned in deployment.unplanned]
        commands = {error.command for error in errors if isinstance(error, git.MissingHistoryError)} - {()}
        if not (options["fetch"] and commands):
            return deployment
        for command in sorted(commands):
            git.fetch_missing(repository, command)
        return prepare(request)


def base_of_change(
    repository: git.Repository, settings: Trusted, against: str | None, options: dict[str, Any]
) -> git.Side:
    """Return the base of the change under review, as `check` finds it."""
    against = against or (None if git.is_ci(os.environ) else settings.config.against)
    head = git.find_head(repository, options["head"], os.environ)
    return git.find_base(repository, head, against, os.environ, fetch=options["fetch"])


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
