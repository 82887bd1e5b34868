"""Generated pages under docs/ match the code; contracts and settings in other pages are valid."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

from schemalint import config, contract
from schemalint.cli import cli
from schemalint.lint.client_support import known_clients
from schemalint.lint.error_classes import error_advice
from schemalint.lint.rule_lookup import explain
from schemalint.lint.rulebook import load_rules
from schemalint.plugin import Rule
from schemalint.report.rules import page
from schemalint.report.table.clients import matrix_markdown
from support.golden import assert_golden

DOCS = Path(__file__).parents[2] / "docs"
BUILT_IN = tuple(rule for rule in load_rules() if rule.distribution == "schemalint")


@pytest.mark.parametrize("rule", BUILT_IN, ids=lambda rule: rule.code)
def test_page_of_a_rule_is_the_rule_s_documentation(rule: Rule) -> None:
    assert_golden(page(rule) + "\n", DOCS / "rules" / f"{rule.code.lower()}.md")


def test_every_rule_page_belongs_to_a_rule() -> None:
    pages = {path.stem.upper() for path in (DOCS / "rules").glob("*.md")} - {"INDEX"}
    assert pages == {rule.code for rule in BUILT_IN}


def test_the_matrix_of_clients_is_that_of_the_client_table() -> None:
    about = "The newest version of each client that schemalint knows; [how to read it](clients.md)."
    head = f"# The client table\n\n{about}\n\n"
    assert_golden(head + matrix_markdown(known_clients(), ()), DOCS / "client-table.md")


def test_index_lists_all_rules() -> None:
    rows = [
        f"| [{rule.code}]({rule.code.lower()}.md) | {rule.severity.label} | {rule.name} | {rule.summary} |"
        for rule in BUILT_IN
    ]
    head = ["# Rules", "", "| code | severity | name | what it finds |", "| --- | --- | --- | --- |"]
    assert_golden("\n".join([*head, *rows]) + "\n", DOCS / "rules" / "index.md")


def test_page_of_errors_lists_all_that_explain_has_advice_for() -> None:
    rows = []
    for advice in filter(lambda advice: advice.remedy, error_advice()):
        found = {
            rule.code
            for name in advice.errors
            for error in explain(name, BUILT_IN).errors
            for rule in error.rules
        }
        links = ", ".join(f"[{code}](rules/{code.lower()}.md)" for code in sorted(found))
        names = ", ".join(f"`{name}`" for name in advice.errors)
        rows.append(f"| {names} | {advice.cause} | {advice.remedy} | {links} |")
    head = (
        "# Errors of Delta and Spark\n\n"
        "What `schemalint explain` knows about the error classes of Delta 4.4.0 and Spark 4.2.0 that are\n"
        "about schemas, properties, protocols and logs. It takes a class, a message, or a stack trace from\n"
        "standard input: `schemalint explain - < job.log`.\n\n"
        "| errors | cause | what to do | rules |\n| --- | --- | --- | --- |\n"
    )
    assert_golden(head + "\n".join(rows) + "\n", DOCS / "errors.md")


def test_command_line_reference_shows_every_command_s_help() -> None:
    help_options = ["-h", "--help"]
    context = click.Context(cli, info_name="schemalint", terminal_width=100, help_option_names=help_options)
    sections = ["# The command line\n", f"```\n{cli.get_help(context)}\n```\n"]
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context, terminal_width=100)
        sections.append(f"## schemalint {name}\n\n```\n{command.get_help(inner)}\n```\n")
    assert_golden("\n".join(sections), DOCS / "cli.md")


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_toml_blocks_are_valid_settings(path: Path) -> None:
    for block in re.findall(r"```toml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        assert config.parse("schemalint.toml", block.encode()) != config.Config()


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.md")), ids=lambda path: path.stem)
def test_yaml_blocks_with_contracts_are_valid(path: Path) -> None:
    for block in re.findall(r"```yaml\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL):
        if "schemalint: 1" in block:
            result = contract.read(path.name, block)
            assert not result.errors
            assert result.contracts


def test_all_commands_and_all_exit_statuses_are_listed() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `schemalint (\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == cli.list_commands(click.Context(cli))
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "4", "130", "143"]
