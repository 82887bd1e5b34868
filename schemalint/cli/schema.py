"""``schemalint schema``."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

import schemalint
from schemalint.base.printable import json_text
from schemalint.cli._options import examples
from schemalint.cli._output import show

SCHEMAS: Final[dict[str, str | tuple[str, str]]] = {
    "contract": ("schemalint.contract.dialects.native.contract_schema", "json_schema"),
    "exceptions": ("schemalint.contract.dialects.native.contract_schema", "exceptions_schema"),
    "config": ("schemalint.project.config.config_schema", "json_schema"),
    "nested-config": ("schemalint.project.config.config_schema", "nested_json_schema"),
    "baseline": "review/baseline.schema.json",
    "report": "report/findings/json.schema.json",
    "table": "tables/table_json/table.schema.json",
    "plan": "report/plan/plan.schema.json",
    "apply": "deploy/results.schema.json",
    "guard": ("schemalint.cli.export", "json_schema"),
    "deploy-log": ("schemalint.deploy.results", "log_schema"),
}
"""The file of each schema, or its module and function; only the printed one is imported."""


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
    and `audit`, table of `show`, plan of `plan`, apply of `apply`, guard of `export`, deploy-log of a
    line that `apply --log` writes.
    """
    show(json_text(schema_of(what), indent=2))
    return 0


def schema_of(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format."""
    source = SCHEMAS[name]
    schema: dict[str, Any]
    if isinstance(source, str):
        schema = json.loads((Path(schemalint.__file__).parent / source).read_text("utf-8"))
    else:
        module, function = source
        schema = getattr(import_module(module), function)()
    return schema
