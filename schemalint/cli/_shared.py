"""What several commands need: the repository, the configuration, the options they have in common."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import click

from schemalint import config, git
from schemalint.config import Config
from schemalint.engine import load_rules
from schemalint.engine.rulebook import selection_of
from schemalint.errors import ConfigError
from schemalint.git import Repository
from schemalint.plugin import Rule

F = TypeVar("F", bound=Callable[..., Any])

PENDING = 4


@dataclass(frozen=True, slots=True)
class Project:
    """A repository with its configuration."""

    repository: Repository
    config: Config


def project(config_file: str | None = None, *, isolated: bool = False) -> Project:
    """The repository around the working directory.

    Raises:
        SchemalintError: There is none, or its configuration cannot be used.
    """
    repository = git.open_repository(Path.cwd(), os.environ)
    if isolated:
        return Project(repository, Config())
    if config_file is not None:
        path = Path(config_file)
        if not path.is_file():
            raise ConfigError(f"there is no file {config_file}", help="see --config")
        return Project(repository, config.parse(path.name, path.read_bytes()))
    return Project(repository, config.load(lambda name: _read(repository.root / name)))


def rules_of(
    settings: Config,
    *,
    select: tuple[str, ...] = (),
    extend_select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    preview: bool = False,
    local_from: Path | None = None,
) -> tuple[Rule, ...]:
    """The selected rules: the command line wins over the configuration.

    Args:
        settings: The configuration.
        select: As the command line has it, like the following.
        extend_select: Rules beside those.
        ignore: All but these.
        preview: Rules in preview too.
        local_from: The folder that local files of rules are taken from; None where they are not allowed.

    Raises:
        UsageError: Local files are configured, and not allowed.
    """
    selection = selection_of(settings, local_from)
    return load_rules(
        replace(
            selection,
            select=select or selection.select,
            extend_select=(*selection.extend_select, *extend_select),
            ignore=(*selection.ignore, *ignore),
            preview=preview or selection.preview,
        )
    )


def with_codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Codes as they are given: several times, or with commas."""
    return tuple(code.strip() for value in values for code in value.split(",") if code.strip())


local_plugins_option = click.option(
    "--allow-local-plugins", is_flag=True, help="Run the files of rules that the configuration names."
)


def project_options(function: F) -> F:
    """``--config`` and ``--isolated``."""
    function = click.option("--isolated", is_flag=True, help="Read no configuration.")(function)
    return click.option("--config", "config_file", metavar="FILE", help="Read this configuration.")(function)


def rule_options(function: F) -> F:
    """Which rules run."""
    for option in (
        local_plugins_option,
        click.option("--preview", is_flag=True, help="Run rules in preview too."),
        click.option("--ignore", multiple=True, callback=with_codes, metavar="CODES", help="All but these."),
        click.option(
            "--extend-select", multiple=True, callback=with_codes, metavar="CODES", help="These rules too."
        ),
        click.option(
            "--select", multiple=True, callback=with_codes, metavar="CODES", help="Only these rules."
        ),
    ):
        function = option(function)
    return function


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
