"""``schemalint rules``."""

from __future__ import annotations

import click

from schemalint.lint.rulebook import load_rules
from schemalint.report import rules as rule_texts


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
    lines = [rule_texts.as_json(rules)] if output_format == "json" else map(rule_texts.line, rules)
    for line in lines:
        click.echo(line)
    return 0
