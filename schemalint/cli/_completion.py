"""What a shell offers after the Tab key. Nothing of the repository runs: only its configuration is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from schemalint.base.errors import ConfigError, SchemalintError
from schemalint.project import config, git
from schemalint.report import findings
from schemalint.review.rulebook import load_rules

_NAME: Final = r"[A-Za-z0-9][\w.-]*"
"""Names that a shell shows and inserts as they are; a stranger may have chosen others."""


def rule_codes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the codes of installed rules; of a list with commas, the last one is completed."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{rule.code}" for rule in load_rules() if rule.code.startswith(last.upper())]


def report_formats(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the formats of reports."""
    return [name for name in findings.names() if name.startswith(incomplete)]


def target_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the targets of the configuration in the working folder or above it."""
    return [name for name in _targets() if re.fullmatch(_NAME, name) and name.startswith(incomplete)]


def table_names(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Return the tables that contracts of the repository declare, in lower case, as Delta compares names."""
    typed = incomplete.lower()
    return sorted(name for name in {*_tables()} if re.fullmatch(_NAME, name) and name.startswith(typed))


def _tables() -> Iterator[str]:
    from schemalint import contract  # noqa: PLC0415
    from schemalint.contract.contract_files import ContractFiles  # noqa: PLC0415

    try:
        repository = git.find_repository(Path.cwd(), os.environ)
        if repository is None:
            return
        nothing = git.EmptyTree("one side is read")
        files = git.changes(repository, nothing, git.Worktree(), ContractFiles().format_of).head
    except SchemalintError:
        return
    for file in files.values():
        yield from contract.table_keys(file)


def _targets() -> Iterator[str]:
    here = Path.cwd()
    for folder in (here, *here.parents):
        for name in config.FILES:
            try:
                data = config.read_file(folder / name)
                parsed_config = config.parse(name, data) if data else config.Config()
            except ConfigError:
                continue
            yield from parsed_config.targets
        if (folder / ".git").exists():
            return
