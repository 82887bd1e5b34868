"""``schemalint explain``."""

from __future__ import annotations

import sys

import click

from schemalint.base import limits
from schemalint.base.errors import UsageError
from schemalint.cli._completion import rule_codes
from schemalint.cli._options import examples
from schemalint.cli._output import show
from schemalint.report.explain import explain
from schemalint.report.rule_pages import explanation
from schemalint.review.rulebook import load_rules


@click.command(
    "explain",
    epilog=examples(
        "schemalint explain TW001",
        "schemalint explain DELTA_METADATA_CHANGED",
    ),
)
@click.argument("what", required=False, shell_complete=rule_codes)
def command(what: str | None) -> int:
    """Show what an error means, or the page of a rule.

    WHAT is a rule's code or name, an error class of Delta or Spark, or a whole error message. With - or
    without WHAT, standard input is read, such as the stack trace of a job.
    """
    if what == "-" or (what is None and sys.stdin is not None and not sys.stdin.isatty()):
        what = "" if sys.stdin is None else _piped()
    if not what or not what.strip():
        raise UsageError("there is nothing to explain", help="name a rule or an error, or pipe a stack trace")
    show(explanation(explain(what, load_rules())))
    return 0


def _piped() -> str:
    data = sys.stdin.buffer.read(limits.MAX_TRACE + 1)
    if len(data) > limits.MAX_TRACE:
        raise UsageError(
            f"the input has more than {limits.MAX_TRACE >> 20} MiB, a limit of schemalint",
            help="pipe the stack trace alone",
        )
    return data.decode("utf-8", "replace")
