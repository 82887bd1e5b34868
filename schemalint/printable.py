"""Text that is safe to print.

Contracts, logs, file names and branch names come from strangers. What is printed must not steer a terminal,
hide itself from a reader, or give commands to the CI service that reads the log. Everything that reaches a
terminal, a CI log or a summary goes through `printable`; every JSON document goes through `json_text`.
"""

from __future__ import annotations

import json
import re
from typing import Final

# GitHub's runner obeys "##[name]" anywhere in a line (actions/runner, ActionCommand.cs, TryParse), and
# Azure's agent "##vso[area.event]" (azure-pipelines-agent, Command.cs).
_COMMAND_ANYWHERE: Final = re.compile(r"##(?=\w*\[)")
# GitHub's runner obeys "::name::" at the start of a line, behind blanks too (ActionCommand.cs, TryParseV2).
_COMMAND_AT_START: Final = re.compile(r"^( *):(?=:)")


def printable(text: str) -> str:
    r"""The text on one line with every character visible, and without commands to a CI service.

    Controls, line ends, invisible characters and those that turn the direction of text become escapes as in
    Python, such as ``\x1b``; so do the bytes of file names that are not UTF-8.
    """
    return _COMMAND_AT_START.sub(r"\1\\x3a", _COMMAND_ANYWHERE.sub(r"#\\x23", visible(text)))


def printable_lines(text: str) -> str:
    """Each line of the text as `printable` has it."""
    return "\n".join(map(printable, text.split("\n")))


def visible(text: str) -> str:
    """The text on one line with every character visible: part of a line that `printable` gets as a whole."""
    return text if text.isprintable() else "".join(map(_escaped, text))


def json_text(document: object, *, indent: int | None = None) -> str:
    """One JSON value in ASCII, without commands to a CI service."""
    return json.dumps(document, indent=indent).replace("##", r"#\u0023")


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":  # a byte that is not UTF-8, as os.fsdecode() gives it
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")
