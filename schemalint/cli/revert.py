"""``schemalint revert``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from schemalint.cli import print_error
from schemalint.cli._options import PENDING, project_options
from schemalint.cli._spark_options import spark_for, via_options, with_spark_options
from schemalint.config.project import Project, open_project
from schemalint.errors import SchemalintError
from schemalint.printable import printable

if TYPE_CHECKING:
    from schemalint.catalog import Catalog
    from schemalint.cli._spark_options import Spark
    from schemalint.deploy import Deployment
    from schemalint.revert import Reverted

_RESTORE = (
    "The other way: RESTORE TABLE … TO VERSION AS OF an earlier one brings dropped columns and narrower\n"
    "types back, and takes away every row that was written since."
)


@click.command("revert")
@click.argument("table")
@click.option(
    "--to", metavar="REV", help="Go back to this revision's declaration, not to the last other one."
)
@click.option("--diff", "--dry-run", "show_diff", is_flag=True, help="Show the changes; write nothing.")
@click.option("--target", metavar="NAME", help="The environment whose table the plan is shown for.")
@via_options
@project_options
def command(table: str, *, to: str | None, show_diff: bool, **options: Any) -> int:  # noqa: ANN401
    """Edit a contract so that it takes its last change back, and show the plan.

    TABLE is a name. The contract is edited where it stands; comments and order stay. Columns get their names
    of before, those that came since are listed under `dropped`, those that were dropped come back empty,
    properties and constraints get their values of before, or null. What Delta never takes back stays, and is
    said: wider types, columns that may be null, features. A plain `git revert` asks for all that, and fails.

    With --diff the status is 4 if something would change.
    """
    here = with_spark_options(open_project(options["config_file"], isolated=options["isolated"]), options)
    with spark_for(here, options) as spark:
        found = _reverted(here, table, to)
        if found.before == found.after:
            click.echo(f"{printable(found.table)}: nothing to take back since {found.commit[:12]}", err=True)
            return 0
        if show_diff:
            click.echo(found.diff, nl=False)
            return PENDING
        _write(here, found)
        _show_plan(here, found.table, options["target"], spark)
    return 0


def _reverted(here: Project, table: str, to: str | None) -> Reverted:
    from schemalint.revert import revert  # noqa: PLC0415 (the others start without)

    found = revert(here.repository, here.config.contracts, table, to)
    for note in found.notes:
        click.echo(f"note: {printable(note)}", err=True)
    return found


def _write(here: Project, found: Reverted) -> None:
    from schemalint.pull.files import PulledFile  # noqa: PLC0415

    PulledFile(here.repository.root / found.file, found.before, found.after).write()
    click.echo(f"updated {printable(found.file)}: as at {found.commit[:12]}, as far as Delta goes", err=True)


def _show_plan(here: Project, table: str, target: str | None, spark: Spark | None) -> None:
    """The plan of the edited contract, where a target can be reached; else how to get it."""
    from schemalint.report.plan import text as plan_text  # noqa: PLC0415

    how = printable(f"schemalint plan {table}")
    if not here.config.targets:
        click.echo(f"no target is configured; once there is one: {how}", err=True)
        return
    try:
        deployment = _planned(here, table, target, spark.catalog if spark else None)
    except SchemalintError as error:
        print_error(error)
        click.echo(f"the plan could not be made; once the target can be reached: {how}", err=True)
        return
    click.echo(plan_text.render(deployment), nl=False)
    for one in deployment.unplanned:
        print_error(one.error)
    click.echo(_RESTORE)


def _planned(here: Project, table: str, target: str | None, via: Catalog | None) -> Deployment:
    from schemalint.catalog.table_location import choose_target  # noqa: PLC0415
    from schemalint.deploy import DeployInput, prepare  # noqa: PLC0415
    from schemalint.git import Worktree  # noqa: PLC0415
    from schemalint.lint.rulebook import rules_for_apply, selection_of  # noqa: PLC0415

    return prepare(
        DeployInput(
            here.repository,
            here.config,
            choose_target(here.config, target),
            Worktree(),
            rules_for_apply(selection_of(here.config, None)),
            (table,),
            via=via,
        )
    )
