"""The nodes of a YAML text, with their positions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Any, Literal, NamedTuple, TypeAlias

from schemalint.base.errors import Location
from schemalint.base.values import frozen

BOM = "\ufeff"

Style: TypeAlias = Literal["plain", "single", "double", "literal", "folded"]
ScalarValue: TypeAlias = str | int | float | bool | None
Path: TypeAlias = tuple[str | int, ...]


# Named tuples instead of dataclasses: a contract with 50 columns has a thousand nodes, and a frozen dataclass
# takes twice as long to create. For the same reason, spans are computed on demand.


class Span(NamedTuple):
    """A range of a text: offsets in code points, the end exclusive."""

    start: int
    end: int


class Scalar(NamedTuple):
    """A single value.

    ``text`` is the content without quotes and escapes; ``value`` is ``text`` resolved by YAML 1.2's core
    schema. A quoted or block scalar is always a string.
    """

    value: ScalarValue
    text: str
    style: Style
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Its position, with quotes; an empty null is directly after its colon or dash."""
        return Span(self.start, self.end)


class Sequence(NamedTuple):
    """A list. A block sequence starts at its first dash and ends with its last item."""

    items: tuple[Node, ...]
    flow: bool
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Its position, with brackets."""
        return Span(self.start, self.end)


class Entry(NamedTuple):
    """A key and its value."""

    key: Scalar
    value: Node


class Mapping(NamedTuple):
    """Unique keys with their values. A block mapping ends with its last value."""

    entries: tuple[Entry, ...]
    flow: bool
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Its position, with brackets."""
        return Span(self.start, self.end)

    def entry(self, key: str) -> Entry | None:
        """Return the entry with this key, whether the key is quoted or not."""
        return next((entry for entry in self.entries if entry.key.text == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping


@frozen
class Document:
    """One document of a file.

    Attributes:
        file: The file.
        text: The text of the whole file.
        index: The number of the document in the file, from 0.
        root: The content.
        span: The position of the document in the text.
        nodes: How many nodes the file has up to the end of the document.
    """

    file: str
    text: str
    index: int
    root: Node
    span: Span
    nodes: int

    def location(self, span: Span) -> Location:
        """Return the location of a span in the file."""
        return location(self.file, self.text, span)


def entry_at(document: Document, path: Path) -> Entry | None:
    """Return the entry whose value is at ``path``; errors about a key point at the entry's key."""
    parent = node_at(document, path[:-1]) if path else None
    if isinstance(parent, Mapping) and isinstance(path[-1], str):
        return parent.entry(path[-1])
    return None


def node_at(document: Document, path: Path) -> Node | None:
    """Return the node at a path of keys and item indexes, or None if there is no such node."""
    node: Node = document.root
    for step in path:
        child = _child(node, step)
        if child is None:
            return None
        node = child
    return node


def entries_of(node: Node | None) -> tuple[Entry, ...]:
    """Return the entries of a mapping; none of another node."""
    if isinstance(node, Mapping):
        return node.entries
    return ()


def items_of(node: Node | None) -> tuple[Node, ...]:
    """Return the items of a sequence; none of another node."""
    if isinstance(node, Sequence):
        return node.items
    return ()


def value_of(node: Node | None, key: str) -> Node | None:
    """Return the value of a key; None if the node is no mapping with this key."""
    entry = node.entry(key) if isinstance(node, Mapping) else None
    return entry.value if entry else None


def text_of(node: Node | None, key: str) -> str:
    """Return the text of the scalar at a key; empty if there is none."""
    value = value_of(node, key)
    if isinstance(value, Scalar):
        return value.text
    return ""


def children(node: Node) -> Iterator[tuple[str | int, Node]]:
    """Yield the direct children of a node, each with its key or index."""
    if isinstance(node, Mapping):
        yield from ((entry.key.text, entry.value) for entry in node.entries)
    elif isinstance(node, Sequence):
        yield from enumerate(node.items)


def data_of(node: Node) -> Any:  # noqa: ANN401 (any YAML value)
    """Return the content of a node: dicts, lists and the values of scalars."""
    return content_of(node, attrgetter("value"))


def content_of(node: Node, of_scalar: Callable[[Scalar], object]) -> Any:  # noqa: ANN401 (any YAML value)
    """Return the content of a node: dicts, lists, and what a function makes of scalars."""
    match node:
        case Scalar():
            return of_scalar(node)
        case Mapping(entries=entries):
            return {entry.key.text: content_of(entry.value, of_scalar) for entry in entries}
        case Sequence(items=items):
            return [content_of(item, of_scalar) for item in items]


def location(file: str, text: str, span: Span) -> Location:
    """Return the lines and columns of a span, counted from 1; a byte order mark is not counted."""
    line, column = _position(text, span.start)
    end_line, end_column = _position(text, span.end)
    return Location(file, line, column, end_line, end_column)


def _child(node: Node, step: str | int) -> Node | None:
    if isinstance(step, str):
        return value_of(node, step)
    items = items_of(node)
    if 0 <= step < len(items):
        return items[step]
    return None


def _position(text: str, offset: int) -> tuple[int, int]:
    starts = _line_starts(text)
    line = max(bisect_right(starts, offset), 1)
    return line, max(offset - starts[line - 1], 0) + 1


# Count lines as editors and GitHub do; YAML 1.1 also ends a line at U+0085, U+2028 and U+2029.
LINE_BREAK = re.compile(r"\r\n|\r|\n")


@lru_cache(maxsize=8)
def _line_starts(text: str) -> tuple[int, ...]:
    first = 1 if text.startswith(BOM) else 0
    return (first, *(match.end() for match in LINE_BREAK.finditer(text)))
