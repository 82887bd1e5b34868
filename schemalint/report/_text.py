"""Text that is safe to print.

Contracts, file names and branch names come with pull requests from strangers. What is printed must not
steer a terminal, hide itself from a reader, or give commands to the CI service that reads the log.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

import click

from schemalint.model.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_SENTENCES: Final = 5
"""Of one kind about one thing: a statement may alter thousands of columns."""

COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}

# GitHub's runner obeys "##[name]" anywhere in a line (actions/runner, ActionCommand.cs, TryParse), and
# Azure's agent "##vso[area.event]" (azure-pipelines-agent, Command.cs).
_COMMAND_ANYWHERE = re.compile(r"##(?=\w*\[)")
# GitHub's runner obeys "::name::" at the start of a line, behind blanks too (ActionCommand.cs, TryParseV2).
_COMMAND_AT_START = re.compile(r"^( *):(?=:)")


def printable(text: str) -> str:
    r"""The text on one line with every character visible, and without commands to a CI service.

    Controls, line ends, invisible characters, those that turn the direction of text, and halves of
    surrogate pairs become escapes as in Python, such as ``\x1b``.
    """
    text = _COMMAND_ANYWHERE.sub(r"#\\x23", _visible(text))
    return _COMMAND_AT_START.sub(r"\1\\x3a", text)


def styled(text: str, *, color: bool, fg: str | None = None, bold: bool = False) -> str:
    """The text in a style of the terminal's, or as it is without `color`."""
    return click.style(text, fg=fg, bold=bold or None) if color and text else text


def counted(number: int, noun: str) -> str:
    """A number with its noun: ``1 error``, ``2 errors``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_few(sentences: Sequence[str]) -> Iterator[str]:
    """The first of some sentences, and how many more there are: ``and 1,995 more``."""
    yield from islice(sentences, MOST_SENTENCES)
    if len(sentences) > MOST_SENTENCES:
        yield f"and {len(sentences) - MOST_SENTENCES:,} more"


def _visible(text: str) -> str:
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    return char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
