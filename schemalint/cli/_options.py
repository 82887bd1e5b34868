"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from schemalint.base.files import write_text
from schemalint.base.printable import SafeText
from schemalint.cli._completion import rule_codes, target_names
from schemalint.cli._output import is_full_terminal, show
from schemalint.cli._typed import ReportOptions
from schemalint.delta.engine import Engine, parse_engine
from schemalint.model.finding import Severity

F = TypeVar("F", bound=Callable[..., Any])

PENDING = 4

FAIL_ON = {"error": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.INFO, "never": None}


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return options as one decorator, in the order of the help."""

    def decorated(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorated


def examples(*commands: str) -> str:
    """Return the end of a command's help."""
    return "\n".join(("\b", "Examples:", *(f"  {command}" for command in commands)))


color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Color the output; auto: only in a terminal",
)


def split_codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split rule codes: the option may be repeated, and each value may be a comma-separated list."""
    return tuple(code.strip() for value in values for code in value.split(",") if code.strip())


def least_severity(configured: Severity | None, options: ReportOptions) -> Severity | None:
    """Return the lowest severity that fails the run, None for none; options override the configuration."""
    if options.fail_on:
        return FAIL_ON[options.fail_on]
    return configured


def write_report(text: SafeText, file: str | None, *, err: bool = False, color: bool | None = None) -> None:
    """Print a report, or write it to a file; ``color`` keeps styles where no terminal is.

    Raises:
        UsageError: The file cannot be written.
    """
    if not file:
        show(text, err=err, color=color)
        return
    write_text(Path(file), text)


def is_colored(color: str, file: str | None, *, err: bool = False) -> bool:
    """Whether the report is colored; with ``auto`` in a terminal, unless the environment says otherwise.

    NO_COLOR (no-color.org) and FORCE_COLOR (force-color.org) count if they are not empty, NO_COLOR first.
    """
    if color != "auto" or file:
        return color == "always"
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or is_full_terminal(err=err)


def engine_option(text: str) -> Callable[[F], F]:
    """Return the option that names an engine with its version."""

    def parsed(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Engine | None:
        try:
            if value is None:
                return None
            return parse_engine(value)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return click.option("--engine", metavar="ENGINE", callback=parsed, help=text)


def target_option(text: str) -> Callable[[F], F]:
    """Return the option that names a target of the configuration."""
    return click.option("--target", metavar="NAME", help=text, shell_complete=target_names)


local_plugins_option = click.option(
    "--allow-local-plugins", is_flag=True, help="Run rules from the files that the configuration lists"
)


project_options = together(
    click.option("--config", "config_file", metavar="FILE", help="Read this configuration file"),
    click.option("--isolated", is_flag=True, help="Ignore all configuration files"),
    click.option(
        "--trusted-ref",
        multiple=True,
        metavar="REF",
        help="In CI, trust the configuration of this branch or reference like that of the default branch",
    ),
    click.option("--fetch", is_flag=True, help="Fetch history from the remote if this clone lacks it"),
)
"""The options that choose the configuration, and where its history comes from."""

history_option = click.option(
    "--history",
    is_flag=True,
    help="Read the whole history of the live tables, not only what their newest version needs",
)


def _codes_option(name: str, text: str) -> Callable[[F], F]:
    return click.option(
        name, multiple=True, callback=split_codes, metavar="CODES", shell_complete=rule_codes, help=text
    )


rule_options = together(
    _codes_option("--select", "Run only these rules: codes, prefixes or names"),
    _codes_option("--extend-select", "Run these rules in addition"),
    _codes_option("--ignore", "Skip these rules"),
    local_plugins_option,
)
"""Add the options that select rules."""
