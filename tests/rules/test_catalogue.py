"""Properties of all built-in rules: modules, pages, cases and examples."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from pathlib import Path

import pytest

import schemalint_rules
from schemalint.model.fact import ConfigurationChanged, LiveTableMissing, RootWithoutTables
from schemalint.plugin import ATTRIBUTE, Rule, Severity
from support.rule_cases import load_cases
from support.rule_judging import Texts, built_in, findings

MODULES = sorted(Path(schemalint_rules.__path__[0]).glob("*/[!_]*.py"))
HELPERS = sorted(Path(schemalint_rules.__path__[0]).glob("*/_[!_]*.py"))
# No contract can express these facts: see test_table_missing.py and test_configuration_facts.py.
WITHOUT_CASES = {LiveTableMissing, RootWithoutTables, ConfigurationChanged}
SECTIONS = ["What it does", "Why is this bad?", "What to do", "Example", "Use instead"]
FENCE = re.compile(r"^```(?:yaml|toml) title=\"(\w+)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)

every_rule = pytest.mark.parametrize("rule", built_in().values(), ids=lambda rule: rule.code)
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)

UNNAMED = "_LEGACY_ERROR_TEMP_"
"""How Spark numbers the errors that it has not named; no message shows it."""


@every_module
def test_a_module_holds_one_rule_with_its_name_and_area(module: Path) -> None:
    """``tw/illegal_narrowing.py`` holds the function ``illegal_narrowing``, which is a TW rule."""
    loaded = importlib.import_module(f"schemalint_rules.{module.parent.name}.{module.stem}")
    rules = [getattr(value, ATTRIBUTE) for value in vars(loaded).values() if hasattr(value, ATTRIBUTE)]
    assert [rule.name for rule in rules] == [module.stem.replace("_", "-")]
    assert rules[0].code[:2] == module.parent.name.upper()


@pytest.mark.parametrize("module", [*MODULES, *HELPERS], ids=lambda module: module.stem)
def test_a_module_imports_the_public_api_only(module: Path) -> None:
    """A third-party package could contain the same module, with the helpers of its area."""
    imported = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add("." * node.level + (node.module or ""))
    helpers = f"schemalint_rules.{module.parent.name}._"
    foreign = {
        name
        for name in imported
        if name.partition(".")[0] not in sys.stdlib_module_names and not name.startswith(helpers)
    }
    assert "schemalint.plugin" in foreign
    assert [
        name for name in foreign if not f"{name}.".startswith(("schemalint.plugin.", "schemalint.delta."))
    ] == []


def test_codes_and_names_are_unique_and_every_rule_is_loaded() -> None:
    """`load_rules` loads one rule per module."""
    rules = list(built_in().values())
    assert len(rules) == len(MODULES) > 0
    assert len({rule.code for rule in rules}) == len(rules)


@every_rule
def test_page_has_all_sections_and_delta_errors(rule: Rule) -> None:
    """A first sentence, then the five sections in order, with the errors that Delta gives."""
    assert re.fullmatch(r"[A-Z][^.]*\.", rule.summary), rule.summary
    sections = [*SECTIONS[:1], "Options", *SECTIONS[1:]] if rule.declared_options else SECTIONS
    assert re.findall(r"^## (.*)$", rule.doc, re.MULTILINE) == sections
    listed = re.findall(
        r"^- `(\w+)`: ", rule.doc.partition("## Options")[2].partition("## Why")[0], re.MULTILINE
    )
    assert listed == [option.name for option in rule.declared_options]
    named = [name for name in rule.delta_errors if not name.startswith(UNNAMED)]
    missing = [name for name in named if name.partition(".")[0] not in rule.doc]
    assert UNNAMED not in rule.doc
    assert not missing


@every_rule
def test_rule_has_cases_with_a_fix_if_it_is_fixable(rule: Rule) -> None:
    """A fixable rule has a case with a fix, and no other rule has."""
    cases = [case for case in load_cases() if case.rule == rule.name]
    assert cases or WITHOUT_CASES & {*rule.subjects}
    assert rule.fixable == any(case.fixed is not None for case in cases)


@every_rule
def test_example_fails_and_its_replacement_passes(rule: Rule) -> None:
    """Each rule judges the examples on its own page."""
    failing, passing = _examples(rule)
    if WITHOUT_CASES & {*rule.subjects}:
        pytest.skip("no contract can express the fact: see WITHOUT_CASES")
    assert {finding.code for finding in findings(rule, failing)} == {rule.code}
    assert not [finding for finding in findings(rule, passing) if finding.severity > Severity.INFO]


_OTHER_TEXTS = ("log", "files", "engine", "configuration", "checkpoints")


def _examples(rule: Rule) -> tuple[Texts, Texts]:
    """Return the failing and the passing texts; a block ``contract`` is both ``before`` and ``after``."""
    example, _, instead = rule.doc.partition("## Use instead")
    blocks = dict(FENCE.findall(example))
    if "contract" in blocks:
        blocks["before"] = blocks["after"] = blocks.pop("contract")
    failing = {name: text for name, text in blocks.items() if "schemalint:" in text or name in _OTHER_TEXTS}
    (passing,) = (text for name, text in FENCE.findall(instead) if name == "instead")
    if "catalog" in failing:
        return failing, {**failing, "catalog": passing}
    if "files" in failing:
        return failing, {**failing, "files": passing}
    if "log" in failing and "schemalint:" not in passing:
        return failing, {**failing, "log": passing}
    unchanged = failing.get("before") == failing.get("after")
    return failing, {**failing, "after": passing, **({"before": passing} if unchanged else {})}


@every_rule
def test_what_delta_refuses_needs_a_way_out(rule: Rule) -> None:
    """A rule about the table that predicts an error of Delta is ``impossible``; one about readers is not."""
    predicts = rule.scope == "table" and rule.severity is Severity.ERROR and bool(rule.delta_errors)
    if rule.code == "DR003":  # apply creates a missing table
        predicts = False
    if rule.scope == "effect" or predicts:
        assert rule.verdict == ("impossible" if predicts else "breaking")
