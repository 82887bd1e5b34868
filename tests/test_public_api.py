"""The public API: third-party rules import `schemalint.plugin` and `schemalint.delta`.

``public_api.txt`` holds every public name. A new name shows up as a diff; a removed one is a breaking change,
which the changelog must announce.
"""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import schemalint.delta
from schemalint import plugin
from support.golden import assert_golden

MOST_NAMES_FOR_RULES = 31


def _public_names(module: Path) -> list[str]:
    """Return the names that a module defines, without its imports and type variables."""
    names: list[str] = []
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        match node:
            case (
                ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name))
            ):
                names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]):
                names.append(name)
    return sorted(name for name in names if len(name) > 1 and not name.startswith("_"))


def test_public_names_are_the_recorded_ones() -> None:
    lines = [f"schemalint.plugin: {' '.join(sorted(plugin.__all__))}"]
    folder = Path(schemalint.delta.__path__[0])
    for module in pkgutil.iter_modules([str(folder)]):
        names = _public_names(folder / f"{module.name}.py")
        lines.append(f"schemalint.delta.{module.name}: {' '.join(names)}")
    assert_golden("\n".join(lines) + "\n", Path(__file__).with_name("public_api.txt"))


def test_a_rule_needs_few_names_of_schemalint() -> None:
    assert len(plugin.__all__) == len(set(plugin.__all__)) <= MOST_NAMES_FOR_RULES
    assert all(hasattr(plugin, name) for name in plugin.__all__)


def test_the_rules_api_loads_no_room_above_it() -> None:
    code = "import sys, schemalint.plugin; print(*(m for m in sys.modules if m.startswith('schemalint.')))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rooms = {name.split(".")[1] for name in output.split()}
    assert rooms == {"base", "delta", "model", "plugin"}
