"""Quote and read identifiers and string literals of Spark SQL. No other module does.

It breaks up `${` in literals, because Spark substitutes variables in the text of a statement before parsing
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from schemalint.base.printable import without_commands
from schemalint.base.values import frozen

_BARE = r"[A-Za-z_][A-Za-z0-9_]*"

# Number literals of letters, digits and underscores.
_NUMBER: Final = r"(?i)[0-9]+(?:[lsy]|(?:e[0-9]+)?(?:[df]|bd)?)"

# Keywords that the type grammar also accepts at the position of a field name.
_RESERVED: Final = frozenset({"not", "comment"})

_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}
_ESCAPE = re.compile(
    r"\\(?:(?:u([0-9A-Fa-f]{4})|U(00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4}))|([01][0-7]{2})|(.))", re.DOTALL
)


# The tokens of an expression in Spark's SqlBaseLexer.g4 (a test compares them with Spark 4.2.0). Delta reads
# constraints with a lexer of its own (DeltaSqlBase.g4): comments in which the two differ match no token. `re`
# compiles it on first use: few contracts have expressions.
_LEXEME: Final = r"""(?xs)
    (?P<blank>[ \t\n\f\r\v\xa0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]+)
    | (?P<comment>/\*(?!\+)(?:(?!/\*|\*/).)*\*/ | --[^\r\n]*+(?<!\\)[\r\n])
    | (?P<raw>[rR](?:'[^']*'|"[^"]*"))
    | (?P<string>'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")
    | (?P<name>`(?:[^`]|``)*`)
    | (?P<word>[0-9]+[eE][+-][0-9]+(?:[bB][dD]|[dDfF])? | [A-Za-z0-9_]+)
    | (?P<open>[(\[]) | (?P<close>[)\]])
    | (?P<sign><=>|[<>!=]=|<>|![<>]|\|\||[-=]>|<<|>>>?|::|(?!--|/\*|\*/|//)[-.!=<>+*/%~&|^:?,])
    """
_QUOTED: Final = frozenset({"raw", "string", "name", "comment"})


@frozen
class Token:
    """A token of an expression.

    Attributes:
        kind: ``raw`` or ``string`` for literals, ``name`` for a name in back-quotes, ``word`` for a keyword,
            an unquoted name or a number, ``open`` and ``close`` for brackets, ``sign`` for an operator or a
            part of one, ``other`` for what Spark cannot read.
    """

    kind: str
    text: str

    @property
    def name(self) -> str:
        """The text, and of a name in back-quotes the name itself."""
        return unquote_identifier(self.text) if self.kind == "name" else self.text


NO_TOKEN: Final = Token("", "")
"""What stands before the first token of a text, and behind the last one."""


def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of an expression as Spark reads them, without blanks and comments.

    A character that is not part of any token becomes a token of kind ``other``.
    """
    return tuple(token for token, _start, _end in tokens_with_spans(text))


def tokens_with_spans(text: str) -> tuple[tuple[Token, int, int], ...]:
    """Return `tokens`, each with the offsets of its text."""
    result: list[tuple[Token, int, int]] = []
    position = 0
    match = re.compile(_LEXEME).match
    while position < len(text):
        token = match(text, position)
        kind, read = (token.lastgroup or "", token[0]) if token else ("other", text[position])
        if kind not in {"blank", "comment"}:
            result.append((Token(kind, read), position, position + len(read)))
        position += len(read)
    return tuple(result)


def neighbours(text_tokens: Sequence[Token]) -> Iterator[tuple[Token, Token, Token]]:
    """Yield each token with the token before it and the token after it."""
    return zip((NO_TOKEN, *text_tokens), text_tokens, (*text_tokens[1:], NO_TOKEN), strict=False)


def without_quoted(text: str) -> str:
    """Return an expression without its string literals, quoted names and comments."""
    return "".join(" " if token.lastgroup in _QUOTED else token[0] for token in re.finditer(_LEXEME, text))


def name_error(name: str) -> str | None:
    """Return the error class of Spark for a name without quotes; None if it needs none.

    Letters beyond ASCII and inner hyphens are recognized, for a better message (SqlBaseLexer.g4 and
    SqlBaseParser.g4, ``errorCapturingIdentifier``; measured on Spark 4.2.0).
    """
    parts = name.split("-")
    if not all(map(_is_word, parts)):
        return "PARSE_SYNTAX_ERROR"
    return "INVALID_IDENTIFIER" if parts[1:] or not name.isascii() else None


def _is_word(text: str) -> bool:
    """Return whether a text has only letters, ASCII digits and underscores, and is no number."""
    letters = re.sub("[0-9_]", "x", text)
    return letters.isalpha() and not re.fullmatch(_NUMBER, text)


def quote_identifier(name: str) -> str:
    """Return a name as Spark SQL accepts it; back-quoted unless it is a plain ASCII identifier."""
    if re.fullmatch(_BARE, name) and name.lower() not in _RESERVED:
        return name
    return always_quoted(name)


def always_quoted(name: str) -> str:
    """Return a name in back-quotes, even if it does not need them."""
    return "`" + name.replace("`", "``") + "`"


def unquote_identifier(text: str) -> str:
    """Return the name that a text in back-quotes stands for."""
    return text[1:-1].replace("``", "`")


def quote_literal(text: str) -> str:
    r"""Return a text as a string literal of Spark SQL.

    Assumes the default of ``spark.sql.parser.escapedStringLiterals``, false. Backslashes and quotes are
    escaped, and so is ``${``: before Spark parses a statement, it substitutes variables in its text, even in
    literals (measured on Delta 4.4.0 with Spark 4.2.0). Invisible characters and commands to CI services are
    escaped too, because statements are shown and written to files.
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\{")
    return f"'{without_commands(escaped, _unicode_escape)}'"


def _unicode_escape(char: str) -> str:
    if char in "\n\r\t":
        return char.encode("unicode_escape").decode("ascii")
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 (the largest of \\u)


def unquote_literal(literal: str) -> str:
    """Return the text of a string literal, with Spark's escapes resolved (ParserUtils.unescapeSQLString).

    A raw literal, ``r'…'``, has none.
    """
    if literal[0] in "rR":
        return literal[2:-1]
    quote = literal[0]
    body = literal[1:-1].replace(quote * 2, quote)

    def resolved(match: re.Match[str]) -> str:
        utf16, code_point, octal, character = match.groups()
        if character is None:
            return chr(int(octal, 8) if octal else int(utf16 or code_point, 16))
        return _ESCAPES.get(character, f"\\{character}" if character in "%_" else character)

    # As in Java, a surrogate pair is one character. A lone surrogate becomes U+FFFD.
    return _ESCAPE.sub(resolved, body).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
