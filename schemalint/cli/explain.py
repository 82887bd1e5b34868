"""``schemalint explain``."""

from __future__ import annotations

import sys
from typing import Final

import click

from schemalint.cli._output import show
from schemalint.errors import UsageError
from schemalint.lint.rule_lookup import explain
from schemalint.lint.rulebook import load_rules
from schemalint.report.rules import explanation

_LONGEST_INPUT: Final = 1 << 24
"""Bytes that are read of standard input: more than any stack trace has."""


@click.command("explain")
@click.argument("what", required=False)
def command(what: str | None) -> int:
    """Show what an error means, or the page of a rule.

    WHAT is a rule's code or name, an error class of Delta or Spark, or a whole error message. With - or
    without WHAT, standard input is read, such as the stack trace of a job.
    """
    if what == "-" or (what is None and not sys.stdin.isatty()):
        what = sys.stdin.buffer.read(_LONGEST_INPUT).decode("utf-8", "replace")
    if not what or not what.strip():
        raise UsageError("there is nothing to explain", help="name a rule or an error, or pipe a stack trace")
    show(explanation(explain(what, load_rules())))
    return 0
