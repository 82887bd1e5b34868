"""The public API is what the built-in rules use: `schemalint.plugin`, and names of `schemalint.delta`.

``docs/rules-api.md`` lists them. A new name shows up as a diff; a removed one is a breaking change, which the
changelog must announce.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import schemalint_rules
from schemalint import plugin
from schemalint.base.values import grouped
from support.golden import assert_golden

MOST_NAMES_FOR_RULES = 31
PAGE = Path(__file__).parent.parent / "docs/rules-api.md"
HEAD = """\
# What rules import

The public API for [rules of your own](how-to/rule.md) is what the built-in rules use. It changes with notice
in the changelog. All other names and modules of schemalint are private, also those of `schemalint.delta`.

| module | names |
| --- | --- |
"""


def _imported_by_rules() -> dict[str, tuple[str, ...]]:
    """Return the names that built-in rules import, by module."""
    files = Path(schemalint_rules.__path__[0]).rglob("*.py")
    imports = [node for file in files for node in ast.walk(ast.parse(file.read_text("utf-8")))]
    pairs = {
        (node.module, alias.name)
        for node in imports
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("schemalint.delta.")
        for alias in node.names
    }
    return grouped(sorted((str(module), name) for module, name in pairs))


def test_public_names_are_those_that_the_built_in_rules_import() -> None:
    names = {"schemalint.plugin": tuple(sorted(plugin.__all__)), **_imported_by_rules()}
    rows = []
    for module, imported in names.items():
        rows.append(f"| `{module}` | {', '.join(f'`{name}`' for name in imported)} |\n")
    assert_golden(HEAD + "".join(rows), PAGE)


def test_a_rule_needs_few_names_of_schemalint() -> None:
    assert len(plugin.__all__) == len(set(plugin.__all__)) <= MOST_NAMES_FOR_RULES
    assert all(hasattr(plugin, name) for name in plugin.__all__)


def test_the_rules_api_loads_no_room_above_it() -> None:
    code = "import sys, schemalint.plugin; print(*(m for m in sys.modules if m.startswith('schemalint.')))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rooms = {name.split(".")[1] for name in output.split()}
    assert rooms == {"base", "delta", "model", "plugin"}
