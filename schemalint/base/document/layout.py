"""Lines, columns and indentation of a YAML text, which edits must preserve, and texts spliced into it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from schemalint.base.document.nodes import BOM, Mapping, Sequence, Span, children
from schemalint.base.values import frozen

if TYPE_CHECKING:
    from schemalint.base.document.nodes import Document, Entry, Node

# The line breaks of libyaml, which reads YAML 1.1.
BREAKS = "\n\r\x85\u2028\u2029"
_BREAK = rf"\r\n|[{BREAKS}]"
_WHITE_SPACE = " \t\r\n"
_DASH = "-"
_DEFAULT_INDENT = 2


# Slices of two kinds, of a list and of a tuple, would never be equal.
Sliced = TypeVar("Sliced", str, list[Any], tuple[Any, ...])


def line_start(text: str, offset: int) -> int:
    """Return the start of the line that contains ``offset``, after a byte order mark."""
    start = max(text.rfind(line_break, 0, offset) for line_break in BREAKS) + 1
    if start == 0 and text.startswith(BOM):
        return 1
    return start


def line_end(text: str, offset: int) -> int:
    """Return the end of the line that contains ``offset``, before its break."""
    match = re.compile(_BREAK).search(text, offset)
    return match.start() if match else len(text)


def next_line(text: str, offset: int) -> int:
    """Return the start of the line after ``offset``, or the end of the text."""
    match = re.compile(_BREAK).search(text, offset)
    return match.end() if match else len(text)


def column(text: str, offset: int) -> int:
    """Return the number of code points between the start of the line and ``offset``."""
    return offset - line_start(text, offset)


def ends_line(text: str, offset: int) -> bool:
    """Whether a line break directly precedes ``offset``, as at the end of a block scalar."""
    return offset > 0 and text[offset - 1] in BREAKS


def line_break(text: str) -> str:
    """Return the first line break of the text."""
    match = re.search(_BREAK, text)
    return match.group() if match else "\n"


def after_colon(text: str, entry: Entry) -> int:
    """Return the offset after the colon of an entry."""
    return text.index(":", entry.key.end) + 1


def content_end(text: str, span: Span) -> int:
    """Return the end of a span without trailing white space."""
    return span.start + len(text[span.start : span.end].rstrip(_WHITE_SPACE))


def members(text: str, container: Mapping | Sequence) -> list[Span]:
    """Return the spans of the entries (key and value) or of the items (with their dash, if any)."""
    if isinstance(container, Mapping):
        return [Span(entry.key.start, entry.value.end) for entry in container.entries]
    if container.flow:
        return [item.span for item in container.items]
    spans, position = [], container.start
    for item in container.items:
        spans.append(Span(_dash(text, position, container), item.end))
        position = item.end
    return spans


def end_with_comments(text: str, end: int, indent: int) -> int:
    """Extend the end of a block over the following comments that are indented deeper than ``indent``."""
    while True:
        start = end if ends_line(text, end) else next_line(text, end)
        line = text[start : line_end(text, start)]
        comment = line.lstrip(" ")
        if not comment.startswith("#") or len(line) - len(comment) <= indent:
            return end
        end = line_end(text, start)


def block_indent(document: Document, kind: type[Mapping | Sequence]) -> int:
    """Return the indentation of such blocks below their key in this document; 0 is common for sequences."""
    for node in _blocks(document.root):
        for entry in node.entries if isinstance(node, Mapping) else ():
            if isinstance(entry.value, kind) and not entry.value.flow:
                value, key = entry.value.start, entry.key.start
                return column(document.text, value) - column(document.text, key)
    return _DEFAULT_INDENT


def _dash(text: str, position: int, sequence: Sequence) -> int:
    """Return the next dash in the sequence's column; only blank lines and comments separate items."""
    first = sequence.start
    indent = " " * column(text, first)
    for match in re.compile(_DASH).finditer(text, position, sequence.end):
        dash = match.start()
        if dash == first or text[line_start(text, dash) : dash] == indent:
            return dash
    return position


def _blocks(node: Node) -> Iterator[Mapping | Sequence]:
    """Yield the blocks of a node, outer ones first; none is inside of brackets."""
    if isinstance(node, Mapping | Sequence) and not node.flow:
        yield node
        for _, child in children(node):
            yield from _blocks(child)


class Replacement(Protocol):
    """A text in place of that between two offsets (code points, the end exclusive)."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...


@frozen
class TextEdit:
    """A `Replacement`."""

    start: int
    end: int
    text: str


def splice(text: str, edits: Iterable[Replacement]) -> str:
    """Apply edits to a text; insertions at the same offset keep their order.

    Raises:
        ValueError: Two edits overlap, or an edit is outside the text.
    """
    pieces, position = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not position <= edit.start <= edit.end <= len(text):
            raise ValueError(f"edits overlap or are outside the text at offset {edit.start}")
        pieces += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*pieces, text[position:]])


def common_length(first: Sliced, second: Sliced) -> int:
    """Return the length of the common prefix of two sequences; slices are compared without a loop here."""
    same, most = 0, min(len(first), len(second))
    while same < most:
        middle = (same + most + 1) // 2
        if first[same:middle] == second[same:middle]:
            same = middle
        else:
            most = middle - 1
    return same
