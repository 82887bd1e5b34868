"""``schemalint clients``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import click

from schemalint.base.errors import LiveError, UsageError
from schemalint.base.values import frozen, replace
from schemalint.cli import print_error
from schemalint.cli._completion import table_names
from schemalint.cli._connection import catalog_of, settings_anywhere, spark_for, via_options
from schemalint.cli._options import examples, project_options, target_option
from schemalint.cli._output import show
from schemalint.cli._typed import Connection, takes
from schemalint.contract.consumers import configuration_faults
from schemalint.contract.contract_files import contract_files
from schemalint.contract.contract_revisions import Revisions
from schemalint.delta.table import LiveTable
from schemalint.deploy.last_applied import LastApplied, find_last_applied
from schemalint.judge.case import Case
from schemalint.judge.client_losses import known_clients, today
from schemalint.judge.verdict import Verdict
from schemalint.model.column_tracking import ColumnTracking
from schemalint.model.consumer import Consumer
from schemalint.model.effective import Effective
from schemalint.project.config.trust import Trusted
from schemalint.project.git import Repository, Worktree
from schemalint.report.table import client_matrix as reports
from schemalint.tables.catalog.table_requests import (
    TargetContracts,
    open_target,
    read_tables,
    table_requests,
)
from schemalint.tables.table_json import TableFailure


@frozen
class ClientOptions:
    """The options of ``clients``."""

    clients: tuple[str, ...]
    table: str | None
    planned: bool
    output_format: str
    connection: Connection

    def require_consistent(self) -> None:
        """Refuse ``--plan`` and the options of a session without what they need."""
        if self.planned and self.table is None:
            raise UsageError("--plan needs --table", help="give --table TABLE too")
        if self.table is not None:
            self.connection.require_session()


@click.command(
    "clients",
    epilog=examples(
        "schemalint clients",
        "schemalint clients trino",
        "schemalint clients --table lake/sales/orders",
    ),
)
@click.argument("clients", nargs=-1)
@click.option(
    "--table", metavar="TABLE", shell_complete=table_names, help="Show what the clients do with this table"
)
@click.option("--plan", "planned", is_flag=True, help="With --table: before and after its contract")
@target_option("Look up table names in this target")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    show_default=True,
    help="Format of the output",
)
@via_options
@project_options
@takes(ClientOptions)
def command(options: ClientOptions) -> int:
    """Show what the clients of Delta tables can read and write.

    Without arguments, a matrix of the newest version of each client that the client table knows. CLIENTS are
    names of clients: all their rows, with versions, read paths and evidence, in the order in which they
    decide. Rows of the configuration (`[[clients]]`) come first.

    With --table, the declared consumers of a table, and all clients of the client table at their newest
    version.
    TABLE is a path or a URI; with --target also the name of a declared table.
    """
    clients, output_format = options.clients, options.output_format
    repository, settings = settings_anywhere(options.connection)
    settings = settings.with_nested(repository)
    for fault in configuration_faults(settings.config):
        raise fault
    rows = settings.config.clients
    names = reports.all_names(rows)
    if unknown := next((name for name in clients if name not in names), None):
        close = get_close_matches(unknown.lower(), names, n=1)
        raise UsageError(
            f"there is no client {unknown!r} in the client table",
            help=f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(names)}",
        )
    if options.table is not None:
        return _table(repository, settings, options.table, options)
    if output_format == "json":
        show(reports.table_json(clients or names, rows))
    elif output_format == "markdown":
        show(reports.matrix_markdown(_chosen(clients, rows), rows))
    elif clients:
        show(reports.rows_text(clients, rows))
    else:
        show(reports.matrix_text(known_clients(rows), rows))
    return 0


def _chosen(clients: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> tuple[Consumer, ...]:
    return tuple(consumer for consumer in known_clients(rows) if not clients or consumer.client in clients)


def _table(
    repository: Repository | None,
    settings: Trusted,
    table: str,
    options: ClientOptions,
) -> int:
    with spark_for(settings, options.connection) as spark:
        via = catalog_of(spark)
        where = open_target(repository, settings, options.connection.target, via)
        (request,) = table_requests([table], where, via)
        (document,) = read_tables([request])
    if isinstance(document, TableFailure):
        print_error(LiveError(document.message, help=document.help))
        return 2
    contract = request.contract
    if options.planned and contract is None:
        raise UsageError(
            f"--plan needs the contract of {table}",
            help="give its declared name, and --target NAME",
        )
    consumers = [
        *(contract.consumers if contract else ()),
        *_chosen(options.clients, settings.config.clients),
    ]
    name = contract.table if contract else table
    if options.planned and contract is not None:
        tracking = _tracking(where, contract, document.live) if where else None
        judged_contract = replace(contract, consumers=tuple(consumers))
        answers = Verdict(
            Case((), declared=judged_contract, live=document.live, tracking=tracking), ()
        ).clients
    else:
        answers = today(name, document.live, consumers, settings.config.clients)
    if options.output_format == "json":
        show(reports.survey_json(answers))
    else:
        protocol = document.live.protocol
        versions = f"reader {protocol.min_reader}, writer {protocol.min_writer}"
        title = f"{name}, version {document.live.version}: {versions}"
        show(reports.survey_text(title, answers, markdown=options.output_format == "markdown"))
    return 0


def _tracking(where: TargetContracts, contract: Effective, live: LiveTable) -> ColumnTracking | None:
    """Track the columns since the last apply, as `plan` does; None where it would plan nothing."""
    if where.repository is None:
        return None
    revisions = Revisions(
        where.repository, contract_files(where.settings.config), where.target.name, Worktree()
    )
    last_applied = find_last_applied(revisions, contract, live)
    if isinstance(last_applied, LastApplied):
        return last_applied.tracking(live.state.columns)
    return None
