"""A place in the tokens of a statement, from which its clauses are read word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from schemalint.base.document import Span
from schemalint.base.errors import ContractError
from schemalint.contract.dialects.sql.lexer import SqlText, Token
from schemalint.delta.sql_text import unquote_identifier, unquote_literal

LEAVE_OUT: Final = 'leave the file out ("!PATH" in contracts)'
"""What to do with a file that declares no table."""

_OPEN: Final = {"(": ")", "[": "]"}


class Cursor:
    """Reads the tokens of one statement from left to right; it never goes back."""

    def __init__(self, source: SqlText, tokens: Sequence[Token]) -> None:
        self.source = source
        self._tokens = tokens
        end = tokens[-1].end if tokens else 0
        self._end = Token("end", "", end, end)
        self._index = 0

    @property
    def next(self) -> Token:
        """The token that is read next."""
        return self.ahead(0)

    @property
    def rest(self) -> Sequence[Token]:
        """The tokens that are not read yet."""
        return self._tokens[self._index :]

    @property
    def last(self) -> Token:
        """The token that was read last, or the first one."""
        return self._tokens[max(self._index - 1, 0)]

    def ahead(self, count: int) -> Token:
        """Return the token behind the next ones."""
        index = self._index + count
        return self._tokens[index] if index < len(self._tokens) else self._end

    def take(self) -> Token:
        """Return the next token and go on behind it."""
        token = self.next
        self._index += token is not self._end
        return token

    def accept(self, *words: str) -> bool:
        """Go on behind these words, in any case, or signs; return False if something else is next."""
        for count, word in enumerate(words):
            token = self.ahead(count)
            if (token.word or (token.text if token.kind == "sign" else "")) != word:
                return False
        self._index += len(words)
        return True

    def require(self, *words: str) -> None:
        """Go on behind these words or signs.

        Raises:
            ContractError: Something else is next.
        """
        for word in words:
            if not self.accept(word):
                raise self.expected(word)

    def text(self, most: int | None = None) -> str:
        """Return a text: Spark joins literals that follow each other (measured on Spark 4.2.0).

        Args:
            most: The most literals that belong to it.

        Raises:
            ContractError: No text is next.
        """
        parts: list[str] = []
        while (token := self.next).kind == "string" and len(parts) != most:
            parts.append(unquote_literal(self.take().text))
        if not parts:
            raise self.expected("a text in quotes", token)
        return "".join(parts)

    def name(self) -> str:
        """Return a name: a word, or what stands in back-quotes.

        Raises:
            ContractError: No name is next, or an empty one.
        """
        token = self.take()
        if token.kind == "name" and len(token.text) > len("``"):
            return unquote_identifier(token.text)
        if token.kind != "word":
            raise self.expected("a name", token)
        return token.text

    def require_end(self) -> None:
        """Require that the statement ends here.

        Raises:
            ContractError: Something follows.
        """
        if self.next.kind != "end":
            raise self.expected("the end of the statement")

    def skip_brackets(self) -> None:
        """Go on behind the bracket that closes the next one.

        Raises:
            ContractError: It is not closed.
        """
        first, open_brackets = self.next, list[str]()
        while True:
            token = self.take()
            if token.kind == "end":
                raise self.source.error(first.span, "this bracket is not closed", "close it")
            if token.kind == "sign" and token.text in _OPEN:
                open_brackets.append(_OPEN[token.text])
            elif token.kind == "sign" and token.text in _OPEN.values():
                if not open_brackets or token.text != open_brackets.pop():
                    raise self.source.error(token.span, f"this {token.text} closes nothing", "remove it")
                if not open_brackets:
                    return

    def until(self, *stops: str) -> tuple[Token, ...]:
        """Return the tokens up to one of these words or signs outside of brackets; that one stays next."""
        taken: list[Token] = []
        while self.next.kind != "end" and self.next.word not in stops and self.next.text not in stops:
            start = self._index
            if self.next.kind == "sign" and self.next.text in _OPEN:
                self.skip_brackets()
            else:
                self.take()
            taken += self._tokens[start : self._index]
        return tuple(taken)

    def since(self, start: Token) -> Span:
        """Return the span from a token to the one that was read last."""
        return Span(start.start, max(start.end, self.last.end))

    def expected(self, what: str, found: Token | None = None) -> ContractError:
        """Return the error that something else is next than the statement needs."""
        token = found or self.next
        shown = "the statement ends" if token.kind == "end" else f"found {token.text[:40]}"
        return self.source.error(
            token.span, f"expected {what}, {shown}", "write the statement as Spark reads it"
        )
