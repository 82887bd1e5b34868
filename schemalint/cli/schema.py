"""``schemalint schema``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from schemalint.base.printable import json_text
from schemalint.cli._options import examples
from schemalint.cli._output import show

SCHEMAS = {
    "contract": ("schemalint.contract", "json_schema"),
    "exceptions": ("schemalint.contract", "exceptions_schema"),
    "config": ("schemalint.project.config.config_schema", "json_schema"),
    "nested-config": ("schemalint.project.config.config_schema", "nested_json_schema"),
    "baseline": ("schemalint.lint.baseline", "schema"),
    "report": ("schemalint.report.findings.json", "schema"),
    "table": ("schemalint.tables.table_json", "schema"),
    "plan": ("schemalint.report.plan.json", "schema"),
    "apply": ("schemalint.report.deploy_log", "schema"),
    "deploy-log": ("schemalint.deploy.results", "schema"),
}
"""The module and function of each schema; only the printed one is imported."""


@click.command(
    "schema",
    epilog=examples(
        "schemalint schema",
        "schemalint schema config",
    ),
)
@click.argument("what", type=click.Choice([*SCHEMAS]), default="contract")
def command(what: str) -> int:
    """Print the JSON Schema of a format.

    It describes contracts (the default), exceptions (the file exceptions.yaml), the configuration (config)
    and its nested files (nested-config), a baseline, or the JSON output of a command: report of `check`
    and `audit`, table of `show`, plan of `plan`, apply of `apply`, deploy-log of a line that
    `apply --log` writes.
    """
    show(json_text(schema_of(what), indent=2))
    return 0


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format."""
    module, function = SCHEMAS[name]
    schema: dict[str, Any] = getattr(import_module(module), function)()
    return schema
