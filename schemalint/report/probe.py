"""What a probe found: as text, and as rows of the client table in TOML and YAML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schemalint.model.client import Verdict
from schemalint.printable import SafeText, json_text, terminal_text
from schemalint.probe.asking import Answer


def as_text(title: str, answers: Sequence[Answer], differs: Mapping[str, Verdict]) -> SafeText:
    """Return one line for each table, and their numbers.

    Args:
        title: The name of the reader.
        answers: What it did.
        differs: The verdict of the client table for each table for which it is another one.
    """
    lines = [title]
    for answer in answers:
        detail = f": {answer.detail}" if answer.detail else ""
        known = differs.get(answer.table.name)
        note = f" [the client table says {known.value}]" if known else ""
        lines.append(f"  {answer.verdict.value:<8} {answer.table.name}{detail}{note}")
    numbers = Counter(answer.verdict for answer in answers)
    counts = [f"{numbers[verdict]} {verdict.value}" for verdict in Verdict if numbers[verdict]]
    counts += [f"{len(differs)} other than in the client table"] if differs else []
    return terminal_text([*lines, f"{len(answers)} tables: {', '.join(counts)}"])


def as_toml(client: str, rows: Iterable[Mapping[str, Any]]) -> SafeText:
    """Return rows for ``schemalint.toml``."""
    lines: list[str] = []
    for row in rows:
        lines += ["[[clients]]", f"client = {_toml(client)}"]
        lines += [f"{key} = {_toml(value)}" for key, value in row.items()]
        lines.append("")
    return terminal_text(lines[:-1])


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, str):  # TOML has JSON's escapes, but no surrogates
        value = re.sub(r"[\ud800-\udfff\U00010000-\U0010ffff\x7f]", "?", value)
    return json_text(value).rstrip("\n")


def as_yaml(rows: Iterable[Mapping[str, Any]]) -> SafeText:
    """Return rows for a file of the client table; JSON is YAML too."""
    return terminal_text(f"  - {json_text(row)}".rstrip("\n") for row in rows)
