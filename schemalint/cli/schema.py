"""``schemalint schema``."""

from __future__ import annotations

import json
from importlib import import_module

import click

SCHEMAS = {
    "contract": ("schemalint.contract", "json_schema"),
    "report": ("schemalint.report.findings.json", "schema"),
    "table": ("schemalint.table_json", "schema"),
    "plan": ("schemalint.report.plan.json", "schema"),
    "apply": ("schemalint.report.deploy_log", "schema"),
}
"""The module and function of each schema: only the one that is asked for is loaded."""


@click.command("schema")
@click.argument("what", type=click.Choice([*SCHEMAS]), default="contract")
def command(what: str) -> int:
    """Print a JSON Schema: of contracts, of the JSON report, of `show`, of plans, or of `apply`."""
    module, function = SCHEMAS[what]
    click.echo(json.dumps(getattr(import_module(module), function)(), indent=2))
    return 0
