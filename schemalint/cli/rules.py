"""``schemalint rules``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from schemalint import contract
from schemalint.base.printable import SafeText
from schemalint.cli._completion import table_names
from schemalint.cli._options import examples
from schemalint.cli._output import show
from schemalint.contract.contract_files import contract_files
from schemalint.model.contract import table_key
from schemalint.project import git
from schemalint.project.config.repository_config import found_config, with_nested_at
from schemalint.project.config.trust import NO_RULE_FILES
from schemalint.report import rule_pages as rule_texts
from schemalint.review.rule_sets import rule_sets_of
from schemalint.review.rulebook import load_rules
from schemalint.review.rules_in_use import rules_in_use


@click.command(
    "rules",
    epilog=examples(
        "schemalint rules",
        "schemalint rules --for sales.orders",
        "schemalint rules --output-format json",
    ),
)
@click.option(
    "--for",
    "table",
    metavar="TABLE",
    shell_complete=table_names,
    help="List the rules that judge this table, with the values of their options",
)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the list",
)
def command(table: str | None, output_format: str) -> int:
    """List all installed rules.

    With --for, the rules are those of the configuration in the working tree for one table, declared or not:
    with their severity, who ignores them, and the value of each option, with the line that sets it.
    """
    if table is not None:
        show(_for_table(table, as_json=output_format == "json"))
        return 0
    rules = load_rules()
    show(rule_texts.as_json(rules) if output_format == "json" else rule_texts.as_text(rules))
    return 0


def _for_table(table: str, *, as_json: bool) -> SafeText:
    repository = git.open_repository(Path.cwd(), os.environ)
    config = with_nested_at(repository, git.Worktree(), found_config(repository))
    base, head = git.EmptyTree("one side is read"), git.Worktree()
    files = git.changes(repository, base, head, contract_files(config).format_of, config.globs).head
    declaring = (path for path, file in files.items() if table_key(table) in contract.table_keys(file))
    file = next(declaring, None)
    # Rule files of the repository do not run to be listed.
    (rules,) = rule_sets_of([config], local=NO_RULE_FILES).of(file)
    in_use = rules_in_use(config if file is None else config.at(file), rules, table)
    if as_json:
        return rule_texts.for_table_as_json(in_use)
    return rule_texts.for_table(in_use)
