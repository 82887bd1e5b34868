"""``schemalint show``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from schemalint.base.errors import LiveError
from schemalint.base.printable import json_text, terminal_text
from schemalint.base.values import frozen
from schemalint.cli import print_error
from schemalint.cli._completion import table_names
from schemalint.cli._connection import catalog_of, settings_anywhere, spark_for, via_options
from schemalint.cli._options import examples, project_options, target_option
from schemalint.cli._output import show
from schemalint.cli._typed import Connection, takes
from schemalint.contract.consumers import configuration_faults
from schemalint.report.table.client_matrix import clients_json
from schemalint.report.table.table_text import show_text
from schemalint.tables.catalog.table_requests import (
    open_target,
    read_tables,
    table_requests,
)
from schemalint.tables.table_json import TableDocument, TableFailure, failure_to_json, to_json

UNREADABLE = 2


@frozen
class ShowOptions:
    """The options of ``show``."""

    tables: tuple[str, ...]
    output_format: str
    no_history: bool
    connection: Connection

    def require_consistent(self) -> None:
        """Refuse the options of a session without one."""
        self.connection.require_session()


@click.command(
    "show",
    epilog=examples(
        "schemalint show lake/sales/orders",
        "schemalint show --target prod sales.orders --output-format json",
    ),
)
@click.argument("tables", nargs=-1, required=True, shell_complete=table_names)
@target_option("Look up table names in this target")
@click.option("--no-history", is_flag=True, help="Skip the history of types: faster")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the tables; json prints one line per table",
)
@via_options
@project_options
@takes(ShowOptions)
def command(options: ShowOptions) -> int:
    """Show live tables: protocol, columns, properties, history.

    TABLES are paths or URIs; with --target also names of declared tables, and with --via spark also table
    names of the Spark session. TABLE@v12 is version 12; TABLE@2026-11-01 or TABLE@2026-11-01T10:00:00Z is
    the version at that time.

    The format json prints one line per table, which `schemalint schema table` describes. The line of an
    unreadable table has the key `error`.
    """
    repository, settings = settings_anywhere(options.connection)
    for fault in configuration_faults(settings.config):
        raise fault
    rows, status, is_first = settings.config.clients, 0, True
    with spark_for(settings, options.connection) as spark:
        via = catalog_of(spark)
        where = open_target(repository, settings, options.connection.target, via)
        requests = table_requests(options.tables, where, via)
        for table in read_tables(requests, history=not options.no_history):
            if isinstance(table, TableFailure):
                status = UNREADABLE
            if options.output_format == "json":
                show(json_text(_json(table, rows)))
            elif isinstance(table, TableFailure):
                print_error(LiveError(table.message, help=table.help))
            else:
                _show_text(table, rows, is_first=is_first)
                is_first = False
    return status


def _json(table: TableDocument | TableFailure, rows: Sequence[Mapping[str, Any]]) -> dict[str, object]:
    if isinstance(table, TableFailure):
        return failure_to_json(table)
    return to_json(table) | {"clients": clients_json(table.live, rows)}


def _show_text(table: TableDocument, rows: Sequence[Mapping[str, Any]], *, is_first: bool) -> None:
    if not is_first:
        show(terminal_text([""]))
    show(show_text(table, rows))
