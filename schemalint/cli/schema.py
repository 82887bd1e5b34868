"""``schemalint schema``."""

from __future__ import annotations

from importlib import import_module

import click

from schemalint.cli._output import show
from schemalint.printable import json_text

SCHEMAS = {
    "contract": ("schemalint.contract", "json_schema"),
    "report": ("schemalint.report.findings.json", "schema"),
    "table": ("schemalint.table_json", "schema"),
    "plan": ("schemalint.report.plan.json", "schema"),
    "apply": ("schemalint.report.deploy_log", "schema"),
}
"""The module and function of each schema; only the printed one is imported."""


@click.command("schema")
@click.argument("what", type=click.Choice([*SCHEMAS]), default="contract")
def command(what: str) -> int:
    """Print the JSON Schema of a format.

    It describes contracts (the default), or the JSON output of a command: report of `check` and `audit`,
    table of `show`, plan of `plan`, apply of `apply`.
    """
    module, function = SCHEMAS[what]
    show(json_text(getattr(import_module(module), function)(), indent=2))
    return 0
