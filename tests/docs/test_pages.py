"""Generated pages under docs/ match the code; contracts and settings in other pages are valid."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from schemalint import contract, report
from schemalint.cli import cli
from schemalint.judge.client_losses import known_clients
from schemalint.plugin import Rule
from schemalint.project import config
from schemalint.report.explain import ErrorAdvice, error_advice, explain
from schemalint.report.rule_pages import page
from schemalint.report.table.client_matrix import matrix_markdown
from schemalint.review.rulebook import load_rules
from support.golden import assert_golden

DOCS = Path(__file__).parents[2] / "docs"
ERROR_TABLE = Path(report.__file__).with_name("error_classes.toml")
BUILT_IN = tuple(rule for rule in load_rules() if rule.distribution == "schemalint")


@pytest.mark.parametrize("rule", BUILT_IN, ids=lambda rule: rule.code)
def test_page_of_a_rule_is_the_rule_s_documentation(rule: Rule) -> None:
    assert_golden(page(rule) + "\n", DOCS / "rules" / f"{rule.code.lower()}.md")


def test_every_rule_page_belongs_to_a_rule() -> None:
    pages = {path.stem.upper() for path in (DOCS / "rules").glob("*.md")} - {"INDEX"}
    assert pages == {rule.code for rule in BUILT_IN}


def test_the_matrix_of_clients_is_that_of_the_client_table() -> None:
    start, end = "<!-- matrix: start -->\n", "<!-- matrix: end -->\n"
    head, _, rest = (DOCS / "clients.md").read_text("utf-8").partition(start)
    matrix = matrix_markdown(known_clients(), ())
    assert_golden(f"{head}{start}{matrix}\n{end}{rest.partition(end)[2]}", DOCS / "clients.md")


def test_index_lists_all_rules() -> None:
    rows = [
        f"| [{rule.code}]({rule.code.lower()}.md) | {rule.severity.label} | {rule.name} | {rule.summary} |"
        for rule in BUILT_IN
    ]
    head = ["# Rules", "", "| code | severity | name | what it finds |", "| --- | --- | --- | --- |"]
    assert_golden("\n".join([*head, *rows]) + "\n", DOCS / "rules" / "index.md")


ERRORS_HEAD = """\
# Errors of Delta and Spark

Error classes of Delta 4.4.0 and Spark 4.2.0 that are about schemas, properties, protocols and logs, and
messages of clients: the rules that find the cause before the merge, whose pages say why it happens and what
to do; else what to do. `schemalint explain CLASS` tells the cause of each; it takes a message or a trace too:
`schemalint explain - < job.log`.
"""


def test_page_of_errors_answers_all_that_explain_has_advice_for() -> None:
    topics = re.split(r"^# ---- (.*)$", ERROR_TABLE.read_text("utf-8"), flags=re.MULTILINE)
    advice = {row.errors[0]: row for row in error_advice() if row.errors and row.remedy}
    text = ERRORS_HEAD
    for topic, rows in zip(topics[1::2], topics[2::2], strict=True):
        answers = [_answer(advice.pop(row["errors"][0])) for row in tomllib.loads(rows).get("known", ())]
        text += f"\n## {topic}\n{''.join(answers)}\n" if answers else ""
    assert not advice
    messages = (row for row in error_advice() if not row.errors)
    text += f"\n## Messages of clients\n{''.join(map(_answer, messages))}\n"
    assert_golden(text, DOCS / "errors.md")


def _answer(advice: ErrorAdvice) -> str:
    names = advice.errors or advice.texts
    rules = {rule.code for name in names for error in explain(name, BUILT_IN).errors for rule in error.rules}
    caught = ", ".join(f"[{code}](rules/{code.lower()}.md)" for code in sorted(rules))
    told = advice.remedy
    if rules:
        told = caught if advice.errors else f"{advice.remedy} ({caught})"
    return f"\n- {', '.join(f'`{name}`' for name in names)}: {told}"


HELP = re.compile(r"(?<=<!-- help of the commands -->\n).*", re.DOTALL)
"""The part of `docs/cli.md` that is written by the test."""
SHARED_BY = 2
"""So many commands have an option that the page describes once."""


def test_command_line_reference_shows_every_command_s_options() -> None:
    parent = click.Context(cli, info_name="schemalint", terminal_width=100)
    contexts = [_context(name, parent) for name in cli.list_commands(parent)]
    owners = Counter(record for inner in contexts for record in _options(inner))
    shared = [record for record, number in owners.most_common() if number >= SHARED_BY]
    most_common = {_flag(record): record for record in reversed(shared)}
    described = sorted(most_common.values(), key=_flag)
    sections = [f"\n## Options of several commands\n\n{_help('', described)}"]
    for inner in contexts:
        own = [record for record in _options(inner) if record not in shared]
        sections.append(f"\n## schemalint {inner.info_name}\n\n{_help(_usage(inner), own)}")
    page = HELP.sub(lambda _: "".join(sections), (DOCS / "cli.md").read_text("utf-8"))
    assert_golden(page, DOCS / "cli.md")


def _context(name: str, parent: click.Context) -> click.Context:
    command = cli.get_command(parent, name)
    assert command is not None
    return click.Context(command, info_name=name, parent=parent, terminal_width=100)


def _options(context: click.Context) -> list[tuple[str, str]]:
    """Return the options of a command with their help, as `--help` shows them."""
    options = [param for param in context.command.params if isinstance(param, click.Option)]
    return [record for option in options if (record := option.get_help_record(context)) is not None]


def _flag(record: tuple[str, str]) -> str:
    """Return the name of an option alone."""
    return record[0].split(", ")[-1].split(" ")[0]


def _usage(context: click.Context) -> str:
    """Return the usage of a command; what it does says its row of the page's table, and `--help`."""
    formatter = context.make_formatter()
    context.command.format_usage(context, formatter)
    return formatter.getvalue().strip("\n").removeprefix("Usage: ")


def _help(usage: str, options: list[tuple[str, str]]) -> str:
    formatter = click.HelpFormatter(width=100)
    if options:
        formatter.write_dl(options)
    parts = [text for text in (usage, formatter.getvalue().rstrip("\n")) if text]
    return "```\n" + "\n\n".join(parts) + "\n```\n"


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("contract", ("contract", "consumers", "exceptions")),
        ("exceptions", ("exceptions",)),
        ("config", ("configuration", "tables", "consumers", "clients")),
    ],
)
def test_reference_names_every_key_of_a_format(name: str, pages: tuple[str, ...]) -> None:
    document = json.loads(CliRunner().invoke(cli, ["schema", name]).output)
    text = "".join((DOCS / f"{page}.md").read_text("utf-8") for page in pages)
    named = set(re.findall(r"[\w-]+", text))
    assert _keys(document) - named == set()


def _keys(schema: object) -> set[str]:
    """Return the keys of a JSON Schema, at every level."""
    if isinstance(schema, list):
        return {key for part in schema for key in _keys(part)}
    if not isinstance(schema, dict):
        return set()
    properties = schema.get("properties", {})
    return set(properties).union(
        *(_keys(part) for part in properties.values()),
        *(_keys(part) for name, part in schema.items() if name != "properties"),
    )


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
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[`(\w+)`\]\(#schemalint-\1\) \|", page, re.MULTILINE)
    assert sorted(listed) == cli.list_commands(click.Context(cli))
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "4", "130", "143"]
