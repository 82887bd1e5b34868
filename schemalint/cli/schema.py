"""``schemalint schema``."""

from __future__ import annotations

import json

import click


@click.command("schema")
@click.argument(
    "what", type=click.Choice(["contract", "report", "table", "plan", "apply"]), default="contract"
)
def command(what: str) -> int:
    """Print a JSON Schema: of contracts, of the JSON report, of `show`, of plans, or of `apply`."""
    if what == "contract":
        from schemalint import contract  # noqa: PLC0415 (pydantic is slow to load)

        content = contract.json_schema()
    elif what == "table":
        from schemalint import shown  # noqa: PLC0415

        content = shown.schema()
    elif what == "plan":
        from schemalint.report import _planjson  # noqa: PLC0415

        content = _planjson.schema()
    elif what == "apply":
        from schemalint.cli import _deploylog  # noqa: PLC0415

        content = _deploylog.schema()
    else:
        from schemalint.report import json as json_report  # noqa: PLC0415

        content = json_report.schema()
    click.echo(json.dumps(content, indent=2))
    return 0
