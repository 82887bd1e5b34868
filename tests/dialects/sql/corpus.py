"""What becomes of the statements in other projects' files: ``python corpus.py FOLDER…`` counts.

A folder is a checkout of sqlfluff (its fixtures are ``.sql`` files), of sqlglot (its tests are Python files
with statements in them), or any folder of SQL files. Nothing of them is run, and nothing is copied here:
``corpora.yaml`` has the counts, for the commits that it names. ``on_engine.py`` runs what is read.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from schemalint.base.errors import ContractError
from schemalint.contract.dialects import sql
from schemalint.contract.dialects.sql.lexer import SqlText, statements
from schemalint.model.contract import FileFormat

_VARIABLE: Final = re.compile(r"\$\{\s*(\w+)\s*\}|\{\{-?\s*(\w+)\s*-?\}\}|\{\s*([^\W\d]\w*)\s*\}|[.\s]:(\w+)")
_BEGINNINGS: Final = ("CREATE", "ALTER", "REPLACE", "COMMENT")


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the statements of a folder, each with its place."""
    for path in sorted(folder.rglob("*.sql")):
        source = SqlText(path.name, path.read_text("utf-8", "replace"))
        try:
            for tokens in statements(source):
                yield (
                    f"{path.name}:{source.location(tokens[0].span).line}",
                    source.text[tokens[0].start : tokens[-1].end],
                )
        except ContractError as error:
            yield f"{path.name}: {error}", source.text
    for path in sorted(folder.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value.strip()
                if text.upper().startswith(_BEGINNINGS) and " " in text:
                    yield f"{path.name}:{node.lineno}", text


def settings_for(text: str) -> FileFormat:
    """Return an entry that gives each variable of a text a value: its own name."""
    names = {name for match in _VARIABLE.finditer(text) for name in match.groups() if name}
    variables = {name: f"v{name.strip('_').lower()}" for name in names}
    return FileFormat("sql", tuple(sorted(variables.items())), using="delta")


def outcome(text: str) -> tuple[str, str]:
    """Return what becomes of one statement, and why."""
    try:
        reading = sql.read("statement.sql", text.encode(), None, settings_for(text))
    except Exception as error:  # noqa: BLE001 (what is counted)
        return "crash", repr(error)
    if reading.errors:
        has_place = all(error.location is not None for error in reading.errors)
        return ("refused" if has_place else "crash"), reading.errors[0].message
    if reading.contracts:
        return "read", ""
    return ("skipped", "") if reading.left_out else ("silent", "")


def main(folders: list[str]) -> None:
    """Print the counts as YAML, and with ``-v`` each statement that is not read."""
    is_verbose = "-v" in folders
    for folder in folders:
        if folder == "-v":
            continue
        counts: Counter[str] = Counter()
        tables: Counter[str] = Counter()
        for place, text in texts(Path(folder)):
            what, why = outcome(text)
            counts[what] += 1
            if text.lstrip().upper().startswith(("CREATE TABLE", "CREATE OR REPLACE TABLE", "REPLACE TABLE")):
                tables[what] += 1
            if is_verbose and what != "read":
                sys.stdout.write(f"# {what:8} {place} {text[:100]!r} {why[:120]}\n")
        files = sum(1 for _ in Path(folder).rglob("*.sql"))
        row = {"folder": folder, "files": files, "all": dict(counts), "tables": dict(tables)}
        sys.stdout.write(f"- {json.dumps(row)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
