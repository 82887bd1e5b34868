"""The tokens of a SQL file, as Spark's lexer has them (SqlBaseLexer.g4), statement by statement.

A statement ends at a semicolon, at the line that parts two cells of a Databricks notebook, and at a line
``GO``. A comment ends with its line unless a backslash stands before the line break, and comments in
``/* */`` nest, as in Spark. Nothing is recursive, so no nesting exhausts the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from schemalint.base.document import Span, location
from schemalint.base.errors import ContractError, Location
from schemalint.base.values import frozen

MAX_CHARACTERS: Final = 1 << 20
"""Characters of a file, as of a contract."""

MAX_STATEMENTS: Final = 10_000
"""Statements of a file; each kind of those that are not read is counted."""

MAX_DEPTH: Final = 100
"""Levels of brackets in a statement that is read, as of types."""

Kind: TypeAlias = Literal[
    "word", "name", "string", "number", "variable", "jinja", "hint", "block", "sign", "end"
]
"""``name`` is a name in back-quotes, ``variable`` stands for ``${x}``, ``{x}`` or ``{{ x }}``, ``jinja`` for
any other Jinja, ``block`` for ``$$ … $$``, and ``end`` is behind the last token of a statement."""


class Token(NamedTuple):
    """A token; `start` and the exclusive `end` count characters of the file."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in upper case; empty for another token."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def span(self) -> Span:
        """The place in the file."""
        return Span(self.start, self.end)


@frozen
class SqlText:
    """The text of a file with its name."""

    file: str
    text: str

    def location(self, span: Span) -> Location:
        """Return the lines and columns of a span."""
        return location(self.file, self.text, span)

    def error(self, span: Span, message: str, help_text: str) -> ContractError:
        """Return the error about a place in the file."""
        return ContractError(message, help=help_text, location=self.location(span))


_COMMENT: Final = r"--(?:\\\n|[^\r\n])*"
_COMMENT_START: Final = "/*"
_LEXEME: Final = re.compile(
    rf"""
      (?P<blank>[\s\ufeff]+)
    | (?P<cell>--[ \t]*COMMAND[ \t]*-{{3,}}[ \t]*(?=[\r\n]|\Z))
    | (?P<comment>{_COMMENT}|/\*(?!\+))
    | (?P<hint>/\*\+.*?\*/)
    | (?P<string>[rR]'[^']*'|[rR]"[^"]*"|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")
    | (?P<name>`(?:[^`]|``)*`)
    | (?P<variable>\$\{{[ \t]*\w+[ \t]*\}}|\{{\{{-?\s*\w+\s*-?\}}\}}|\{{[ \t]*[^\W\d]\w*[ \t]*\}})
    | (?P<jinja>\{{\{{[^{{}}]*\}}\}}|\{{%[^{{}}]*%\}}|\{{\#[^{{}}]*\#\}})
    | (?P<block>\$\w*\$)
    | (?P<number>(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE][+-]))(?:[eE][+-]?[0-9]+)?(?:[bB][dD]|[dDfF])?(?!\w))
    | (?P<word>\w+)
    | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_NESTED: Final = re.compile(r"/\*|\*/")
_UNCLOSED: Final = {"'": "text", '"': "text", "`": "name"}
_OPEN: Final = frozenset("([{")
_CLOSE: Final = frozenset(")]}")


def statements(source: SqlText) -> Iterator[tuple[Token, ...]]:
    """Yield the tokens of each statement, without those of empty ones.

    Raises:
        ContractError: The file is too long, has too many statements, or a comment, a text or a name in it is
            not closed, so that nobody can tell where its statements end.
    """
    if len(source.text) > MAX_CHARACTERS:
        raise source.error(Span(0, 0), f"the file has more than {MAX_CHARACTERS:,} characters", _SPLIT)
    count, statement = 0, list[Token]()
    for token in (*_lexemes(source), None):
        if token is not None and not _is_separator(source.text, token):
            statement.append(token)
            continue
        if statement:
            count += 1
            if count > MAX_STATEMENTS:
                too_many = f"the file has more than {MAX_STATEMENTS:,} statements"
                raise source.error(statement[0].span, too_many, _SPLIT)
            yield tuple(statement)
            statement = []


_SPLIT: Final = "split the file, for example into one file per table"


def too_deep(tokens: Sequence[Token]) -> Token | None:
    """Return the bracket of a statement that is nested too deep; None if there is none."""
    depth = 0
    for token in tokens:
        if token.kind == "sign":
            depth += (token.text in _OPEN or token.text == "<") - (token.text in _CLOSE or token.text == ">")
            if depth > MAX_DEPTH:
                return token
    return None


def without_comments(text: str) -> str:
    """Return a part of a statement with blanks in place of its comments, as long as before."""
    if "--" not in text and _COMMENT_START not in text:
        return text
    parts: list[str] = []
    position = 0
    while position < len(text):
        match = _LEXEME.match(text, position)
        end = len(text) if match is None else match.end()
        is_comment = match is not None and match.lastgroup in {"comment", "cell"}
        if is_comment and text.startswith(_COMMENT_START, position):
            end = _comment_end(text, position) or len(text)
        parts.append(re.sub(r"[^\r\n]", " ", text[position:end]) if is_comment else text[position:end])
        position = end
    return "".join(parts)


def _lexemes(source: SqlText) -> Iterator[Token]:
    text, position = source.text, 0
    while match := _LEXEME.match(text, position):
        start, position = match.span()
        kind = match.lastgroup
        if kind == "comment" and text.startswith(_COMMENT_START, start):
            end = _comment_end(text, start)
            if end is None:
                raise source.error(Span(start, start + 2), "this comment is not closed", "close it with */")
            position = end
        elif kind == "cell":
            yield Token("sign", ";", start, position)
        elif kind == "sign" and match[0] in _UNCLOSED:
            what = f"this {_UNCLOSED[match[0]]} is not closed"
            raise source.error(Span(start, position), what, f"close it with {match[0]}")
        elif kind == "block":
            end = text.find(match[0], position)
            if end < 0:
                message = f"this {match[0]} is not closed"
                raise source.error(Span(start, position), message, f"close it with {match[0]}")
            position = end + len(match[0])
            yield Token("block", match[0], start, position)
        elif kind not in {"blank", "comment"}:
            yield Token(kind, match[0], start, position)  # type: ignore[arg-type]  # a name of a group


def _comment_end(text: str, start: int) -> int | None:
    """Return the end of a comment in ``/* */``, in which others may be; None if it has none."""
    depth = 0
    for match in _NESTED.finditer(text, start):
        depth += 1 if match[0] == _COMMENT_START else -1
        if depth == 0:
            return match.end()
    return None


def _is_separator(text: str, token: Token) -> bool:
    if token.text == ";":
        return True
    if token.word != "GO":
        return False
    before = text[text.rfind("\n", 0, token.start) + 1 : token.start]
    after = text[token.end : (text.find("\n", token.end) + len(text) + 1) % (len(text) + 1)]
    return not before.strip() and not after.strip()
