"""Names and texts as they stand in Spark SQL: quoted and read in this one place."""

from __future__ import annotations

import re
from typing import Final

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# Words that stand for something else where a field's name may stand.
_RESERVED: Final = frozenset({"not", "comment"})

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}
_ESCAPE = re.compile(
    r"\\(?:(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}))|([01][0-7]{2})|(.))", re.DOTALL
)


# What may stand in an expression; a quote, a comment or a bracket that is not closed fits none of them.
_EXPRESSION_TOKEN = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`]|``)*`|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<comma>,)|(?!--|/\*|//)[^'"`;()\[\]{},]""",
    re.DOTALL,
)
_CLOSING: Final = {"(": ")", "[": "]", "{": "}"}

_QUOTED: Final = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`""", re.DOTALL)

COLUMN_WORDS: Final = frozenset({"comment", "after", "first", "generated", "default", "not"})
"""The words that go on with a column's definition, behind its default."""


def is_one_expression(text: str, *, without: frozenset[str] = frozenset()) -> bool:
    """Whether a text can stand in a statement for one expression, and for nothing else.

    So all its quotes and brackets are closed, it has no comment, no semicolon, and no comma outside of
    brackets. Whether it means anything is not asked.

    Args:
        text: Of the expression.
        without: Words, in lower case, that must not stand outside of brackets.
    """
    expected: list[str] = []
    at = 0
    while at < len(text):
        token = _EXPRESSION_TOKEN.match(text, at)
        if token is None:
            return False
        at = token.end()
        if bracket := token["open"]:
            expected.append(_CLOSING[bracket])
        elif token["close"] and (not expected or expected.pop() != token["close"]):
            return False
        if not expected and (token["comma"] or (token["word"] or "").lower() in without):
            return False
    return not expected and bool(text.strip())


def without_quoted(text: str) -> str:
    """What of an expression is neither a literal's text nor a quoted name."""
    return _QUOTED.sub("", text)


def quote_identifier(name: str) -> str:
    """A name that Spark's SQL takes as it is, back-quoted where it is not plain ASCII."""
    return name if _BARE.fullmatch(name) and name.lower() not in _RESERVED else always_quoted(name)


def always_quoted(name: str) -> str:
    """A name in back-quotes, whatever it is."""
    return "`" + name.replace("`", "``") + "`"


def quote_literal(text: str) -> str:
    r"""A string literal of Spark SQL (``spark.sql.parser.escapedStringLiterals`` off, the default).

    Backslash and quote are escaped, and ``${`` is broken up: Spark substitutes variables in the text of a
    statement, in literals too, before it parses it (measured on Delta 4.4.0 with Spark 4.2.0).
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\{") + "'"


def unquote_literal(literal: str) -> str:
    """The text of a string literal, with Spark's escapes (ParserUtils.unescapeSQLString) resolved."""
    quote = literal[0]
    body = literal[1:-1].replace(quote * 2, quote)

    def resolved(match: re.Match[str]) -> str:
        utf16, code_point, octal, character = match.groups()
        if character is None:
            return chr(int(octal, 8) if octal else int(utf16 or code_point, 16))
        return _ESCAPES.get(character, f"\\{character}" if character in "%_" else character)

    # As in Java, the two halves of a pair are one character; one half alone is none.
    return _ESCAPE.sub(resolved, body).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
