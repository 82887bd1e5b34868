"""Which rules a user means: by code, name, error class, or a whole error message."""

from __future__ import annotations

import re
from difflib import get_close_matches

from schemalint.errors import UsageError
from schemalint.plugin import Rule

LEAST_QUOTED = 12
"""Characters that a piece of a quotation needs to identify a message."""

_QUOTATION = re.compile(r'"([^"]+)"')
_GAP = re.compile(r"…|\.\.\.|<[^>]*>")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def find_rules(what: str, rules: tuple[Rule, ...]) -> list[Rule]:
    """Return the rules that a code, a name, a Delta error class or an error message stands for.

    Raises:
        UsageError: There is none.
    """
    if matches := _matching(what, rules):
        return matches
    names = [name for rule in rules for name in (rule.code, rule.name, *rule.delta_errors)]
    close = get_close_matches(what, names, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]}?" if close else "`schemalint rules` lists all rules"
    raise UsageError(f"no rule has the name or Delta error {what!r}", help=hint)


def _matching(what: str, rules: tuple[Rule, ...]) -> list[Rule]:
    words = {word.upper() for word in _WORD.findall(what)}
    # An error class may have a sub-class: DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_TYPE_WIDENING.
    words |= {word.partition(".")[0] for word in words}
    exact = [rule for rule in rules if {rule.code, rule.name.upper()} & words]
    named = [rule for rule in rules if {error.upper() for error in rule.delta_errors} & words]
    return exact or named or [rule for rule in rules if _quotes(rule, what)]


def _quotes(rule: Rule, message: str) -> bool:
    """Whether the page quotes the message; some Spark errors name no error class in their text."""
    text = _plain(message)
    for quotation in _QUOTATION.findall(rule.doc):
        pieces = [piece for part in _GAP.split(quotation) if len(piece := _plain(part)) >= LEAST_QUOTED]
        if pieces and all(piece in text for piece in pieces):
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.split()).strip(" .:").lower()
