"""``schemalint rules``."""

from __future__ import annotations

import click

from schemalint.cli._options import examples
from schemalint.cli._output import show
from schemalint.report import rule_pages as rule_texts
from schemalint.review.rulebook import load_rules


@click.command(
    "rules",
    epilog=examples(
        "schemalint rules",
        "schemalint rules --output-format json",
    ),
)
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
    show(rule_texts.as_json(rules) if output_format == "json" else rule_texts.as_text(rules))
    return 0
