"""``schemalint explain``."""

from __future__ import annotations

import re
from difflib import get_close_matches

import click

from schemalint.errors import UsageError
from schemalint.lint.rulebook import load_rules
from schemalint.plugin import Rule

LEAST_QUOTED = 12
"""Letters of a quotation that are needed to know it again."""

_QUOTATION = re.compile(r'"([^"]+)"')
_GAP = re.compile(r"…|\.\.\.|<[^>]*>")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


@click.command("explain")
@click.argument("what")
def command(what: str) -> int:
    """Show a rule's page: by its code, its name, or by an error of Delta.

    WHAT may be a whole message, as it stands in a stack trace.
    """
    rules = load_rules()
    found = _found(what, rules)
    if not found:
        names = [name for rule in rules for name in (rule.code, rule.name, *rule.delta_errors)]
        close = get_close_matches(what, names, n=1, cutoff=0.5)
        hint = f"did you mean {close[0]}?" if close else "`schemalint rules` lists them all"
        raise UsageError(f"no rule is called {what!r}, and none foresees such an error", help=hint)
    click.echo("\n\n".join(page(rule) for rule in found))
    return 0


def page(rule: Rule) -> str:
    """A rule's page as Markdown, without its end of line."""
    facts = [f"severity: {rule.severity.label}", f"status: {rule.status}"]
    facts += ["fixable: `schemalint check --fix`"] if rule.fixable else []
    facts += [f"Delta's errors: {', '.join(rule.delta_errors)}"] if rule.delta_errors else []
    return f"# {rule.name} ({rule.code})\n\n{' · '.join(facts)}\n\n{rule.doc.rstrip()}"


def _found(what: str, rules: tuple[Rule, ...]) -> list[Rule]:
    words = {word.upper() for word in _WORD.findall(what)}
    # An error class may carry a sub-class: DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING.
    words |= {word.partition(".")[0] for word in words}
    exact = [rule for rule in rules if {rule.code, rule.name.upper()} & words]
    named = [rule for rule in rules if {error.upper() for error in rule.delta_errors} & words]
    return exact or named or [rule for rule in rules if _quotes(rule, what)]


def _quotes(rule: Rule, message: str) -> bool:
    """Whether the page quotes the message: not every error of Spark has a class that its text names."""
    said = _plain(message)
    for quotation in _QUOTATION.findall(rule.doc):
        pieces = [piece for part in _GAP.split(quotation) if len(piece := _plain(part)) >= LEAST_QUOTED]
        if pieces and all(piece in said for piece in pieces):
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .:").lower()
