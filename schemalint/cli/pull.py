"""``schemalint pull``."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click

from schemalint import contract as contracts
from schemalint.author.contract_files import require_contract_name
from schemalint.author.pull import pull
from schemalint.author.pull.live_declaration import Scope
from schemalint.author.pull.pull_input import (
    PullFailure,
    PullInput,
    PullResult,
    declared_contracts,
    find,
    unseen,
)
from schemalint.base.errors import UsageError
from schemalint.base.printable import document_text
from schemalint.base.values import frozen, replace
from schemalint.cli import print_error, print_note
from schemalint.cli._completion import table_names
from schemalint.cli._connection import catalog_of, repository_settings, spark_for, via_options
from schemalint.cli._options import PENDING, examples, history_option, project_options, target_option
from schemalint.cli._output import show
from schemalint.cli._progress import table_workers, workers_options
from schemalint.cli._typed import Connection, takes
from schemalint.contract.dialects.sql.printing import print_table
from schemalint.contract.made_files.dbt import print_models
from schemalint.delta.commit_engines import WHO_WROTE_NEWEST, as_setting, recent_writers
from schemalint.project import git
from schemalint.project.config.trust import Trusted, TrustedTarget, by_session, given_target
from schemalint.project.git import Repository
from schemalint.tables.catalog import Catalog
from schemalint.tables.catalog.table_location import choose_target
from schemalint.tables.storage.table_workers import TableWorkers

ONLY = ("columns", "+properties", "all")


@frozen
class PullOptions:
    """The options of ``pull``."""

    tables: tuple[str, ...]
    everything: bool
    match: str
    into: str | None
    output: str | None
    only: str | None
    table: str | None
    format: str
    show_diff: bool
    history: bool
    connection: Connection

    def require_consistent(self) -> None:
        """Refuse options that do not go together."""
        if self.tables and self.everything:
            raise UsageError("--all and table names do not go together", help="leave one of them out")
        if not self.tables and not self.everything:
            raise UsageError("no tables given", help="name tables, or give --all")
        if self.everything and self.into is None:
            raise UsageError("--all needs --into", help="for example --into 'contracts/{schema}/{table}.yml'")
        if self.output is not None and self.into is not None:
            raise UsageError("--output and --into do not go together", help="leave one of them out")
        if len(self.tables) > 1 and (self.output not in (None, "-") or self.table is not None):
            raise UsageError("--output and --table need a single table", help="for several tables see --into")
        if self.prints_only and (self.output or self.into or self.show_diff):
            raise UsageError(
                f"--format {self.format} writes no file", help="leave --output, --into and --diff out"
            )
        self.connection.require_session()

    @property
    def prints_only(self) -> bool:
        """Whether to print the tables in another format instead of writing contracts."""
        return self.format != "native"


@click.command(
    "pull",
    epilog=examples(
        "schemalint pull --target prod sales.orders --diff",
        "schemalint pull lake/sales/orders --table sales.orders",
    ),
)
@click.argument("tables", nargs=-1, shell_complete=table_names)
@click.option("--all", "everything", is_flag=True, help="Pull all tables of the target's root or catalog")
@click.option("--match", default="*", metavar="GLOB", help="With --all: pull only tables whose names match")
@click.option(
    "--into", metavar="PATTERN", help="Write new contracts to files like contracts/{schema}/{table}.yml"
)
@click.option(
    "--output", "-o", metavar="FILE", help="Write a new contract to this file; - is standard output"
)
@click.option("--only", type=click.Choice(ONLY), help="Choose what the contract declares")
@click.option("--table", "table", metavar="NAME", help="Declare a table given by path under this name")
@click.option(
    "--format",
    type=click.Choice(["native", "dbt-yaml", "sql"]),
    default="native",
    show_default=True,
    help="Print the YAML of dbt that declares the columns, for models, or the SQL that creates the tables",
)
@click.option("--diff", "show_diff", is_flag=True, help="Show the changes; write nothing")
@target_option("Read the tables of this target")
@history_option
@via_options
@workers_options()
@project_options
@takes(PullOptions)
def command(options: PullOptions) -> int:
    """Write contracts from live tables, or bring them up to date.

    TABLES are names, paths or URIs. An existing contract is edited in place: comments, order and spelling
    stay, and what it does not declare is not added. A new contract declares the whole table; it is written to
    the file of --output or --into, by default to standard output.

    --only columns declares the columns alone, --only +properties columns and properties. --only all also
    adds what an existing contract does not declare yet.

    With --diff the command exits with 4 if a contract would change.
    """
    show_diff = options.show_diff
    repository, settings = repository_settings(options.connection)
    _require_names(settings, options)
    with spark_for(settings, options.connection) as spark, table_workers(options.connection) as workers:
        result = _pull(repository, settings, options, catalog_of(spark), workers)
    if options.prints_only and result.files:
        show(document_text(_in_format(result, options.format)))
    for file in () if options.prints_only else result.files:
        if show_diff:
            show(document_text(file.diff))
        elif file.path is None:
            show(document_text(file.after))
        else:
            file.write()
            print_note(f"{'wrote' if file.before is None else 'updated'} {file.name}")
    if not show_diff and not options.prints_only:
        _warn_of_unchecked(repository, settings, result)
    if engines := recent_writers(result.writers.values(), int(time.time() * 1000)):
        print_note(f"{WHO_WROTE_NEWEST}: {as_setting(engines)}")
    for text in result.undeclarable:
        print_note(text)
    for name in result.unchanged:
        print_note(f"{name} is up to date")
    for failure in result.failed:
        print_error(failure.error)
    if result.failed:
        return max(failure.error.exit_status for failure in result.failed)
    return PENDING if show_diff and result.files else 0


def _in_format(result: PullResult, format_: str) -> str:
    pulled = [
        contract for file in result.files for contract in contracts.read(file.name, file.after).contracts
    ]
    if format_ == "dbt-yaml":
        return print_models(pulled)
    return "\n".join(map(print_table, pulled))


def _require_names(settings: Trusted, options: PullOptions) -> None:
    for name in (options.output, options.into):
        if name is not None and name != "-":
            require_contract_name(name, settings.config.contracts)


def _warn_of_unchecked(repository: Repository, settings: Trusted, result: PullResult) -> None:
    """Warn of new files that `check` will not read; existing ones may be excluded on purpose."""
    names = {file.path: file.name for file in result.files if file.path is not None and file.before is None}
    for path in unseen(repository, settings.config, names):
        print_note(f"warning: `check` does not read {names[path]}: see `contracts` and .gitignore")


def _pull(
    repository: Repository,
    settings: Trusted,
    options: PullOptions,
    via: Catalog | None,
    workers: TableWorkers,
) -> PullResult:
    target = _target(settings, options.connection.target, via, needed=options.everything)
    declared, unreadable = declared_contracts(repository, settings.config)
    if options.prints_only or (target is None and not _follows_locations(settings)):
        declared = {}
    request = PullInput(
        root=repository.root,
        declared=declared,
        unreadable=unreadable,
        target=target,
        scope=Scope(options.only) if options.only else Scope.MANAGED,
        table=options.table,
        output=Path(options.output) if options.output and options.output != "-" else None,
        into=options.into,
        via=via,
        history=options.history,
        workers=workers,
    )
    if target is None or not options.everything:
        return pull(request, options.tables)
    errors: list[PullFailure] = []
    result = pull(request, find(target, options.match, request.root, via, errors))
    if not result.files and not result.unchanged and not result.failed and not errors:
        raise UsageError(f"no table in target {target.name} matches {options.match}")
    return replace(result, failed=(*result.failed, *errors))


def _follows_locations(settings: Trusted) -> bool:
    """Whether contracts may say where to connect: if they are as trusted as the configuration."""
    return not git.is_ci(os.environ) or (settings.commit is not None and settings.commit.is_head)


def _target(
    settings: Trusted, name: str | None, via: Catalog | None, *, needed: bool
) -> TrustedTarget | None:
    """Return the named or the only target; without targets, that of the Spark session, or None for paths."""
    if name is None and not settings.targets:
        if via is not None:
            return by_session(given_target("none"))
        if not needed:
            return None
    return choose_target(settings, name)
