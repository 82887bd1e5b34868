"""Texts for `explain`: names, messages and stack traces of a stranger's job."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from fuzz.oracle import only_errors_of_the_input, require_harmless
from schemalint.report.explain import explain
from schemalint.report.rule_pages import explanation
from schemalint.review.rulebook import load_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

ERRORS = Path(__file__).parents[3] / "docs/errors.md"
RULES = load_rules()
WORDS = (
    *("[DELTA_", "] ", "Exception: ", "org.apache.spark.sql.", "\n\tat ", "Caused by: ", "SQLSTATE: 42K09"),
    *(rule.code for rule in RULES),
)
LONGEST = 4_000


def run(data: bytes) -> None:
    """Explain a text."""
    text = data.decode(errors="replace")
    with only_errors_of_the_input():
        require_harmless(explanation(explain(text, RULES)))


def seeds() -> Iterator[bytes]:
    """Yield each known error class, as Spark prints it in a trace, and what the rules quote."""
    for name in sorted(set(re.findall(r"`([A-Z][A-Z_.]+)`", ERRORS.read_text()))):
        yield f"AnalysisException: [{name}] Cannot do this. SQLSTATE: 42K09\n\tat a.b(C.java:1)".encode()
    for rule in RULES:
        yield rule.name.encode()
        yield rule.doc[:400].encode()
