"""``schemalint explain``."""

from __future__ import annotations

import click

from schemalint.lint.rule_lookup import find_rules
from schemalint.lint.rulebook import load_rules
from schemalint.report.rules import page


@click.command("explain")
@click.argument("what")
def command(what: str) -> int:
    """Show the page of a rule.

    WHAT is a rule's code or name, a Delta error class, or a whole error message from a stack trace.
    """
    click.echo("\n\n".join(map(page, find_rules(what, load_rules()))))
    return 0
