"""Text that is safe to print.

Contracts, logs, file names and branch names are untrusted input. The output must not control a terminal, hide
text from the reader, or contain commands to the CI service that reads the log. All text for a terminal, a CI
log or a summary passes through `printable`; every JSON document passes through `json_text`.
"""

from __future__ import annotations

import json
import re
from typing import Final

# GitHub's runner executes "##[name]" anywhere in a line (actions/runner, ActionCommand.cs, TryParse), and
# Azure's agent "##vso[area.event]" (azure-pipelines-agent, Command.cs).
_COMMAND_ANYWHERE: Final = re.compile(r"##(?=\w*\[)")
# GitHub's runner executes "::name::" at the start of a line, blanks ignored (ActionCommand.cs, TryParseV2).
_COMMAND_AT_START: Final = re.compile(r"^( *):(?=:)")


def printable(text: str) -> str:
    r"""Return the text as one line with every character visible and all commands to CI services disabled.

    Control characters, line ends, invisible characters and characters that change the text direction become
    Python escapes such as ``\x1b``. Bytes of file names that are not UTF-8 become escapes too.
    """
    return _COMMAND_AT_START.sub(r"\1\\x3a", _COMMAND_ANYWHERE.sub(r"#\\x23", visible(text)))


def printable_lines(text: str) -> str:
    """Apply `printable` to each line of the text."""
    return "\n".join(map(printable, text.split("\n")))


def visible(text: str) -> str:
    """Return the text as one line with every character visible; CI commands stay.

    For parts of a line: `printable` must still process the whole line.
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def json_text(document: object, *, indent: int | None = None) -> str:
    """Serialize one JSON value in ASCII, with commands to CI services disabled."""
    return json.dumps(document, indent=indent).replace("##", r"#\u0023")


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    if "\udc80" <= char <= "\udcff":  # os.fsdecode() returns a byte that is not UTF-8 as this surrogate
        return f"\\x{ord(char) - 0xDC00:02x}"
    return char.encode("unicode_escape").decode("ascii")
