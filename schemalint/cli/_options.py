"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from schemalint.cli._output import is_terminal, show
from schemalint.files import write_text
from schemalint.model.finding import Severity
from schemalint.printable import SafeText
from schemalint.report.findings import names as format_names

F = TypeVar("F", bound=Callable[..., Any])

PENDING = 4

FAIL_ON = {"error": Severity.ERROR, "warning": Severity.WARNING, "info": Severity.INFO, "never": None}


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


def report_options(function: F) -> F:
    """Add the options that set when findings fail the run, and how they are printed."""
    for option in (
        color_option,
        click.option("--output-file", type=click.Path(dir_okay=False), help="Write the report to a file"),
        click.option(
            "--output-format",
            envvar="SCHEMALINT_OUTPUT_FORMAT",
            show_envvar=True,
            default="full",
            show_default=True,
            metavar="FORMAT",
            help=f"Format of the report: {', '.join(format_names())}",
        ),
        click.option("--exit-zero", is_flag=True, help="Exit with 0 even if there are findings"),
        click.option("--fail-on", type=click.Choice([*FAIL_ON]), help="Lowest severity that fails the run"),
    ):
        function = option(function)
    return function


def least_severity(configured: Severity | None, fail_on: str | None, *, exit_zero: bool) -> Severity | None:
    """Return the lowest severity that fails the run, None for none; options override the configuration."""
    if exit_zero:
        return None
    return FAIL_ON[fail_on] if fail_on else configured


def write_report(text: SafeText, output_file: str | None, *, err: bool = False) -> None:
    """Print a report, or write it to a file.

    Raises:
        UsageError: The file cannot be written.
    """
    if not output_file:
        show(text, err=err)
        return
    write_text(Path(output_file), text)


def is_colored(color: str, output_file: str | None) -> bool:
    """Whether the report is colored; with ``auto`` only in a terminal."""
    if color != "auto" or output_file:
        return color == "always"
    return not os.environ.get("NO_COLOR") and is_terminal()


local_plugins_option = click.option(
    "--allow-local-plugins", is_flag=True, help="Run rules from the files that the configuration lists"
)


def project_options(function: F) -> F:
    """Add the options that choose the configuration, and where its history comes from."""
    function = click.option(
        "--fetch", is_flag=True, help="Fetch history from the remote if this clone lacks it"
    )(function)
    function = click.option(
        "--trusted-ref",
        multiple=True,
        metavar="REF",
        help="In CI, trust the configuration of this branch or reference like that of the default branch",
    )(function)
    function = click.option("--isolated", is_flag=True, help="Ignore all configuration files")(function)
    return click.option("--config", "config_file", metavar="FILE", help="Read this configuration file")(
        function
    )


def rule_options(function: F) -> F:
    """Add the options that select rules."""
    for option in (
        local_plugins_option,
        click.option("--preview", is_flag=True, help="Run preview rules too"),
        click.option(
            "--ignore", multiple=True, callback=split_codes, metavar="CODES", help="Skip these rules"
        ),
        click.option(
            "--extend-select",
            multiple=True,
            callback=split_codes,
            metavar="CODES",
            help="Run these rules in addition",
        ),
        click.option(
            "--select",
            multiple=True,
            callback=split_codes,
            metavar="CODES",
            help="Run only these rules: codes, prefixes or names",
        ),
    ):
        function = option(function)
    return function
