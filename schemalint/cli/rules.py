"""``schemalint rules``."""

from __future__ import annotations

import json

import click

from schemalint.lint.rulebook import load_rules
from schemalint.plugin import Rule


@click.command("rules")
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the list",
)
def command(output_format: str) -> int:
    """List all installed rules."""
    rules = load_rules()
    if output_format == "json":
        click.echo(json.dumps([_as_json(rule) for rule in rules], indent=2))
    else:
        for rule in rules:
            marks = (["fixable"] if rule.fixable else []) + ([rule.status] if rule.status != "stable" else [])
            tail = f" [{', '.join(marks)}]" if marks else ""
            click.echo(f"{rule.code}  {rule.severity.label:<7}  {rule.name}: {rule.summary}{tail}")
    return 0


def _as_json(rule: Rule) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.label,
        "status": rule.status,
        "fixable": rule.fixable,
        "summary": rule.summary,
        "delta_errors": list(rule.delta_errors),
        "distribution": rule.distribution,
    }
