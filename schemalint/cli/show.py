"""``schemalint show``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from schemalint.catalog.table_requests import open_environment, read_tables, table_requests
from schemalint.cli import print_error
from schemalint.cli._options import project_options
from schemalint.cli._spark_options import spark_for, via_options, with_spark_options
from schemalint.config.project import project_if_any
from schemalint.errors import LiveError
from schemalint.printable import json_text
from schemalint.table_json import TableFailure, failure_to_json, to_json

if TYPE_CHECKING:
    from schemalint.table_json import TableDocument

UNREADABLE = 2


@click.command("show")
@click.argument("tables", nargs=-1, required=True)
@click.option("--target", metavar="NAME", help="The environment in which names of tables are looked up.")
@click.option("--no-history", is_flag=True, help="Read the state alone: quicker, without types' history.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text")
@via_options
@project_options
def command(
    tables: tuple[str, ...],
    target: str | None,
    output_format: str,
    config_file: str | None,
    *,
    no_history: bool,
    isolated: bool,
    **options: Any,  # noqa: ANN401
) -> int:
    """Show what live tables are: protocol, columns with their history, properties.

    TABLES are paths or URIs, with --target names of declared tables, and with --via spark names that Spark
    knows. TABLE@v12 is an older version,
    TABLE@2026-11-01 or TABLE@2026-11-01T10:00:00Z what it was then. As JSON each table is a line of its own,
    as `schemalint schema table` describes it; a table that cannot be read is a line with an `error`.
    """
    here = project_if_any(config_file, isolated=isolated)
    if here is not None:
        here = with_spark_options(here, options)
    tell = _tell_json if output_format == "json" else _Text()
    status = 0
    with spark_for(here, options) as spark:
        via = spark.catalog if spark else None
        asked = table_requests(tables, open_environment(here, target, via), via)
        for found in read_tables(asked, history=not no_history):
            tell(found)
            if isinstance(found, TableFailure):
                status = UNREADABLE
    return status


def _tell_json(found: TableDocument | TableFailure) -> None:
    content = failure_to_json(found) if isinstance(found, TableFailure) else to_json(found)
    click.echo(json_text(content))


class _Text:
    """Tables with a line between them."""

    def __init__(self) -> None:
        self._is_first = True

    def __call__(self, found: TableDocument | TableFailure) -> None:
        from schemalint.report.table.text import show_text  # noqa: PLC0415 (only for text)

        if isinstance(found, TableFailure):
            print_error(LiveError(found.message, help=found.help))
            return
        click.echo("" if self._is_first else "\n", nl=False)
        click.echo(show_text(found), nl=False)
        self._is_first = False
