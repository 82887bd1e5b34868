"""The pages under docs/ that are made from the code are what the code says."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from schemalint import config, contract
from schemalint.cli import cli
from schemalint.cli.explain import page
from schemalint.lint.rulebook import load_rules
from schemalint.plugin import Rule
from schemalint.report.findings import names
from support.golden import assert_golden

DOCS = Path(__file__).parents[2] / "docs"
BUILT_IN = tuple(rule for rule in load_rules() if rule.distribution == "schemalint")


@pytest.mark.parametrize("rule", BUILT_IN, ids=lambda rule: rule.code)
def test_page_of_a_rule(rule: Rule) -> None:
    assert_golden(page(rule) + "\n", DOCS / "rules" / f"{rule.code.lower()}.md")


def test_every_page_has_a_rule() -> None:
    pages = {path.stem.upper() for path in (DOCS / "rules").glob("*.md")} - {"INDEX"}
    assert pages == {rule.code for rule in BUILT_IN}


def test_index_of_rules() -> None:
    rows = [
        f"| [{rule.code}]({rule.code.lower()}.md) | {rule.severity.label} | {rule.name} | {rule.summary} |"
        for rule in BUILT_IN
    ]
    head = ["# Rules", "", "| code | severity | name | what it finds |", "| --- | --- | --- | --- |"]
    assert_golden("\n".join([*head, *rows]) + "\n", DOCS / "rules" / "index.md")


def test_reference_of_the_command_line() -> None:
    names_of_help = ["-h", "--help"]
    context = click.Context(cli, info_name="schemalint", terminal_width=100, help_option_names=names_of_help)
    sections = ["# The command line\n", f"```\n{cli.get_help(context)}\n```\n"]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context, terminal_width=100)
        sections.append(f"## schemalint {name}\n\n```\n{command.get_help(inner)}\n```\n")
    sections.append(f"Output formats of `check` and `audit`: {', '.join(f'`{name}`' for name in names())}.\n")
    assert_golden("\n".join(sections), DOCS / "cli.md")


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_settings_in_the_text_can_be_read(path: Path) -> None:
    for block in re.findall(r"```toml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        assert config.parse("schemalint.toml", block.encode()) != config.Config()


@pytest.mark.parametrize("path", sorted(DOCS.glob("*.md")), ids=lambda path: path.name)
def test_contracts_in_the_text_can_be_read(path: Path) -> None:
    for block in re.findall(r"```yaml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        if "schemalint: 1" in block:
            result = contract.read(path.name, block)
            assert not result.errors
            assert result.contracts
