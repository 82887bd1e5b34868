"""``schemalint export``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from schemalint.base.errors import SchemalintError, UsageError
from schemalint.base.printable import json_text
from schemalint.base.values import frozen
from schemalint.cli import print_note
from schemalint.cli._connection import repository_settings
from schemalint.cli._options import examples, project_options, target_option, write_report
from schemalint.cli._typed import Connection, takes
from schemalint.cli.schema import schema_of
from schemalint.contract.consumers import configuration_faults
from schemalint.model import packed_contracts
from schemalint.model.effective import effective
from schemalint.model.packed_contracts import PackedContract, pack, pack_contract
from schemalint.tables.catalog.table_location import choose_target, is_found_by_name, table_location
from schemalint.tables.catalog.table_requests import TargetContracts


@frozen
class ExportOptions:
    """The options of ``export``."""

    output_format: str
    out: str | None
    connection: Connection


@click.command(
    "export",
    epilog=examples("schemalint export --format guard --target prod --out contracts.json"),
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["guard"]),
    default="guard",
    show_default=True,
    help="For whom: guard is for jobs that judge their writes",
)
@target_option("The target whose contracts are written")
@click.option("-o", "--out", metavar="FILE", help="Write them to a file")
@project_options
@takes(ExportOptions)
def command(options: ExportOptions) -> int:
    """Write the contracts of a target as one file for jobs.

    `schemalint.guard` reads it in a Spark job or beside delta-rs, and says of each write what it would do to
    the table. The file has no comments, owners, consumers or exceptions, and needs the Python package alone.
    Write it anew with each deployment: a table that has another declaration makes the guard say that it does
    not know.
    """
    repository, settings = repository_settings(options.connection)
    for fault in configuration_faults(settings.config):
        raise fault
    target = choose_target(settings, options.connection.target)
    where = TargetContracts(settings, target, repository)
    where.declared.require_complete()
    packed = [_packed(where, key) for key in where.declared.contracts]
    if not packed:
        raise UsageError(f"no contract declares a table in target {target.name}")
    write_report(json_text(pack(target.name, packed, target.catalog), indent=2), options.out)
    if options.out is not None:
        print_note(f"{len(packed):,} contracts of target {target.name} in {options.out}")
    return 0


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the file; a table's state is described as in plans.

    The keys of the contract stand beside those of the state, which allows no others in a plan.
    """
    file = Path(packed_contracts.__file__).with_suffix(".schema.json")
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
    of_plans = schema_of("plan")["$defs"]
    state = {key: value for key, value in of_plans["state"].items() if key != "additionalProperties"}
    shared = {name: of_plans[name] for name in ("entries", "path", "field", "type")}
    return schema | {"$defs": {**schema["$defs"], **shared, "state": state}}


def _packed(where: TargetContracts, key: str) -> PackedContract:
    contract = effective(where.declared.contracts[key], where.environment)
    if is_found_by_name(contract, where.target):
        return pack_contract(contract, None)
    try:
        return pack_contract(contract, table_location(contract, where.target, where.folder))
    except SchemalintError as error:
        raise UsageError(f"{contract.table}: {error.message}", help=error.help) from error
