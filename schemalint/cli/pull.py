"""``schemalint pull``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from schemalint.cli import print_error
from schemalint.cli._options import PENDING, project_options
from schemalint.cli._spark_options import spark_for, via_options, with_spark_options
from schemalint.config.project import Project, open_project
from schemalint.errors import SchemalintError, UsageError

if TYPE_CHECKING:
    from schemalint.catalog import Catalog
    from schemalint.config import Target
    from schemalint.pull import Pulled, PullInput

ONLY = ("columns", "+properties", "all")


@click.command("pull")
@click.argument("tables", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="All tables of the target's root or catalog.")
@click.option("--match", default="*", metavar="GLOB", help="With --all: those whose names fit.")
@click.option("--into", metavar="PATTERN", help="Files of new contracts: contracts/{schema}/{table}.yml")
@click.option("--output", "-o", metavar="FILE", help="The file of a new contract; - is standard output.")
@click.option("--only", type=click.Choice(ONLY), help="How much is declared.")
@click.option("--table", "table", metavar="NAME", help="The name of the contract, where a place is given.")
@click.option("--diff", "--dry-run", "show_diff", is_flag=True, help="Show the changes; write nothing.")
@click.option("--target", metavar="NAME", help="The environment whose tables are looked at.")
@via_options
@project_options
def command(tables: tuple[str, ...], *, show_diff: bool, **options: Any) -> int:  # noqa: ANN401
    """Write contracts from live tables, or bring them up to date.

    TABLES are names, paths or URIs. A contract that is there is edited where it stands: what it does not
    manage, its comments, order and spelling stay as they are. A new one declares all there is, in the
    file that --output or --into name, else on standard output.

    With --only, less is looked at: columns, or columns and properties. For a contract that is there,
    --only all adds what it did not manage before.

    With --diff the status is 4 if something would change.
    """
    _require_sense(tables, options)
    here = with_spark_options(open_project(options["config_file"], isolated=options["isolated"]), options)
    _require_names(here, options)
    with spark_for(here, options) as spark:
        result = _pulled(here, tables, options, spark.catalog if spark else None)
    for file in result.files:
        if show_diff:
            click.echo(file.diff, nl=False)
        elif file.path is None:
            click.echo(file.after, nl=False)
        else:
            file.write()
            click.echo(f"{'wrote' if file.before is None else 'updated'} {file.name}", err=True)
    if not show_diff:
        _tell_unseen(here, result)
    for name in result.unchanged:
        click.echo(f"{name} is as declared", err=True)
    for one in result.failed:
        print_error(one.error)
    if result.failed:
        return max(one.error.exit_status for one in result.failed)
    return PENDING if show_diff and result.files else 0


def _require_sense(tables: tuple[str, ...], options: dict[str, Any]) -> None:
    if bool(tables) == options["everything"]:
        raise UsageError("which tables?", help="name some, or give --all, but not both")
    if options["everything"] and options["into"] is None:
        raise UsageError(
            "--all needs a place for new contracts", help="--into 'contracts/{schema}/{table}.yml'"
        )
    if options["output"] is not None and options["into"] is not None:
        raise UsageError("--output and --into do not go together", help="leave one of them out")
    if len(tables) > 1 and (options["output"] not in (None, "-") or options["table"] is not None):
        raise UsageError("--output and --table are for one table", help="see --into")


def _require_names(here: Project, options: dict[str, Any]) -> None:
    from schemalint.pull import require_contract_name  # noqa: PLC0415 (the others start without)

    for name in (options["output"], options["into"]):
        if name not in (None, "-"):
            require_contract_name(name, here.config.contracts)


def _tell_unseen(here: Project, result: Pulled) -> None:
    """Of new files alone: one that is kept out on purpose was there before."""
    from schemalint.pull import unseen  # noqa: PLC0415 (the others start without)

    names = {one.path: one.name for one in result.files if one.path is not None and one.before is None}
    for path in unseen(here.repository, here.config.contracts, names):
        click.echo(f"warning: no check looks at {names[path]}: see `contracts` and .gitignore", err=True)


def _pulled(here: Project, tables: tuple[str, ...], options: dict[str, Any], via: Catalog | None) -> Pulled:
    from schemalint.pull import NotPulled, Pulled, PullInput, declared_contracts, pull  # noqa: PLC0415
    from schemalint.pull.declaration import Scope  # noqa: PLC0415 (the others start without)

    target = _target(here, options["target"], via, needed=options["everything"])
    request = PullInput(
        root=here.repository.root,
        declared=declared_contracts(here.repository, here.config.contracts),
        target=target,
        scope=Scope(options["only"]) if options["only"] else Scope.MANAGED,
        table=options["table"],
        output=None if options["output"] in (None, "-") else Path(options["output"]),
        into=options["into"],
        via=via,
    )
    if target is None or not options["everything"]:
        return pull(request, tables)
    missing: list[NotPulled] = []
    found = pull(request, _found(request, target, options["match"], missing))
    if not found.files and not found.unchanged and not found.failed and not missing:
        raise UsageError(f"no table in target {target.name} fits {options['match']}")
    return Pulled(found.files, found.unchanged, (*found.failed, *missing))


def _found(request: PullInput, target: Target, match: str, missing: list[Any]) -> Iterator[str]:
    """What could be found; why that is not all goes into ``missing``."""
    from schemalint.pull import NotPulled, find  # noqa: PLC0415

    try:
        yield from find(target, match, request.root, request.via)
    except SchemalintError as error:
        missing.append(NotPulled(target.name, error))


def _target(here: Project, name: str | None, via: Catalog | None, *, needed: bool) -> Target | None:
    """The target that is named, or the only one; without one, places, or what a Spark session knows."""
    from schemalint.catalog import by_session  # noqa: PLC0415
    from schemalint.catalog.table_location import choose_target  # noqa: PLC0415
    from schemalint.config import Target  # noqa: PLC0415

    if name is None and not here.config.targets:
        if via is not None:
            return by_session(Target("none"))
        if not needed:
            return None
    return choose_target(here.config, name)
