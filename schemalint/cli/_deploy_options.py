"""What `plan` and `apply` have in common."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import click

from schemalint import git
from schemalint.catalog import Catalog
from schemalint.catalog.table_location import choose_target
from schemalint.cli import print_error
from schemalint.cli._options import F, local_plugins_option, project_options
from schemalint.cli._spark_options import via_options, with_spark_options
from schemalint.config.project import Project, open_project
from schemalint.deploy import DeployInput, Deployment, prepare
from schemalint.lint.rulebook import rules_for_apply, selection_of
from schemalint.model.plan import Approval


def deploy_options(default_head: str) -> Callable[[F], F]:
    """Which contracts go where, and what is approved."""

    def decorated(function: F) -> F:
        for option in (
            local_plugins_option,
            click.option("--repair-drift", is_flag=True, help="Overwrite what somebody altered."),
            click.option("--allow-older", is_flag=True, help="Apply although the table was brought further."),
            click.option("--reorder", is_flag=True, help="Move columns to the declared order."),
            click.option("--base", metavar="REV", help="What was applied last, if the table does not tell."),
            click.option(
                "--allow",
                multiple=True,
                type=click.Choice([one.value for one in Approval]),
                help="Approve such steps.",
            ),
            click.option(
                "--head", default=default_head, show_default=True, metavar="SIDE", help="worktree or REV."
            ),
            via_options,
            click.option("--target", metavar="NAME", help="The environment."),
            click.argument("tables", nargs=-1),
        ):
            function = option(function)
        return project_options(function)

    return decorated


def deploy_project(options: dict[str, Any]) -> Project:
    """The project whose contracts go somewhere."""
    return with_spark_options(open_project(options["config_file"], isolated=options["isolated"]), options)


def prepare_deployment(
    here: Project, options: dict[str, Any], *, via: Catalog | None, applies: bool = False
) -> Deployment:
    """The plan of what was asked for; ``applies`` if it is to be carried out.

    See `DeployInput` for ``via``.
    """
    local_from = here.repository.root if options["allow_local_plugins"] else None
    request = DeployInput(
        repository=here.repository,
        config=here.config,
        target=choose_target(here.config, options["target"]),
        head=git.find_head(here.repository, options["head"], os.environ),
        rules=rules_for_apply(selection_of(here.config, local_from)),
        tables=options["tables"],
        allow=frozenset(options["allow"]),
        allow_older=options["allow_older"],
        repair_drift=options["repair_drift"],
        base=options["base"],
        reorder=options["reorder"],
        applies=applies,
        via=via,
    )
    return prepare(request)


def print_unplanned(deployment: Deployment) -> None:
    """Say on standard error which tables could not be planned, and why: what is wrong may hold for many."""
    for one in deployment.unplanned:
        print_error(one.error, about=one.table)
