"""Rule cases: one YAML file per rule, one entry per case.

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

The file of a rule about changes begins with its ``mirror``: the code of the rule about the opposite change,
or the reason why it needs none (see ``test_mirrors.py``).

`support.rule_judging.TEXTS` lists the texts that a case may have. ``expected`` holds the rule's findings as
text, empty without findings. ``fixed`` is ``after`` with all safe fixes applied, if there are any.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

MIRROR = "mirror"
HERE = Path(__file__).parents[1] / "rules"


class Case(NamedTuple):
    """A case: its texts, and the expected result of the rule."""

    rule: str
    name: str
    texts: dict[str, str]
    expected: str
    fixed: str | None

    @property
    def id(self) -> str:
        """``rule/case``."""
        return f"{self.rule}/{self.name}"


@functools.cache
def load_cases() -> tuple[Case, ...]:
    """Return all cases of all rules, in the order of the files."""
    return tuple(case for path in sorted(HERE.glob("*.yaml")) for case in _of_rule(path))


def write_results(case: Case, expected: str, fixed: str | None) -> None:
    """Write the results into the rule's file, which is printed in one form: comments in it are lost."""
    path = HERE / f"{case.rule}.yaml"
    entries = _entries(path)
    results = {"expected": expected} if fixed is None else {"expected": expected, "fixed": fixed}
    entries[case.name] = {**case.texts, **results}
    mirror = entries.pop(MIRROR, None)
    blocks = [] if mirror is None else [f"{MIRROR}: {_scalar(mirror)}\n"]
    blocks += ["".join([f"{_scalar(name)}:\n", *_lines(texts)]) for name, texts in entries.items()]
    path.write_text("\n".join(blocks), encoding="utf-8")


def _lines(texts: dict[str, str]) -> Iterator[str]:
    """Yield the texts as literal blocks; in quotes, if YAML would read a block differently."""
    for key, text in texts.items():
        block = f"  {key}: |\n" + "".join(
            f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True)
        )
        is_block = bool(text) and yaml.load(block, yaml.CSafeLoader) == {key: text}
        yield block if is_block and text.replace("\n", "").isprintable() else f"  {key}: {_quoted(text)}\n"


def _scalar(text: str) -> str:
    is_plain = ": " not in text and yaml.load(text, yaml.CSafeLoader) == text
    return text if is_plain else _quoted(text)


def _quoted(text: str) -> str:
    return yaml.dump(text, default_style='"', width=2**20).rstrip("\n")


def mirrors() -> dict[str, str]:
    """Return the ``mirror`` of each rule that has one, by the rule's name."""
    entries = {path.stem: _entries(path) for path in sorted(HERE.glob("*.yaml"))}
    return {rule: entry[MIRROR] for rule, entry in entries.items() if MIRROR in entry}


def _of_rule(path: Path) -> list[Case]:
    cases = {name: texts for name, texts in _entries(path).items() if name != MIRROR}
    return [_case(path.stem, name, dict(texts)) for name, texts in cases.items()]


def _entries(path: Path) -> dict[str, Any]:
    entries: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return entries


def _case(rule: str, name: str, texts: dict[str, str]) -> Case:
    expected, fixed = texts.pop("expected", ""), texts.pop("fixed", None)
    return Case(rule, name, texts, expected, fixed)
