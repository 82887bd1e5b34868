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
from schemalint.cli._options import F, local_plugins_option, project_options
from schemalint.cli._spark_options import via_options
from schemalint.config.trust import Trusted
from schemalint.deploy import DeployInput, Deployment, prepare
from schemalint.lint.rulebook import rules_for_apply, selection_of
from schemalint.model.plan import Approval


def deploy_options(default_head: str) -> Callable[[F], F]:
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
            click.option("--base", metavar="REV", help="Commit last applied, for tables without a marker"),
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
            via_options,
            click.option("--target", metavar="NAME", help="Use this target of the configuration"),
            click.argument("tables", nargs=-1),
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
    request = DeployInput(
        repository=repository,
        settings=settings,
        target=choose_target(settings, options["target"]),
        head=git.find_head(repository, options["head"], os.environ),
        rules=rules_for_apply(selection_of(settings.config, local)),
        tables=options["tables"],
        allow=frozenset(options["allow"]),
        allow_older=options["allow_older"],
        repair_drift=options["repair_drift"],
        base=options["base"],
        reorder=options["reorder"],
        cosmetic=options["cosmetic"],
        require_streams=options.get("require_streams", False),
        applies=applies,
        via=via,
    )
    return prepare(request)


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
