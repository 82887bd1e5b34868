"""The nodes of a YAML text with the places where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from schemalint.errors import Location
from schemalint.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

BOM = "\ufeff"

Style: TypeAlias = Literal["plain", "single", "double", "literal", "folded"]
ScalarValue: TypeAlias = str | int | float | bool | None
Path: TypeAlias = tuple[str | int, ...]


# Named tuples and not dataclasses: a contract of 50 columns has a thousand of these, and a frozen dataclass
# costs twice as much to make. For the same reason the span is made on demand.


class Span(NamedTuple):
    """A stretch of a text: offsets in code points, the end exclusive."""

    start: int
    end: int


class Scalar(NamedTuple):
    """One value.

    ``value`` is what YAML 1.2's core schema makes of ``text``, the content without quotes and escapes;
    a quoted or block scalar is always a string.
    """

    value: ScalarValue
    text: str
    style: Style
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where it stands, with its quotes; a null of no characters stands right behind its colon or dash."""
        return Span(self.start, self.end)


class Sequence(NamedTuple):
    """A list. A block sequence runs from its first dash to the end of its last item."""

    items: tuple[Node, ...]
    flow: bool
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where it stands, with its brackets."""
        return Span(self.start, self.end)


class Entry(NamedTuple):
    """A key with its value."""

    key: Scalar
    value: Node


class Mapping(NamedTuple):
    """Keys, each at most once, with their values. A block mapping ends with its last value."""

    entries: tuple[Entry, ...]
    flow: bool
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where it stands, with its brackets."""
        return Span(self.start, self.end)

    def entry(self, key: str) -> Entry | None:
        """The entry whose key has this text, however it is quoted."""
        return next((entry for entry in self.entries if entry.key.text == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping


@frozen
class Document:
    """One document of a file. ``text`` is the whole file's, and ``index`` counts its documents from 0."""

    file: str
    text: str
    index: int
    root: Node
    span: Span

    def location(self, span: Span) -> Location:
        """Where a span stands in the file."""
        return location(self.file, self.text, span)


def entry_at(document: Document, path: Path) -> Entry | None:
    """The entry whose value stands at ``path``: its key is what an error about a key should point at."""
    parent = node_at(document, path[:-1]) if path else None
    if isinstance(parent, Mapping) and isinstance(path[-1], str):
        return parent.entry(path[-1])
    return None


def node_at(document: Document, path: Path) -> Node | None:
    """The node reached from the root by keys and by indexes of items, or None."""
    node: Node = document.root
    for step in path:
        child = _child(node, step)
        if child is None:
            return None
        node = child
    return node


def children(node: Node) -> Iterator[tuple[str | int, Node]]:
    """The nodes right below a node, each with its key or index."""
    if isinstance(node, Mapping):
        yield from ((entry.key.text, entry.value) for entry in node.entries)
    elif isinstance(node, Sequence):
        yield from enumerate(node.items)


def location(file: str, text: str, span: Span) -> Location:
    """Lines and columns of a span of ``text``, from 1; a byte order mark takes no column."""
    line, column = _position(text, span.start)
    end_line, end_column = _position(text, span.end)
    return Location(file, line, column, end_line, end_column)


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(node, Mapping) and isinstance(step, str):
        entry = node.entry(step)
        return entry.value if entry else None
    if isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None


def _position(text: str, offset: int) -> tuple[int, int]:
    starts = _line_starts(text)
    line = max(bisect_right(starts, offset), 1)
    return line, max(offset - starts[line - 1], 0) + 1


# Lines as editors and GitHub count them; YAML 1.1 would end one at U+0085, U+2028 and U+2029 too.
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


@lru_cache(maxsize=8)
def _line_starts(text: str) -> tuple[int, ...]:
    first = 1 if text.startswith(BOM) else 0
    return (first, *(match.end() for match in _LINE_BREAK.finditer(text)))
