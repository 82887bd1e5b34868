"""The only place that prints. What it prints was made by `schemalint.base.printable`."""

from __future__ import annotations

import io
import os
import select
import sys
from contextlib import suppress
from threading import RLock
from typing import Final

import click

from schemalint.base.errors import SchemalintError, UsageError
from schemalint.base.phrases import affixed
from schemalint.base.printable import SafeText, document_text, printable, status_line, terminal_text

_OUTPUT: Final = RLock()
status: list[str] = []  # the line that the terminal shows below all output


def show(text: SafeText, *, err: bool = False, color: bool | None = None) -> None:
    """Print an output as it is, on standard output or standard error."""
    with _OUTPUT:
        erase_status()
        click.echo(text, nl=False, err=err, color=color)


def draw_status(text: str, columns: int) -> None:
    """Show a line in the terminal on standard error until the next output."""
    with _OUTPUT:
        if status != [text]:
            status[:] = [text]
            click.echo(status_line(text, columns), nl=False, err=True, color=True)


def erase_status() -> None:
    """Erase the line of `draw_status`, if the terminal shows one."""
    with _OUTPUT:
        if status:
            status.clear()
            click.echo(status_line("", 1), nl=False, err=True, color=True)


def print_error(error: SchemalintError, table: str = "") -> None:
    """Print an error to standard error: its location, table, message and help."""
    location = affixed("", error.location, ": ")
    name = f"{table}: " if table not in error.message else ""
    label = click.style("error", fg="red", bold=True)
    # `terminal_text` keeps styles, also those of an attacker: no text but the label may contain one.
    lines = [f"{label}: {printable(f'{location}{name}{error.message}')}"]
    if error.help:
        lines.append(f"  help: {printable(error.help)}")
    show(terminal_text(lines, styled=True), err=True)


def print_note(text: str) -> None:
    """Print a line for people on standard error."""
    show(terminal_text([text]), err=True)


def print_usage_error(error: click.ClickException) -> None:
    """Print click's own text about an invalid command line, which repeats the arguments."""
    text = io.StringIO()
    error.show(text)
    show(document_text(text.getvalue()), err=True)


def can_ask() -> bool:
    """Whether somebody sits at a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def confirmed(question: str) -> bool:
    """Ask for consent; without a terminal there is none."""
    return can_ask() and click.confirm(terminal_text([question]).rstrip())


def is_terminal() -> bool:
    """Whether people read standard output as it comes."""
    return sys.stdout.isatty()


def is_full_terminal(*, err: bool) -> bool:
    """Whether standard output, or standard error, is a terminal with colors, which can rewrite its lines."""
    return (sys.stderr if err else sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def is_output_closed() -> bool:
    """Whether standard output or standard error is a pipe or a socket that nobody reads any more."""
    if not hasattr(select, "poll"):
        return True  # Windows: the system does not say
    outputs = select.poll()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # not a file: in notebooks
            outputs.register(stream.fileno(), 0)
    return bool(outputs.poll(0))


def flush_streams() -> None:
    """Write what standard output and standard error still hold back."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()


def prepare_streams() -> None:
    """Require an open standard output; pipes and files get UTF-8, and a terminal what it can show.

    Raises:
        UsageError: Standard output is closed.
    """
    if sys.stdout is None:
        raise UsageError("standard output is closed", help="redirect it: > /dev/null")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
