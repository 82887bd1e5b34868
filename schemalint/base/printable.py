"""Text for each destination, escaped so that the destination obeys none of it.

Contracts, logs, file names, branch names, answers of servers and messages of libraries are untrusted input.
The output must not control a terminal, hide text from the reader, contain commands to the CI service that
reads the log, form Markdown, or become part of an SQL statement.

All output is a `SafeText`, and only this module makes one: each destination has one function here that turns
lines or a document into the whole output. Credentials are replaced everywhere (`schemalint.base.redaction`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NewType

from schemalint.base.redaction import may_hold_secrets, without_secrets

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

SafeText = NewType("SafeText", str)
"""A whole output, with line breaks; the command line prints and writes nothing else."""

# The patterns are texts: most runs need few of them, and `re` keeps what it has compiled.

# GitHub's runner executes "##[name]" anywhere in a line (actions/runner, ActionCommand.cs, TryParse), Azure's
# agent "##vso[area.event]" (azure-pipelines-agent, Command.cs), TeamCity "##teamcity[name" (documentation,
# "Service Messages"). A space after the signs, as in a heading of Markdown, makes none of them; a backslash
# begins an escape.
_COMMAND_ANYWHERE: Final = r"##(?=[^\s#\\])"
# GitHub's runner executes "::name::" at the start of a line, blanks ignored (ActionCommand.cs, TryParseV2).
_COMMAND_AT_START: Final = r"^([ \u3000]*):(?=:)"
# GitLab's sections need a carriage return and an escape sequence (gitlab, regex.rb,
# build_trace_section_regex), which no text keeps; other viewers of its logs read the name.
_SECTION: Final = r"section_(?=(?:start|end):\d)"

# Python calls these printable, but they are invisible (Unicode, Default_Ignorable_Code_Point, and the Braille
# blank). GitHub's runner compares by rules of the language, which ignore such characters within a command.
_INVISIBLE: Final = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0))
) | frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))

# Ordinary text that these rules would escape. A symbol such as U+26A0 with this selector is drawn as an
# emoji; elsewhere the selector is invisible. The blank of East Asian text is as wide as a letter.
_EMOJI_SELECTOR: Final = "\ufe0f"
_WIDE_BLANK: Final = "\u3000"

# The styles of `schemalint.report.text_helpers.styled`: bold and six colors.
_STYLE: Final = "(\x1b\\[(?:0|1|3[1-6])m)"
_TAB: Final = " " * 4

# The percent sign comes first: the escapes of the other rows contain it.
_DATA: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY: Final = (*_DATA, (":", "%3A"), (",", "%2C"))

_MARKUP: Final = r"(?a)[^\w \u0080-\U0010ffff]|_"
# Forges link these in the rendered text, where the escapes of `_MARKUP` no longer show: mentions, issues,
# merge requests, milestones, labels, epics, commits, and addresses. They do not look into code.
_REFERENCE: Final = r"(?i)[@#!~%&^$]|\bGH-\d|\b[0-9a-f]{7,40}\b|://|\bwww\."
_FENCE: Final = "```"

_END_OF_BLOCK: Final = (
    r"</(?:head|title|style|header|nav|main|section|article|h\d|p|ul|ol|li|dl|dd|tr|table|pre)>"
)

_XML_WITH_LINES: Final = ("failure", "error", "system-out")

_JSON_STRING: Final = r'"[^"\\]*(?:\\.[^"\\]*)*"'


def visible(text: str) -> str:
    """Return the text as one line with every character visible; CI commands and credentials stay.

    For parts of a line, and names that are compared with each other: the output must still be made by one of
    the other functions.
    """
    if _is_visible(text):
        return text
    return "".join(char if _is_visible(char) else _escaped(char) for char in text)


def printable(text: str) -> str:
    r"""Return the text as one line with every character visible and all commands to CI services disabled.

    Control characters, line ends, invisible characters and characters that change the text direction become
    Python escapes such as ``\x1b``; emoji and the wide blank of East Asian text stay. Bytes of file names
    that are not UTF-8 become escapes too.
    """
    text = without_commands(without_secrets(text), _escaped)
    if "::" in text:
        return re.sub(_COMMAND_AT_START, r"\1\\x3a", text)
    return text


def without_commands(text: str, escaped: Callable[[str], str]) -> str:
    """Escape invisible characters, and one character of each command that a CI service finds within a line.

    For languages with escapes of their own, whose text stays the same text after this: literals of SQL, YAML.
    """
    if not _is_visible(text):
        text = "".join(
            char if _is_visible(char) or _is_ordinary(char, before) else escaped(char)
            for before, char in zip(f" {text}", text, strict=False)
        )
    if "##" in text:
        text = re.sub(_COMMAND_ANYWHERE, f"#{escaped('#')}".replace("\\", r"\\"), text)
    if "section_" in text:
        text = re.sub(_SECTION, f"section{escaped('_')}".replace("\\", r"\\"), text)
    return text


def printable_lines(text: str) -> str:
    """Apply `printable` to each line of the text."""
    return "\n".join(map(printable, text.split("\n")))


def terminal_text(lines: Iterable[str], *, styled: bool = False) -> SafeText:
    """Return the output for a terminal or a CI log: one line for each text, with a line break at its end.

    Args:
        lines: The lines; a line break in one of them is escaped.
        styled: Whether the lines contain colors of `schemalint.report.text_helpers.styled`. All other text in
            them must be `printable` already: its own colors would stay.
    """
    escaped = map(_styled_line if styled else printable, lines)
    return SafeText("".join(f"{line}\n" for line in escaped))


def status_line(text: str, columns: int) -> SafeText:
    """Return a line for a terminal that replaces the one that it shows; without a text the line is empty.

    The next output replaces it too, so it ends without a line break and is never as wide as the terminal.
    """
    from unicodedata import east_asian_width  # noqa: PLC0415 (only while something takes long)

    start, width = "", 0
    for char in printable(text):
        width += 2 if east_asian_width(char) in "WF" else 1
        if width >= columns:
            break
        start += char
    return SafeText(f"\r\x1b[K{start}")


def document_text(text: str) -> SafeText:
    """Return a text of several lines for a terminal or a CI log, such as a diff or a YAML document."""
    lines = text.removesuffix("\n").split("\n") if text else []
    return terminal_text(line.removesuffix("\r").replace("\t", _TAB) for line in lines)


def json_text(document: object, *, indent: int | None = None) -> SafeText:
    """Serialize one JSON value in ASCII, with a line break at its end, and CI commands disabled."""
    text = json.dumps(document, indent=indent)
    if may_hold_secrets(text):
        text = re.sub(_JSON_STRING, _without_secrets_in_json, text)
    text = text.replace("##", r"#\u0023")
    return SafeText((re.sub(_SECTION, r"section\\u005f", text) if "section_" in text else text) + "\n")


def annotation(kind: str, properties: Mapping[str, str], lines: Iterable[str]) -> SafeText:
    """Return an annotation for GitHub: a workflow command with the lines as its message.

    Args:
        kind: ``error``, ``warning`` or ``notice``.
        properties: The properties of the command, such as ``title``.
        lines: The message; a line break in a line is escaped.
    """
    listed = ",".join(
        f"{name}={_replaced(printable(value), _PROPERTY)}" for name, value in properties.items()
    )
    data = _replaced("\n".join(map(printable, lines)), _DATA)
    return SafeText(f"::{kind} {listed}::{data}\n")


def markdown_text(text: str) -> str:
    """Return the text so that it forms no markup and no table cell; a forge may link what it refers to."""
    return re.sub(_MARKUP, lambda mark: f"&#{ord(mark[0])};", printable(text))


def markdown_code(text: str) -> str:
    """Return the text as inline code, which forms no markup, table cell, mention or link."""
    return f"<code>{markdown_text(text)}</code>"


def markdown_prose(text: str) -> str:
    """Return the text so that it forms no markup, table cell, mention or link; as code if it must be."""
    if re.search(_REFERENCE, text):
        return markdown_code(text)
    return markdown_text(text)


def markdown_fence(text: str, language: str) -> list[str]:
    """Return the lines of a fenced code block that no line of the text ends."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(longest + 1, len(_FENCE))
    return [f"{fence}{language}", *printable_lines(text).split("\n"), fence]


def sarif_message(text: str) -> str:
    r"""Return the text so that SARIF's viewers find no link and no placeholder in it.

    SARIF 2.1.0, 3.11.5 and 3.11.6: ``{0}`` is a placeholder, ``{{`` a brace; ``[text](target)`` is a link,
    ``\\[`` a bracket.
    """
    text = re.sub(r"\{(?=\d+\})|(?<=\d)\}", lambda brace: brace[0] * 2, printable(text))
    if "](" in text:
        return re.sub(r"[\\\[\]]", r"\\\g<0>", text)
    return text


def xml_text(root: Element) -> SafeText:
    """Return an XML document; all texts of its elements and attributes become printable.

    Texts of ``failure``, ``error`` and ``system-out`` keep their line breaks: each line in them was made
    printable before.
    """
    from xml.etree.ElementTree import indent, tostring  # noqa: PLC0415 (only for XML)

    for element in root.iter():
        _make_printable(element, printable_lines if element.tag in _XML_WITH_LINES else printable)
    indent(root)
    return SafeText(f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n')


def html_text(root: Element) -> SafeText:
    """Return an HTML page; all texts but the style sheet become printable, and none becomes markup.

    Texts within ``pre`` keep their line breaks: each line in them was made printable before.
    """
    from xml.etree.ElementTree import tostring  # noqa: PLC0415 (only for HTML)

    with_lines = {id(element) for pre in root.iter("pre") for element in pre.iter()}
    for element in root.iter():
        if element.tag != "style":
            _make_printable(element, printable_lines if id(element) in with_lines else printable)
    text = tostring(root, encoding="unicode", method="html")
    # One line for each block, without blanks that would be drawn: HTML ignores what follows a block.
    return SafeText("<!DOCTYPE html>\n" + re.sub(_END_OF_BLOCK, r"\g<0>\n", text) + "\n")


def _make_printable(element: Element, clean: Callable[[str], str]) -> None:
    element.text = clean(element.text) if element.text else None
    element.tail = printable(element.tail) if element.tail else None
    for name, value in element.items():
        element.set(name, printable(value))


def sql_comment(text: str, *, semicolon: str = ",") -> str:
    r"""Return any text as a comment of one line.

    A backslash at the end would continue the comment on the next line (Spark's SqlBaseLexer.g4,
    SIMPLE_COMMENT), some clients split at every semicolon, and Spark substitutes ``${…}`` in comments too.

    Args:
        text: The text.
        semicolon: What stands for a semicolon; in a statement ``\\u003b``, which is one in a literal.
    """
    safe = printable(text).replace(";", semicolon).replace("${", r"\x24{")
    if safe.endswith("\\"):
        return f"-- {safe} ."
    return f"-- {safe}"


def is_printable_sql(statement: str) -> bool:
    """Whether `sql_script` shows a statement as it is.

    `quote_literal` escapes what literals contain; names and expressions cannot be escaped.
    """
    return all(_sql_line(line) == line for line in statement.split("\n"))


def sql_script(lines: Iterable[str]) -> SafeText:
    """Return the output for programs that run SQL: like `terminal_text`, but tabs stay."""
    return SafeText("".join(f"{_sql_line(line)}\n" for line in lines))


def joined(outputs: Iterable[SafeText]) -> SafeText:
    """Return several outputs as one."""
    return SafeText("".join(outputs))


def _is_visible(text: str) -> bool:
    return text.isprintable() and (text.isascii() or _INVISIBLE.isdisjoint(text))


def _is_ordinary(char: str, before: str) -> bool:
    """Whether a character that is not visible by itself cannot mislead after another one."""
    if char == _EMOJI_SELECTOR:
        from unicodedata import category  # noqa: PLC0415 (rare)

        return _is_visible(before) and category(before) == "So"
    return char == _WIDE_BLANK


def _escaped(char: str) -> str:
    r"""Return the Python escape of a character, such as ``\x1b``."""
    if "\udc80" <= char <= "\udcff":  # os.fsdecode() returns a byte that is not UTF-8 as this surrogate
        return f"\\x{ord(char) - 0xDC00:02x}"
    escape = char.encode("unicode_escape").decode("ascii")
    if escape == char:
        return f"\\x{ord(char):02x}"
    return escape


def _sql_line(line: str) -> str:
    return "\t".join(map(printable, line.split("\t")))


def _styled_line(line: str) -> str:
    """Escape a line between its styles."""
    return "".join(
        piece if re.fullmatch(_STYLE, piece) else printable(piece)
        for piece in re.split(_STYLE, line)
        if piece
    )


def _without_secrets_in_json(match: re.Match[str]) -> str:
    if not may_hold_secrets(match[0]):
        return match[0]
    value: str = json.loads(match[0])
    shown = without_secrets(value)
    if shown == value:
        return match[0]
    return json.dumps(shown)


def _replaced(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    for char, escape in escapes:
        text = text.replace(char, escape)
    return text
