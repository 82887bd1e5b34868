"""Resolve plain scalars by YAML 1.2, and print strings that YAML 1.1 and 1.2 read alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schemalint.base.errors import ContractError
from schemalint.base.printable import visible, without_commands

if TYPE_CHECKING:
    from schemalint.base.document.nodes import ScalarValue

# https://yaml.org/spec/1.2.2/#1032-tag-resolution
_WORDS: dict[str, ScalarValue] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **{sign + word: float("inf") for sign in ("", "+") for word in (".inf", ".Inf", ".INF")},
    **{"-" + word: float("-inf") for word in (".inf", ".Inf", ".INF")},
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")

# A leading letter or underscore excludes numbers, dates and every indicator. Commas and brackets end a plain
# scalar in a flow collection, as does a question mark in PyYAML; ": " and " #" end it anywhere.
_PLAIN = re.compile(r"[^\W\d](?:[^,\[\]{}:#?]*[^,\[\]{}:#?\s])?")
# Strings in YAML 1.2, but not in 1.1: https://yaml.org/type/bool.html, https://yaml.org/type/null.html.
_YAML_1_1_WORDS = frozenset({"y", "yes", "n", "no", "on", "off", "true", "false", "null"})
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_LARGEST_2_DIGITS, _LARGEST_4_DIGITS = 0xFF, 0xFFFF


def resolve(text: str) -> ScalarValue:
    """Return the value of a plain scalar by YAML 1.2's core schema: ``yes``, ``on`` and dates are strings.

    Raises:
        ValueError: The text is an integer with more digits than Python converts, or prints in decimal.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _DECIMAL.fullmatch(text):
        return int(text)
    if _PREFIXED.fullmatch(text):
        value = int(text, 0)
        str(value)  # no limit applies to the conversion from hexadecimal and octal digits
        return value
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def print_scalar(text: str) -> str:
    """Print a string on one line: plain if YAML 1.1, 1.2 and flow collections allow it, else quoted.

    Raises:
        ContractError: The text has a lone surrogate, which YAML cannot represent.
    """
    if visible(text) == text and _PLAIN.fullmatch(text) and text.lower() not in _YAML_1_1_WORDS:
        return text
    return quote(text)


def quote(text: str) -> str:
    """Return a string in double quotes, on one line, safe to print.

    Raises:
        ContractError: The text has a lone surrogate, which YAML cannot represent.
    """
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    return f'"{without_commands(escaped, _escape)}"'


def _escape(character: str) -> str:
    code = ord(character)
    if character.encode("utf-8", "replace") == b"?":
        message = f"YAML cannot represent the lone surrogate U+{code:04X} in this text"
        raise ContractError(message, help="remove the character from its source")
    if code <= _LARGEST_2_DIGITS:
        return f"\\x{code:02x}"
    if code <= _LARGEST_4_DIGITS:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"
