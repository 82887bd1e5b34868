"""What all built-in rules have in common: their pages, their examples, their places."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

import schemalint_rules
from schemalint.model.fact import LiveTableMissing
from schemalint.plugin import ATTRIBUTE, Rule, Severity
from support.rule_cases import load_cases
from support.rule_judging import Texts, built_in, findings

MODULES = sorted(Path(schemalint_rules.__path__[0]).glob("*/[!_]*.py"))
SECTIONS = ["What it does", "Why is this bad?", "What to do", "Example", "Use instead"]
FENCE = re.compile(r"^```yaml title=\"(\w+)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)

every_rule = pytest.mark.parametrize("rule", built_in().values(), ids=lambda rule: rule.code)
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)


@every_module
def test_a_module_is_one_rule_of_its_area_and_name(module: Path) -> None:
    """``tw/illegal_narrowing.py`` holds the function ``illegal_narrowing``, which is a TW rule."""
    loaded = importlib.import_module(f"schemalint_rules.{module.parent.name}.{module.stem}")
    rules = [getattr(value, ATTRIBUTE) for value in vars(loaded).values() if hasattr(value, ATTRIBUTE)]
    assert [rule.name for rule in rules] == [module.stem.replace("_", "-")]
    assert rules[0].code[:2] == module.parent.name.upper()


@every_module
def test_a_module_imports_the_public_api_only(module: Path) -> None:
    """A package of somebody else could hold the very same file."""
    imported = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add("." * node.level + (node.module or ""))
    foreign = {name for name in imported if name.partition(".")[0] not in sys.stdlib_module_names}
    assert foreign == {"schemalint.plugin"}


def test_codes_and_names_are_unique_and_every_rule_is_found() -> None:
    """`load_rules` finds each module's rule, and none hides another."""
    rules = list(built_in().values())
    assert len(rules) == len(MODULES) > 0
    assert len({rule.code for rule in rules}) == len(rules)


@every_rule
def test_page_has_its_sections(rule: Rule) -> None:
    """A first sentence, then the five sections in order, with the errors that Delta gives."""
    assert re.fullmatch(r"[A-Z][^.]*\.", rule.summary), rule.summary
    assert re.findall(r"^## (.*)$", rule.doc, re.MULTILINE) == SECTIONS
    missing = [name for name in rule.delta_errors if name.partition(".")[0] not in rule.doc]
    assert not missing


@every_rule
def test_rule_has_cases(rule: Rule) -> None:
    """And a rule that can fix something shows it there."""
    cases = [case for case in load_cases() if case.rule == rule.name]
    assert cases or LiveTableMissing in rule.subjects  # no text shows it: test_table_missing.py
    assert rule.fixable == any(case.fixed is not None for case in cases)


@every_rule
def test_example_fails_and_what_to_use_instead_does_not(rule: Rule) -> None:
    """The examples are executed, by the rule whose page they stand on."""
    failing, passing = _examples(rule)
    if LiveTableMissing in rule.subjects:
        pytest.skip("no text shows a table that is not there: see its own tests")
    assert {one.code for one in findings(rule, failing)} == {rule.code}
    assert not [one for one in findings(rule, passing) if one.severity > Severity.INFO]


def _examples(rule: Rule) -> tuple[Texts, Texts]:
    """The failing and the passing texts; a ``contract`` is one that did not change."""
    example, _, instead = rule.doc.partition("## Use instead")
    blocks = dict(FENCE.findall(example))
    if "contract" in blocks:
        blocks["before"] = blocks["after"] = blocks.pop("contract")
    failing = {
        name: text for name, text in blocks.items() if "schemalint:" in text or name in ("log", "files")
    }
    (passing,) = (text for name, text in FENCE.findall(instead) if name == "instead")
    if "catalog" in failing:
        return failing, {**failing, "catalog": passing}
    if "files" in failing:
        return failing, {**failing, "files": passing}
    if "log" in failing and "schemalint:" not in passing:
        return failing, {**failing, "log": passing}
    unchanged = failing.get("before") == failing.get("after")
    return failing, {**failing, "after": passing, **({"before": passing} if unchanged else {})}
