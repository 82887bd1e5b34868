"""The options that several commands have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from schemalint.config import Config
from schemalint.errors import UsageError
from schemalint.model.finding import Severity

F = TypeVar("F", bound=Callable[..., Any])

PENDING = 4

FAIL_ON = {"error": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.INFO, "never": None}


def with_codes(_ctx: click.Context, _param: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Codes as they are given: several times, or with commas."""
    return tuple(code.strip() for value in values for code in value.split(",") if code.strip())


def report_options(function: F) -> F:
    """When findings fail the run, and how they are shown."""
    for option in (
        click.option("--color", type=click.Choice(["auto", "always", "never"]), default="auto"),
        click.option("--output-file", type=click.Path(dir_okay=False), help="Write the report there."),
        click.option("--output-format", envvar="SCHEMALINT_OUTPUT_FORMAT", default="full", metavar="FORMAT"),
        click.option("--exit-zero", is_flag=True, help="Findings never fail the run."),
        click.option(
            "--fail-on", type=click.Choice([*FAIL_ON]), help="The least severity that fails the run."
        ),
    ):
        function = option(function)
    return function


def least_severity(settings: Config, fail_on: str | None, *, exit_zero: bool) -> Severity | None:
    """The least severity that fails the run, None for none: a flag wins over the configuration."""
    if exit_zero:
        return None
    return FAIL_ON[fail_on] if fail_on else settings.fail_on


def write_report(text: str, output_file: str | None, *, err: bool = False) -> None:
    """Print a report, or write it into a file.

    Raises:
        UsageError: The file cannot be written.
    """
    if not output_file:
        click.echo(text, nl=False, err=err)
        return
    try:
        Path(output_file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{output_file} cannot be written: {error.strerror}", help="see --output-file"
        ) from error


def is_colored(color: str, output_file: str | None) -> bool:
    """Whether the report is styled: in a terminal, if nothing else is said."""
    if color != "auto" or output_file:
        return color == "always"
    return not os.environ.get("NO_COLOR") and sys.stdout.isatty()


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
