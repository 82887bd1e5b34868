"""The tokens of a statement, from left to right."""

from __future__ import annotations

from schemalint.delta.sql_text import Token, tokens_with_spans
from schemalint.guard.session import NotSeen


class Reader:
    """Takes the tokens of a statement one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text.strip().rstrip(";")
        self._tokens = tokens_with_spans(self.text)
        self._next = 0

    def peek(self, ahead: int = 0) -> Token | None:
        """Return one of the next tokens."""
        at = self._next + ahead
        return self._tokens[at][0] if at < len(self._tokens) else None

    def takes(self, *words: str) -> bool:
        """Take the next tokens if they are these words."""
        for ahead, word in enumerate(words):
            token = self.peek(ahead)
            if token is None or token.kind == "name" or token.text.lower() != word:
                return False
        self._next += len(words)
        return True

    def name(self) -> str:
        """Take a name of several parts, and return it without quotes."""
        parts = [self._part()]
        while self.takes("."):
            parts.append(self._part())
        if parts[0].lower() == "delta" and len(parts) == 2:  # noqa: PLR2004 (delta.`path`)
            return parts[1]
        return ".".join(parts)

    def name_as_written(self) -> str:
        """Take a name of several parts, and return its text."""
        first = self._next
        self.name()
        return self.since(first)

    def _part(self) -> str:
        token = self.peek()
        if token is None or token.kind not in {"word", "name"}:
            raise NotSeen("the name of the table cannot be read")
        self._next += 1
        return token.name

    def in_brackets(self) -> str:
        """Take what is in the brackets that come next."""
        depth, first = 0, self._next
        if (token := self.peek()) is None or token.kind != "open":
            raise NotSeen("there is no list in brackets where one is expected")
        while (token := self.peek()) is not None:
            depth += {"open": 1, "close": -1}.get(token.kind, 0)
            self._next += 1
            if not depth:
                return self.text[self._tokens[first][2] : self._tokens[self._next - 1][1]]
        raise NotSeen("a bracket is not closed")

    def until(self, *words: str) -> str:
        """Take everything up to one of these words or signs, outside of brackets and of CASE … END."""
        first, cases = self._next, 0
        while (token := self.peek()) is not None:
            word = token.text.lower()
            if not cases and word in words:
                break
            cases += {"case": 1, "end": -1}.get(word, 0)
            if token.kind == "open":
                self.in_brackets()
            else:
                self._next += 1
        return self.since(first)

    @property
    def place(self) -> int:
        """The number of the next token, for `since`."""
        return self._next

    def since(self, first: int) -> str:
        """Return the text from a token to the one that was taken last."""
        if self._next == first:
            return ""
        return self.text[self._tokens[first][1] : self._tokens[self._next - 1][2]]

    def rest(self) -> str:
        """Take the rest of the statement."""
        start = self._tokens[self._next][1] if self._next < len(self._tokens) else len(self.text)
        self._next = len(self._tokens)
        return self.text[start:]
