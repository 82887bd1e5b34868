"""The cases of the rules: one YAML file per rule, one entry per case.

    number-gets-smaller:
      before: |
        schemalint: 1
        …
      after: |
        …
      expected: |
        4:21 TW001 error …
      fixed: |
        …

`support.rule_judging.TEXTS` names the texts that a case may have; ``expected`` holds all that the rule says,
and is empty where it says nothing; ``fixed`` is ``after`` with all safe fixes, for a rule that has one.
"""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import NamedTuple

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import LiteralScalarString

HERE = Path(__file__).parents[1] / "rules"


class Case(NamedTuple):
    """A case: its texts, and what is expected of the rule."""

    rule: str
    name: str
    texts: dict[str, str]
    expected: str
    fixed: str | None

    @property
    def id(self) -> str:
        """``rule/case``."""
        return f"{self.rule}/{self.name}"


def load_cases() -> tuple[Case, ...]:
    """All cases of all rules, in the order of the files."""
    return tuple(case for path in sorted(HERE.glob("*.yaml")) for case in _of_rule(path))


def write_results(case: Case, expected: str, fixed: str | None) -> None:
    """Write the results into the rule's file, and leave the rest of it as it is."""
    path = HERE / f"{case.rule}.yaml"
    file = YAML()
    file.preserve_quotes = True
    file.width = 2**20
    document = file.load(path.read_text(encoding="utf-8"))
    entry = document[case.name]
    for key, text in (("expected", expected), ("fixed", fixed)):
        if text is None:
            entry.pop(key, None)
        elif entry.get(key) != text:
            entry[key] = LiteralScalarString(text) if text else text
    written = StringIO()
    file.dump(document, written)
    path.write_text(written.getvalue(), encoding="utf-8")


def _of_rule(path: Path) -> list[Case]:
    entries = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [_case(path.stem, name, dict(texts)) for name, texts in entries.items()]


def _case(rule: str, name: str, texts: dict[str, str]) -> Case:
    expected, fixed = texts.pop("expected", ""), texts.pop("fixed", None)
    return Case(rule, name, texts, expected, fixed)
