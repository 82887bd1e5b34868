"""Patterns of names: regular expressions that match a whole text, in time proportional to its length.

A pattern can come from a stranger's pull request. Python's `re` backtracks, so ``(a+)+b`` runs for hours on a
name of 50 letters, and libraries that do not backtrack have no wheels for all platforms. So a pattern is
written in a part of Python's syntax, with the same meaning, and runs as an automaton: a character costs at
most `MAX_PLACES` steps. What needs backtracking (references, look-around) is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Final, TypeAlias

from schemalint.base.values import frozen

MAX_LENGTH: Final = 1_000
"""Characters of a pattern."""

MAX_PLACES: Final = 1_000
"""Places in a pattern that read a character, with repetitions written out: ``[a-z]{1,255}`` has 255."""

_MAX_DEPTH: Final = 50
_MAX_KEPT: Final = 1_000
"""Positions that are kept: each is made again where a name needs it."""

_Test: TypeAlias = Callable[[str], bool]
"""Whether a character is one of those that a place reads."""


class PatternError(ValueError):
    """A text is no pattern; the message says why, and at which character."""


@frozen
class Pattern:
    """A pattern; `parse_pattern` makes it."""

    text: str

    def matches(self, name: str) -> bool:
        """Whether the pattern matches the whole name."""
        automaton = self._automaton
        position = automaton.start
        for character in name:
            position = automaton.after(position, character)
        return position.is_end

    def __str__(self) -> str:
        """Return the pattern as it is written."""
        return self.text

    @property
    def places(self) -> int:
        """How many places read a character: a step of the automaton asks each at most once."""
        return self._node.places

    @cached_property
    def _node(self) -> _Node:
        return _Parser(self.text).whole()

    @cached_property
    def _automaton(self) -> _Automaton:
        return _Automaton(self._node)


@lru_cache(maxsize=32)  # rules have the same exceptions by default
def parse_pattern(text: str) -> Pattern:
    """Return the pattern that a text is.

    Raises:
        PatternError: The text is no regular expression, or one that only backtracking can match.
    """
    if len(text) > MAX_LENGTH:
        raise PatternError(f"it has more than {MAX_LENGTH:,} characters, a limit of schemalint")
    pattern = Pattern(text)
    if pattern.places > MAX_PLACES:
        raise PatternError(f"it is longer than {MAX_PLACES:,} characters with its repetitions written out")
    return pattern


@frozen
class _One:
    """Reads one character."""

    test: _Test
    places: int = 1


@frozen
class _All:
    """Matches its parts one after the other."""

    parts: tuple[_Node, ...]

    @cached_property
    def places(self) -> int:
        return sum(part.places for part in self.parts)


@frozen
class _Any:
    """Matches what one of its parts matches."""

    parts: tuple[_Node, ...]

    @cached_property
    def places(self) -> int:
        return sum(part.places for part in self.parts)


@frozen
class _Repeated:
    """Matches its part so many times; `most` is None without an upper limit."""

    part: _Node
    least: int
    most: int | None

    @cached_property
    def places(self) -> int:
        # A part that reads nothing takes a step too.
        return max(self.part.places, 1) * (self.least + 1 if self.most is None else self.most)


_Node: TypeAlias = _One | _All | _Any | _Repeated


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> _Node:
        if not self._text:
            raise PatternError("it is empty")
        node = self._alternatives()
        if self._at < len(self._text):
            raise self._error("a closing parenthesis without an opening one")
        return node

    def _alternatives(self) -> _Node:
        parts = [self._sequence()]
        while self._accept("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else _Any(tuple(parts))

    def _sequence(self) -> _Node:
        is_outermost = self._depth == 0
        if is_outermost:
            self._accept("^")
        parts: list[_Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            if is_outermost and self._text[self._at] == "$" and self._text[self._at + 1 :][:1] in ("", "|"):
                self._at += 1
                break
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else _All(tuple(parts))

    def _repeated(self, node: _Node) -> _Node:
        limits = self._quantifier()
        if limits is None:
            return node
        self._accept("?")  # what a lazy quantifier matches as a whole is the same
        if self._text[self._at : self._at + 1] in tuple("*+?"):
            raise self._error("two quantifiers")
        return _Repeated(node, *limits)

    def _quantifier(self) -> tuple[int, int | None] | None:
        if self._accept("*"):
            return 0, None
        if self._accept("+"):
            return 1, None
        if self._accept("?"):
            return 0, 1
        if not self._accept("{"):
            return None
        inside, closed, _ = self._text[self._at :].partition("}")
        low, comma, high = inside.partition(",")
        is_number = all(part.isascii() and part.isdigit() for part in (low, high) if part)
        if not closed or not is_number or len(inside) > len("1000,1000") or not (low or high):
            raise self._error(r"a brace that is no quantifier such as {1,20}: write \{ for a brace")
        self._at += len(inside) + 1
        least = int(low or 0)
        if not comma:
            return least, least
        most = int(high) if high else None
        if most is not None and most < least:
            raise self._error("a quantifier with a lower limit above the upper one")
        return least, most

    def _atom(self) -> _Node:
        character = self._take()
        match character:
            case "(":
                return self._group()
            case "[":
                return _One(self._class())
            case ".":
                return _One(lambda each: each != "\n")
            case "\\":
                return _One(self._escaped(self._take()))
            case "*" | "+" | "?" | "{":
                raise self._error(f"the quantifier {character} without anything before it")
            case "^" | "$":
                raise self._error(f"{character} inside: a pattern matches the whole name anyway")
            case _:
                return _One(character.__eq__)

    def _group(self) -> _Node:
        if self._accept("?") and not self._accept(":"):
            raise self._error("a group that begins with (? and is not (?:…): only backtracking matches it")
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._error(f"more than {_MAX_DEPTH} groups inside each other")
        node = self._alternatives()
        if not self._accept(")"):
            raise self._error("a group without its closing parenthesis")
        self._depth -= 1
        return node

    def _class(self) -> _Test:
        is_negated = self._accept("^")
        tests: list[_Test] = []
        is_first = True
        while is_first or not self._accept("]"):
            is_first = False
            tests.append(self._range())
        return lambda character: any(test(character) for test in tests) is not is_negated

    def _range(self) -> _Test:
        low = self._member()
        if not isinstance(low, str):
            return low
        if self._text[self._at : self._at + 1] != "-" or self._text[self._at + 1 :][:1] in ("", "]"):
            return low.__eq__
        self._at += 1
        high = self._member()
        if not isinstance(high, str) or high < low:
            raise self._error("a range that leads nowhere")
        return lambda character: low <= character <= high

    def _member(self) -> str | _Test:
        character = self._take()
        if character != "\\":
            return character
        escaped = self._take()
        return _CHARACTERS.get(escaped) or _CATEGORIES.get(escaped) or self._literal(escaped)

    def _escaped(self, character: str) -> _Test:
        category = _CATEGORIES.get(character)
        return category or (_CHARACTERS.get(character) or self._literal(character)).__eq__

    def _literal(self, character: str) -> str:
        if character in _CODES:
            digits = self._text[self._at : self._at + _CODES[character]]
            if len(digits) == _CODES[character] and all(digit in _HEX for digit in digits):
                self._at += len(digits)
                return chr(int(digits, 16))
        if character.isascii() and character.isalnum():
            raise self._error(f"\\{character}, which is no character and no class that schemalint knows")
        return character

    def _take(self) -> str:
        if self._at == len(self._text):
            raise self._error("an end in the middle")
        self._at += 1
        return self._text[self._at - 1]

    def _accept(self, character: str) -> bool:
        is_there = self._text.startswith(character, self._at)
        self._at += is_there
        return is_there

    def _error(self, what: str) -> PatternError:
        return PatternError(f"it has {what} (character {max(self._at, 1)})")


_HEX: Final = frozenset("0123456789abcdefABCDEF")
_CODES: Final = {"x": 2, "u": 4}
_CHARACTERS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_CATEGORIES: Final[dict[str, _Test]] = {
    "d": str.isdecimal,
    "D": lambda character: not character.isdecimal(),
    "s": str.isspace,
    "S": lambda character: not character.isspace(),
    "w": _is_word,
    "W": lambda character: not _is_word(character),
}
"""What Python's `re` means by them in texts."""


_END: Final = 0
"""The place behind the pattern."""


class _Position:
    """How far a pattern has read a name: all places that it may be at."""

    __slots__ = ("is_end", "places")

    def __init__(self, places: frozenset[int]) -> None:
        self.places = places
        self.is_end = _END in places


class _Automaton:
    """The places of a pattern: each reads a character and leads to another one, or leads to several."""

    def __init__(self, pattern: _Node) -> None:
        self._tests: list[_Test | None] = [None]
        self._next: list[tuple[int, ...]] = [()]
        self._positions: dict[frozenset[int], _Position] = {}
        self._moves: dict[tuple[_Position, str], _Position] = {}
        self.start = self._position([self._add(pattern, _END)])

    def after(self, position: _Position, character: str) -> _Position:
        """Return the position after a character."""
        move = position, character
        if move not in self._moves:
            if len(self._moves) >= _MAX_KEPT:
                self._moves.clear()
                self._positions.clear()
            self._moves[move] = self._position(self._read(position, character))
        return self._moves[move]

    def _read(self, position: _Position, character: str) -> Iterator[int]:
        """Yield the places behind those that read a character."""
        for place in position.places:
            test = self._tests[place]
            if test is not None and test(character):
                yield from self._next[place]

    def _position(self, places: Iterable[int]) -> _Position:
        """Return the position that the places lead to without another character."""
        reached: set[int] = set()
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            if place not in reached:
                reached.add(place)
                waiting += self._next[place] if self._tests[place] is None else ()
        key = frozenset(place for place in reached if place == _END or self._tests[place] is not None)
        return self._positions.setdefault(key, _Position(key))

    def _add(self, node: _Node, after: int) -> int:
        """Add the places of a node, which lead to the place after it; return the first one."""
        match node:
            case _One(test=test):
                return self._place(test, after)
            case _All(parts=parts):
                for part in reversed(parts):
                    after = self._add(part, after)
                return after
            case _Any(parts=parts):
                return self._place(None, *[self._add(part, after) for part in parts])
            case _Repeated(part=part, least=least, most=None):
                start = self._place(None)
                self._next[start] = (self._add(part, start), after)
            case _Repeated(part=part, least=least, most=most):
                start = after
                for _ in range((most or 0) - least):
                    start = self._place(None, self._add(part, start), after)
        for _ in range(least):
            start = self._add(part, start)
        return start

    def _place(self, test: _Test | None, *following: int) -> int:
        self._tests.append(test)
        self._next.append(following)
        return len(self._tests) - 1
