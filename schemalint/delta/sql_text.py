"""Quote and read identifiers and string literals of Spark SQL. No other module does."""

from __future__ import annotations

import re
from typing import Final

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Keywords that the type grammar also accepts at the position of a field name.
_RESERVED: Final = frozenset({"not", "comment"})

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}
_ESCAPE = re.compile(
    r"\\(?:(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}))|([01][0-7]{2})|(.))", re.DOTALL
)


# The tokens of one expression. Comments, semicolons and quotes that are not closed match none of them.
_EXPRESSION_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?!--|/\*|//)[^'"`;()\[\]{},]""",
    re.DOTALL,
)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}

_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`""", re.DOTALL)

COLUMN_WORDS: Final = frozenset({"comment", "after", "first", "generated", "default", "not"})
"""Words, in lower case, that end the default in a column definition and start its next clause."""


def is_one_expression(text: str, *, without: frozenset[str] = frozenset()) -> bool:
    """Whether a statement that contains the text cannot read it as anything but one expression.

    The text has no comment, no semicolon and no comma outside brackets, and all its quotes and brackets are
    closed. The expression itself is not checked.

    Args:
        text: The text of the expression.
        without: Words, in lower case, that the text must not contain outside brackets.
    """
    open_brackets: list[str] = []
    position = 0
    while position < len(text):
        token = _EXPRESSION_TOKEN.match(text, position)
        if token is None:
            return False
        position = token.end()
        if bracket := token["open"]:
            open_brackets.append(bracket)
        elif token["close"] and (not open_brackets or _CLOSING[open_brackets.pop()] != token["close"]):
            return False
        if not open_brackets and (token["comma"] or (token["word"] or "").lower() in without):
            return False
    return not open_brackets and bool(text.strip())


def without_quoted(text: str) -> str:
    """Return an expression without its string literals and quoted names."""
    return _QUOTED.sub("", text)


def quote_identifier(name: str) -> str:
    """Return a name as Spark SQL accepts it; back-quoted unless it is a plain ASCII identifier."""
    return name if _BARE.fullmatch(name) and name.lower() not in _RESERVED else always_quoted(name)


def always_quoted(name: str) -> str:
    """Return a name in back-quotes, even if it does not need them."""
    return "`" + name.replace("`", "``") + "`"


def quote_literal(text: str) -> str:
    r"""Return a text as a string literal of Spark SQL.

    Assumes the default of ``spark.sql.parser.escapedStringLiterals``, false. Backslashes and quotes are
    escaped, and so is ``${``: before Spark parses a statement, it substitutes variables in its text, even in
    literals (measured on Delta 4.4.0 with Spark 4.2.0).
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\{") + "'"


def unquote_literal(literal: str) -> str:
    """Return the text of a string literal, with Spark's escapes resolved (ParserUtils.unescapeSQLString)."""
    quote = literal[0]
    body = literal[1:-1].replace(quote * 2, quote)

    def resolved(match: re.Match[str]) -> str:
        utf16, code_point, octal, character = match.groups()
        if character is None:
            return chr(int(octal, 8) if octal else int(utf16 or code_point, 16))
        return _ESCAPES.get(character, f"\\{character}" if character in "%_" else character)

    # As in Java, a surrogate pair is one character. A lone surrogate becomes U+FFFD.
    return _ESCAPE.sub(resolved, body).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
