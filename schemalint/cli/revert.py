"""``schemalint revert``."""

from __future__ import annotations

import click

from schemalint.author.contract_files import PulledFile
from schemalint.author.revert_contract import RevertedContract, revert
from schemalint.base.errors import SchemalintError
from schemalint.base.printable import document_text
from schemalint.base.values import frozen, replace
from schemalint.cli import print_error, print_note
from schemalint.cli._completion import table_names
from schemalint.cli._connection import catalog_of, repository_settings, spark_for, via_options
from schemalint.cli._options import PENDING, examples, project_options, target_option
from schemalint.cli._output import show
from schemalint.cli._typed import Connection, takes
from schemalint.contract.contract_files import contract_files
from schemalint.delta.table import TableState
from schemalint.deploy.deploy_input import DeployInput, Deployment, DeployOptions
from schemalint.deploy.prepare import prepare
from schemalint.model.contract import Contract
from schemalint.model.effective import Environment, effective
from schemalint.project.config.trust import Trusted, resolve_storage
from schemalint.project.git import Repository, Worktree
from schemalint.report.plan import text as plan_text
from schemalint.review.rulebook import rules_for_apply
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.table_location import choose_target
from schemalint.tables.catalog.target_tables import TargetTables

_RESTORE = (
    "Alternative: RESTORE TABLE … TO VERSION AS OF an earlier version brings back dropped columns and\n"
    "narrower types, and removes every row that was written since."
)


@frozen
class RevertOptions:
    """The options of ``revert``."""

    table: str
    to: str | None
    show_diff: bool
    connection: Connection

    def require_consistent(self) -> None:
        """Refuse the options of a session without one."""
        self.connection.require_session()


@click.command(
    "revert",
    epilog=examples(
        "schemalint revert sales.orders --diff --target prod",
    ),
)
@click.argument("table", shell_complete=table_names)
@click.option(
    "--to", metavar="REV", help="Revert to the contract at this revision; by default the last different one"
)
@click.option("--diff", "show_diff", is_flag=True, help="Show the changes; write nothing")
@target_option("Plan for this target")
@via_options
@project_options
@takes(RevertOptions)
def command(options: RevertOptions) -> int:
    """Edit a contract to undo its last change, and show the plan.

    TABLE is the name of a declared table. The command edits the contract file in place and keeps comments
    and order. Renamed columns get their old names, added columns are listed under `dropped`, dropped columns
    return without their data, and properties and constraints get their old values, or null.

    Delta cannot undo widened types, dropped NOT NULL constraints and added table features. They stay, and
    the command lists them. A plain `git revert` would declare their old state, which `plan` refuses. What
    the table of no target has yet, the contract takes back by itself.

    With --diff the command exits with 4 if the contract would change.
    """
    repository, settings = repository_settings(options.connection)
    with spark_for(settings, options.connection) as spark:
        via = catalog_of(spark)
        reverted = _revert(repository, settings, options.table, options.to, via)
        if reverted.before == reverted.after:
            print_note(f"{reverted.table}: nothing to revert since {reverted.commit[:12]}")
            return 0
        if options.show_diff:
            show(document_text(reverted.diff))
            return PENDING
        _write(repository, reverted)
        _show_plan(repository, settings, reverted.table, options.connection.target, via)
    return 0


def _revert(
    repository: Repository, settings: Trusted, table: str, to: str | None, via: Catalog | None
) -> RevertedContract:
    def live(contract: Contract) -> tuple[TableState, ...] | None:
        return _live_tables(repository, settings, contract, via)

    reverted = revert(repository, contract_files(settings.config), table, to, live)
    for note in reverted.notes:
        print_note(f"note: {note}")
    return reverted


def _live_tables(
    repository: Repository, settings: Trusted, contract: Contract, via: Catalog | None
) -> tuple[TableState, ...] | None:
    """Return the tables of a contract in all targets; None without targets, or if one cannot be read."""
    found: list[TableState] = []
    for target in settings.targets.values():
        of_target = effective(contract, Environment(target.name))
        try:
            tables = TargetTables(target, repository.root, resolve_storage(target), via)
            table = None if of_target.absent else tables.read(of_target)
        except SchemalintError as error:
            print_note(f"note: what was merged counts as applied: {target.name} cannot be read: {error}")
            return None
        if table is not None:
            found.append(replace(table.state, features=table.protocol.features))
    return tuple(found) if settings.targets else None


def _write(repository: Repository, reverted: RevertedContract) -> None:
    PulledFile(repository.root / reverted.file, reverted.before, reverted.after).write()
    print_note(f"updated {reverted.file}: as at {reverted.commit[:12]}, except what Delta cannot undo")


def _show_plan(
    repository: Repository, settings: Trusted, table: str, target: str | None, via: Catalog | None
) -> None:
    """Print the plan of the edited contract; if the target is unreachable, the command that plans later."""
    plan_command = f"schemalint plan {table}"
    if not settings.targets:
        print_note(f"no target is configured; when there is one, run: {plan_command}")
        return
    try:
        deployment = _plan(repository, settings, table, target, via)
    except SchemalintError as error:
        print_error(error)
        print_note(f"the plan could not be made; when the target is reachable, run: {plan_command}")
        return
    show(plan_text.render(deployment))
    for unplanned in deployment.unplanned:
        print_error(unplanned.error)
    show(document_text(_RESTORE))


def _plan(
    repository: Repository, settings: Trusted, table: str, target: str | None, via: Catalog | None
) -> Deployment:
    return prepare(
        DeployInput(
            repository,
            settings,
            choose_target(settings, target),
            Worktree(),
            rules_for_apply(settings.config),
            DeployOptions(tables=(table,)),
            via=via,
        )
    )
