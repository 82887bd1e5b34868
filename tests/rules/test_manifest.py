"""The manifest of the built-in rules: it says what their modules say, and a run imports few of these."""

from __future__ import annotations

import importlib
import json
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import schemalint_rules
from schemalint.lint.late_rules import MANIFEST, LateCheck, file_sizes, function_of, listed_rules
from schemalint.plugin import ATTRIBUTE, Rule
from schemalint.values import changed_fields, replace
from support.golden import assert_golden
from support.repo import Repo

FOLDER = Path(schemalint_rules.__path__[0])
NARROWING = "schemalint_rules.tw.illegal_narrowing"
ORDERS = "schemalint: 1\ntable: sales.{}\ncolumns:\n  - {{name: id, type: {}}}\n"

ADDED = '''\
from schemalint.delta.change import TypeChanged
from schemalint.plugin import Severity, rule

@rule("ZZ001", on=TypeChanged, severity=Severity.INFO)
def added(change, ctx):
    """Added by a test."""
    return ()
'''

# Prints the codes of all rules with a severity, and how many of their modules are imported.
PROBE = """\
import json, sys
from schemalint.lint.rulebook import load_rules
rules = [(rule.code, rule.severity.name) for rule in load_rules()]
print(json.dumps([rules, sum(name.startswith("schemalint_rules.") for name in sys.modules)]))
"""


def _imported() -> list[Rule]:
    """Return the rules of all modules, in the order of their codes."""
    modules = pkgutil.walk_packages(schemalint_rules.__path__, "schemalint_rules.")
    found = [
        getattr(value, ATTRIBUTE)
        for info in modules
        for value in vars(importlib.import_module(info.name)).values()
        if hasattr(value, ATTRIBUTE)
    ]
    return sorted(found, key=lambda rule: rule.code)


def _row(rule: Rule) -> dict[str, Any]:
    """Return what the manifest says of a rule: the fields that differ from their defaults."""
    readable = {
        "severity": rule.severity.name,
        "subjects": [kind.__name__ for kind in rule.subjects],
        "options": dict(rule.options),
    }
    values = {**changed_fields(rule), **readable}
    return {name: value for name, value in values.items() if name != "check" and value != {}}


def _lines(values: list[str]) -> str:
    return ",\n".join(f"    {value}" for value in values)


def test_the_manifest_lists_all_files_and_rules() -> None:
    sizes = [f"{json.dumps(name)}: {size}" for name, size in sorted(file_sizes(str(FOLDER)))]
    rows = [json.dumps(_row(rule)) for rule in _imported()]
    text = f'{{\n  "files": {{\n{_lines(sizes)}\n  }},\n  "rules": [\n{_lines(rows)}\n  ]\n}}\n'
    assert_golden(text, FOLDER / MANIFEST)
    # The manifest may have been written just now.
    listed_rules.cache_clear()


def test_a_rule_of_the_manifest_equals_that_of_its_module() -> None:
    listed = [replace(rule, check=function_of(rule)) for rule in listed_rules()]
    assert listed == [replace(rule, distribution="schemalint") for rule in _imported()]
    assert all(isinstance(rule.check, LateCheck) for rule in listed_rules())
    assert [rule.doc for rule in listed_rules()] == [rule.doc for rule in listed]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Copy the package; the tests edit the copy."""
    folder = tmp_path / "path" / "schemalint_rules"
    shutil.copytree(FOLDER, folder)
    return folder


def _run(rules: Path, *arguments: str, cwd: Path | None = None) -> tuple[int, str, str]:
    """Run Python with the copy of the package in place of the installed one."""
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd or rules.parent,
        env={"PYTHONPATH": str(rules.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout, run.stderr


def _add(rules: Path) -> None:
    (rules / "tw" / "added.py").write_text(ADDED)


def _add_area(rules: Path) -> None:
    (rules / "zz").mkdir()
    (rules / "zz" / "__init__.py").write_text(ADDED)


def _edit(rules: Path) -> None:
    module = rules / "tw" / "illegal_narrowing.py"
    module.write_text(module.read_text().replace("Severity.ERROR", "Severity.WARNING"))


def _remove_manifest(rules: Path) -> None:
    (rules / MANIFEST).unlink()


def _damage_manifest(rules: Path) -> None:
    (rules / MANIFEST).write_text("{")


def _archive(rules: Path) -> None:
    """Python imports from an archive as from a folder."""
    folder = rules.parent
    shutil.make_archive(str(folder), "zip", folder)
    shutil.rmtree(folder)
    folder.with_suffix(".zip").rename(folder)


def _nothing(_rules: Path) -> None:
    pass


EDITS = [
    (_nothing, [], "ERROR", False),
    (_add, ["ZZ001"], "ERROR", True),
    (_add_area, ["ZZ001"], "ERROR", True),
    (_edit, [], "WARNING", True),
    (_remove_manifest, [], "ERROR", True),
    (_damage_manifest, [], "ERROR", True),
    (_archive, [], "ERROR", True),
]


@pytest.mark.parametrize(
    ("edit", "more", "severity", "imports"), EDITS, ids=[row[0].__name__ for row in EDITS]
)
def test_files_other_than_those_of_the_manifest_are_imported(
    rules: Path, edit: Callable[[Path], None], more: list[str], severity: str, *, imports: bool
) -> None:
    edit(rules)
    status, output, errors = _run(rules, "-c", PROBE, cwd=rules.parent.parent)
    assert status == 0, errors
    found, modules = json.loads(output)
    codes = [rule.code for rule in _imported()]
    assert [code for code, _severity in found] == [*codes, *more]
    assert dict(found)["TW001"] == severity
    assert modules == 0 or imports
    assert modules >= len(codes) or not imports


FAULTS = [
    ("1 / 0", "ZeroDivisionError: division by zero"),
    ("import sys; sys.exit(0)", "SystemExit: 0"),
    ("def broken(:", "SyntaxError: invalid syntax (illegal_narrowing.py, line 1)"),
    (
        "",
        "AttributeError: module 'schemalint_rules.tw.illegal_narrowing' has no attribute 'illegal_narrowing'",
    ),
]


@pytest.mark.parametrize(("text", "message"), FAULTS, ids=[message.split(":")[0] for _, message in FAULTS])
def test_a_module_that_cannot_be_imported_late_ends_the_run_as_one_that_cannot_be_imported_at_once(
    rules: Path, tmp_path: Path, text: str, message: str
) -> None:
    repo = Repo(tmp_path / "repo")
    for name in ("orders", "bills"):
        repo.write(f"{name}.yaml", ORDERS.format(name, "bigint"))
    repo.commit()
    for name in ("orders", "bills"):
        repo.write(f"{name}.yaml", ORDERS.format(name, "int"))
    module = rules / "tw" / "illegal_narrowing.py"
    module.write_text(text + "\n" + "#" * (module.stat().st_size - len(text) - 1))
    late = _run(rules, "-m", "schemalint", "check", cwd=repo.path)
    assert (late[0], late[1].count(message)) == (3, 1), late
    assert (
        f"the rules of schemalint (schemalint_rules) cannot be used: cannot be imported: {message}" in late[1]
    )
    if text:
        (rules / MANIFEST).unlink()
        assert _run(rules, "-m", "schemalint", "check", cwd=repo.path)[:2] == late[:2]
